package manifest

import (
	"fmt"
	"strings"
)

// Text writes changes for people, as in the body of a pull request:
//
//	~ Deployment.apps shop/web
//	    spec.template.spec.containers[web].image
//	      - registry.example.com/web@sha256:…
//	      + registry.example.com/web@sha256:…
//	- PersistentVolumeClaim shop/data (holds data)
//
// It ends after about limit lines and says how many changes are left; a limit
// of 0 means all.
func Text(changes []Change, limit int) string {
	var out strings.Builder
	lines := 0
	var last ID
	for i, change := range changes {
		if limit > 0 && lines >= limit {
			fmt.Fprintf(&out, "… and %d more changes\n", len(changes)-i)
			break
		}
		entry := change.text(i == 0 || change.Object != last)
		last = change.Object
		lines += strings.Count(entry, "\n")
		out.WriteString(entry)
	}
	return out.String()
}

func (c Change) text(heading bool) string {
	switch c.Action {
	case Added:
		return fmt.Sprintf("+ %s\n", c.Object)
	case Removed:
		if c.Stateful {
			return fmt.Sprintf("- %s (holds data)\n", c.Object)
		}
		return fmt.Sprintf("- %s\n", c.Object)
	}
	var out strings.Builder
	if heading {
		fmt.Fprintf(&out, "~ %s\n", c.Object)
	}
	fmt.Fprintf(&out, "    %s\n", c.Path)
	old, new := differing(c.Old, c.New)
	for _, line := range old {
		fmt.Fprintf(&out, "      - %s\n", line)
	}
	for _, line := range new {
		fmt.Fprintf(&out, "      + %s\n", line)
	}
	return out.String()
}

// maxLine is how many bytes of a line are shown.
const maxLine = 200

// differing drops the lines that both texts start and end with. An empty text
// has no lines.
func differing(old, new string) ([]string, []string) {
	left, right := textLines(old), textLines(new)
	for len(left) > 0 && len(right) > 0 && left[0] == right[0] {
		left, right = left[1:], right[1:]
	}
	for len(left) > 0 && len(right) > 0 && left[len(left)-1] == right[len(right)-1] {
		left, right = left[:len(left)-1], right[:len(right)-1]
	}
	return shorten(left), shorten(right)
}

func textLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func shorten(lines []string) []string {
	for i, line := range lines {
		if len(line) > maxLine {
			lines[i] = strings.ToValidUTF8(line[:maxLine], "") + "…"
		}
	}
	return lines
}
