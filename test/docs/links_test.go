// Package docs_test holds the documentation against the repository: what a page links to is there.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

const root = "../.."

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
)

// pages are all Markdown files that people read, by their path from the root.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".md"):
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 5 {
		t.Fatalf("only %d pages were found: %q", len(found), found)
	}
	return found
}

// prose is a page without its blocks of code.
func prose(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return fence.ReplaceAllString(string(text), "")
}

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

func hasAnchor(text, wanted string) bool {
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		if anchor(h[1]) == wanted {
			return true
		}
	}
	return false
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	links := 0
	for _, page := range pages(t) {
		text := prose(t, page)
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target, fragment, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue // of others nothing is known here
			}
			links++
			there := page
			if target != "" {
				there = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(there); err != nil {
				t.Errorf("%s links to %s, which is not there", page, match[1])
				continue
			}
			if fragment != "" && !hasAnchor(prose(t, there), fragment) {
				t.Errorf("%s links to %s, where no heading is called so", page, match[1])
			}
		}
	}
	if links == 0 {
		t.Error("no page links to anything in the repository: the pattern of links is wrong")
	}
}

// TestEveryPageIsReached keeps pages from being written and then never found.
func TestEveryPageIsReached(t *testing.T) {
	t.Parallel()
	linked := map[string]bool{filepath.Join(root, "README.md"): true}
	for _, page := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(prose(t, page), -1) {
			target, _, _ := strings.Cut(match[1], "#")
			linked[filepath.Join(filepath.Dir(page), target)] = true
		}
	}
	for _, page := range pages(t) {
		if filepath.Dir(page) == filepath.Join(root, "docs") && !linked[page] {
			t.Errorf("no page links to %s", page)
		}
	}
}
