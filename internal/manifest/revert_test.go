package manifest_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/manifest"
)

// absent is what a file is called that is not there.
const absent = "\x00absent"

func fileTree(content string) fs.FS {
	if content == absent {
		return fstest.MapFS{}
	}
	return fstest.MapFS{"f.yaml": {Data: []byte(content)}}
}

func reverted(before, after, today string) (string, error) {
	r, err := manifest.Revert(fileTree(before), fileTree(after), fileTree(today), []string{"f.yaml"})
	if err != nil {
		return "", err
	}
	if len(r.Deletes) > 0 {
		return absent, nil
	}
	if data, written := r.Files["f.yaml"]; written {
		return string(data), nil
	}
	return today, nil
}

func TestRevert(t *testing.T) {
	t.Parallel()
	const before, after = "a\nb\nc\nd\ne\nf\ng\n", "a\nB\nc\nd\ne\nF\nX\ng\n"
	for name, test := range map[string]struct {
		before, after, today, want string
		conflict                   string // instead of what it would be
	}{
		"nothing since":              {before, after, after, before, ""},
		"undone by hand":             {before, after, before, before, ""},
		"half undone by hand":        {before, after, "a\nb\nc\nd\ne\nF\nX\ng\n", before, ""},
		"another line since":         {before, after, "a\nB\nc\nD\ne\nF\nX\ng\n", "a\nb\nc\nD\ne\nf\ng\n", ""},
		"lines added above":          {before, after, "1\n2\n" + after, "1\n2\n" + before, ""},
		"lines added below":          {before, after, after + "h\n", before + "h\n", ""},
		"lines taken away between":   {before, after, "a\nB\nc\ne\nF\nX\ng\n", "a\nb\nc\ne\nf\ng\n", ""},
		"the same line since":        {before, after, "a\nBB\nc\nd\ne\nF\nX\ng\n", "", "f.yaml:2: these lines were changed since"},
		"the line beside it":         {before, after, "a\nB\nC\nd\ne\nF\nX\ng\n", "", "f.yaml:3: these lines"},
		"a place further down":       {before, after, "0\na\nB\nc\nd\ne\nF\nY\ng\n", "", "f.yaml:8: these lines"},
		"two places":                 {before, after, "a\nBB\nc\nd\ne\nF\nY\ng\n", "", "f.yaml:2: these lines were changed since; f.yaml:7: these"},
		"no line feed at the end":    {"a\nb", "a\nc", "0\na\nc", "0\na\nb", ""},
		"line ends of Windows":       {"a\r\nb\r\nc\r\n", "a\r\nX\r\nc\r\n", "a\r\nX\r\nc\r\nd\r\n", "a\r\nb\r\nc\r\nd\r\n", ""},
		"an added file":              {absent, after, after, absent, ""},
		"an added file, gone since":  {absent, after, absent, absent, ""},
		"an added file, changed":     {absent, "a\nb\n", "a\nc\n", "", "f.yaml:2: the change added the file, and it was changed since"},
		"a deleted file":             {before, absent, absent, before, ""},
		"a deleted file, made anew":  {before, absent, "z\n", "", "f.yaml: the change deleted the file"},
		"a changed file, gone since": {before, after, absent, "", "f.yaml: it was deleted since"},
		"an emptied file":            {before, "", "", before, ""},
		"no text, as it was left":    {"\x00a", "\x00b", "\x00b", "\x00a", ""},
		"no text, changed since":     {"\x00a", "\x00b", "\x00c", "", "f.yaml: it is no text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := reverted(test.before, test.after, test.today)
			var conflicts manifest.Conflicts
			switch {
			case test.conflict == "" && err != nil:
				t.Fatal(err)
			case test.conflict != "" && (!errors.As(err, &conflicts) || !strings.HasPrefix(err.Error(), test.conflict)):
				t.Fatalf("got %q, %v; want the conflict %q", got, err, test.conflict)
			case got != test.want:
				t.Fatalf("got %q, want %q", got, test.want)
			}
		})
	}
}

// One file that cannot be undone leaves all as they are.
func TestRevertIsWhole(t *testing.T) {
	t.Parallel()
	tree := func(a, b string) fs.FS {
		return fstest.MapFS{"a": {Data: []byte(a)}, "b": {Data: []byte(b)}}
	}
	r, err := manifest.Revert(tree("1\n", "1\n"), tree("2\n", "2\n"), tree("2\n", "3\n"), []string{"a", "b"})
	if err == nil || len(r.Files) > 0 || err.Error() != "b:1: these lines were changed since" {
		t.Fatalf("got %v, %v", r, err)
	}
}

func TestRevertRefusesLinks(t *testing.T) {
	t.Parallel()
	link := fstest.MapFS{"f.yaml": {Data: []byte("elsewhere"), Mode: fs.ModeSymlink}}
	_, err := manifest.Revert(fileTree("a\n"), link, link, []string{"f.yaml"})
	var refusal *manifest.Refusal
	if !errors.As(err, &refusal) || refusal.Code != manifest.PathEscape {
		t.Fatalf("got %v", err)
	}
}

func TestRevertOfManyLines(t *testing.T) {
	t.Parallel()
	const n = 20_000
	before, after := strings.Repeat("a\nb\n", n), strings.Repeat("a\nc\n", n)
	if got, err := reverted(before, after, after+"more\n"); err == nil && got != before+"more\n" {
		t.Error("what was added is lost")
	}
	if got, err := reverted(before, after, after); err != nil || got != before {
		t.Error("what was not changed since cannot be undone", err)
	}
}

// FuzzRevert: nothing since gives what was before; and undoing in today what made before into after is the same as making today's
// change on what was before.
func FuzzRevert(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\nd\n")
	f.Add("", "a", "b")
	f.Add("a\na\na\n", "a\na\n", "a\na\na\na\n")
	f.Add("x\ny\nz", "x\nz", "y\nx\nz")
	f.Fuzz(revertHolds)
}

// TestRevertOfRandomFiles holds the same against files of few different lines, where much can be told in several ways.
func TestRevertOfRandomFiles(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	file := func() string {
		var text strings.Builder
		for range r.IntN(9) {
			text.WriteString(string(rune('a'+r.IntN(3))) + "\n")
		}
		return text.String()
	}
	for range 20_000 {
		revertHolds(t, file(), file(), file())
	}
}

func revertHolds(t *testing.T, before, after, today string) {
	if got, err := reverted(before, after, after); err != nil || got != before {
		t.Fatalf("nothing since: %q, %v", got, err)
	}
	if got, err := reverted(before, after, before); err != nil || got != before {
		t.Fatalf("undone already: %q, %v", got, err)
	}
	one, err := reverted(before, after, today)
	other, otherErr := reverted(today, after, before)
	if (err == nil) != (otherErr == nil) || one != other {
		t.Fatalf("of %q, %q, %q: %q, %v but the other way round %q, %v", before, after, today, one, err, other, otherErr)
	}
}
