package manifest_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSetImagesGenerated writes the same overlay in hundreds of ways: order of
// keys and entries, indentation, quotes, flow style, comments, blank lines,
// line ends. None of them may be refused, and no byte outside the entry's own
// lines may change.
func TestSetImagesGenerated(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWriter(seed)
			before := w.kustomization()
			edit, err := setWeb(shop(before))
			if err != nil {
				t.Fatalf("%v\n%s", err, before)
			}
			after := edit.Files[prodFile]
			checkByteStyle(t, prodFile, []byte(before), after)
			checkElsewhere(t, []byte(before), after)
			if images := byContainer(edit.After); images["c0"] != target || images["c1"] != byContainer(edit.Before)["c1"] {
				t.Errorf("rendered images %v", images)
			}
			for _, kept := range w.kept {
				if bytes.Count(after, []byte(kept)) != strings.Count(before, kept) {
					t.Errorf("%q is not as before", kept)
				}
			}
			if n := changedLines([]byte(before), after); n > 5 {
				t.Errorf("%d lines changed", n)
			}
			if t.Failed() {
				t.Logf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// writer makes random choices of style.
type writer struct {
	*rand.Rand
	eol    string
	indent int
	kept   []string // texts that must stay
}

func newWriter(seed uint64) *writer {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 1))}
	w.eol = w.pick("\n", "\n", "\r\n")
	w.indent = w.IntN(4)
	return w
}

func (w *writer) pick(choices ...string) string { return choices[w.IntN(len(choices))] }

func (w *writer) chance(percent int) bool { return w.IntN(100) < percent }

// comment is kept, wherever it stands.
func (w *writer) comment() string {
	if !w.chance(30) {
		return w.pick("", "", " ", "  ")
	}
	text := fmt.Sprintf("# c%d: {, ] \"'", len(w.kept))
	w.kept = append(w.kept, text)
	return w.pick(" ", "   ", "\t") + text
}

func (w *writer) scalar(value string) string {
	return w.pick(value, `"`+value+`"`, "'"+value+"'")
}

func (w *writer) kustomization() string {
	parts := []string{"resources:" + w.comment() + w.eol + "- ../../base" + w.comment()}
	if w.chance(50) {
		parts = append(parts, "namespace: "+w.scalar("shop")+w.comment())
	}
	if w.chance(30) {
		parts = append(parts, "commonAnnotations: {a: &a b, c: *a}"+w.comment())
	}
	if w.chance(30) {
		parts = append(parts, "patches:"+w.eol+"- target: {kind: Deployment}"+w.eol+"  patch: |-"+w.eol+
			"    - op: add"+w.eol+"      path: /metadata/labels"+w.eol+"      value: {images: x} # images:")
	}
	if w.chance(85) {
		parts = append(parts, w.images())
	}
	w.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	between := w.eol + w.pick("", "", w.eol, "# between"+w.eol, "   "+w.eol)
	return w.pick("", "", "\xef\xbb\xbf", "---"+w.eol, "# head"+w.eol+w.eol) +
		strings.Join(parts, between) + w.pick("", w.eol, w.eol+w.eol, w.eol+"# tail", w.eol+"...", w.eol+"  "+w.eol)
}

func (w *writer) images() string {
	entries := [][]string{w.entry("web", shopWeb)}
	if w.chance(20) {
		entries = nil
	}
	if w.chance(60) || entries == nil {
		entries = append(entries, w.entry("orders", "registry.example.com/shop/orders"))
	}
	if w.chance(40) {
		entries = append(entries, []string{"name: " + w.scalar("redis"), "newTag: " + w.scalar("v7")})
	}
	w.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	if w.chance(25) {
		return w.flowImages(entries)
	}
	margin := strings.Repeat(" ", w.indent)
	dash := margin + "-" + strings.Repeat(" ", 1+w.IntN(3))
	out := w.pick("images:", `"images":`, "images :") + w.comment()
	for _, fields := range entries {
		if w.chance(15) {
			out += w.eol + dash + "{" + strings.Join(fields, w.pick(", ", ","+w.eol+margin+"   ")) + w.pick("", ",") + "}" + w.comment()
			continue
		}
		for i, field := range fields {
			lead := strings.Repeat(" ", len(dash))
			if i == 0 {
				lead = dash
			} else if w.chance(15) {
				out += w.eol + lead + strings.TrimLeft(w.comment(), " \t")
			}
			out += w.eol + lead + field + w.comment()
		}
	}
	return out
}

func (w *writer) flowImages(entries [][]string) string {
	between := w.pick(", ", ","+w.eol+"   ")
	var texts []string
	for _, fields := range entries {
		texts = append(texts, "{"+w.pick("", " ")+strings.Join(fields, w.pick(", ", ",", between))+w.pick("", " ", ",")+"}")
	}
	return "images: [" + w.pick("", " ", w.eol+"  ") + strings.Join(texts, between) + w.pick("", " ", ",", w.eol+" ") + "]" + w.comment()
}

// entry gives the fields of an entry in any order.
func (w *writer) entry(name, repository string) []string {
	fields := []string{"name: " + w.scalar(name)}
	if w.chance(60) {
		fields = append(fields, "newName: "+w.scalar(w.pick(repository, repository, "staging.example.com:5000/"+name)))
	}
	switch w.IntN(5) {
	case 0:
		fields = append(fields, "newTag: "+w.scalar("v1.2"))
	case 1:
		fields = append(fields, "newTag: "+w.scalar("v1.2"), "digest: "+w.scalar(oldDigest))
	case 2:
		fields = append(fields, "tagSuffix: "+w.scalar("-alpine"))
	case 3:
		fields = append(fields, "digest: "+w.pick("&anchor ", "")+w.scalar(oldDigest))
	}
	w.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return fields
}
