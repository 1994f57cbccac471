package manifest_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// changedLines counts changed, added and removed lines by their longest common
// subsequence; a line's ending belongs to it.
func changedLines(before, after []byte) int {
	a, b := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(after, []byte("\n"))
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[0], b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if bytes.Equal(a[i], b[j]) {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	return max(len(a), len(b)) - common[0][0]
}

func checkByteStyle(t *testing.T, name string, before, after []byte) {
	t.Helper()
	mark := []byte("\xef\xbb\xbf")
	if bytes.HasPrefix(before, mark) != bytes.HasPrefix(after, mark) {
		t.Errorf("%s: byte order mark changed", name)
	}
	if bytes.HasSuffix(before, []byte("\n")) != bytes.HasSuffix(after, []byte("\n")) {
		t.Errorf("%s: final newline changed", name)
	}
	crlf, lf := bytes.Count(before, []byte("\r\n")), bytes.Count(before, []byte("\n"))
	if crlf == 0 && bytes.Count(after, []byte("\r")) > bytes.Count(before, []byte("\r")) {
		t.Errorf("%s: carriage returns brought in", name)
	}
	if lf > 0 && crlf == lf && bytes.Count(after, []byte("\r\n")) != bytes.Count(after, []byte("\n")) {
		t.Errorf("%s: bare line feeds in a CRLF file", name)
	}
}

// pointer writes a path as RFC 6901 does.
func pointer(path []any) string {
	var out strings.Builder
	for _, step := range path {
		escaped := strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(step), "~", "~0"), "/", "~1")
		out.WriteString("/" + escaped)
	}
	return out.String()
}
