package lint_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// archive is a case in one file: a comment, then files that each start with a
// line `-- name --`. The file named want holds the expected findings.
type archive struct {
	comment string
	files   []archived
}

type archived struct{ name, content string }

var marker = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

func readArchive(t testing.TB, file string) archive {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	marks := marker.FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 {
		t.Fatalf("%s holds no files", file)
	}
	a := archive{comment: text[:marks[0][0]]}
	for i, mark := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		a.files = append(a.files, archived{text[mark[2]:mark[3]], text[mark[1]:end]})
	}
	return a
}

// want gives the expected findings; false when the case has none to say.
func (a archive) want() (string, bool) {
	last := a.files[len(a.files)-1]
	return last.content, last.name == "want"
}

// write stores the case with what it shall want.
func (a archive) write(t testing.TB, file, want string) {
	t.Helper()
	var text strings.Builder
	text.WriteString(a.comment)
	for _, f := range a.files {
		if f.name != "want" {
			fmt.Fprintf(&text, "-- %s --\n%s", f.name, f.content)
		}
	}
	fmt.Fprintf(&text, "-- want --\n%s", want)
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
