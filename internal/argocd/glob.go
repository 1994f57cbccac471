package argocd

import (
	"fmt"
	"regexp"
	"strings"
)

// globs of a git file generator mean two things. By default they are Git's
// pathspecs, whose * also takes slashes; with the controller's
// --enable-new-git-file-globbing they are those of the Go package doublestar,
// whose * ends at a slash and whose ** takes any number of folders. See
// "Git File Generator Globbing" in Argo CD's operator manual.
type glob struct {
	byDefault, byNew *regexp.Regexp
	literal          string // the pathspec, if nothing in it is special
}

func newGlob(pattern string) (glob, error) {
	pattern = strings.TrimPrefix(pattern, "/")
	var g glob
	if !strings.ContainsAny(pattern, `*?[\`) {
		g.literal = strings.TrimSuffix(pattern, "/")
	}
	var err error
	if g.byDefault, err = compileGlob(pattern, globStyle{}); err != nil {
		return g, err
	}
	g.byNew, err = compileGlob(pattern, globStyle{folders: true, braces: true})
	return g, err
}

// globStyle says what a pattern may hold.
type globStyle struct {
	folders bool // * ends at a slash, and ** is any number of folders
	braces  bool // {a,b} is a or b
}

// matches tells for both meanings whether the pattern takes a path.
func (g glob) matches(name string) (byDefault, byNew bool) {
	byDefault = g.byDefault.MatchString(name) ||
		g.literal != "" && strings.HasPrefix(name, g.literal+"/") // a pathspec takes whole folders
	return byDefault, g.byNew.MatchString(name)
}

func compileGlob(pattern string, style globStyle) (*regexp.Regexp, error) {
	var out strings.Builder
	braces := 0
	for rest := pattern; rest != ""; {
		n := 1
		switch {
		case style.folders && strings.HasPrefix(rest, "**/") && startsPart(pattern, rest):
			out.WriteString("(?:.*/)?")
			n = 3
		case style.folders && rest == "**" && startsPart(pattern, rest):
			out.WriteString(".*")
			n = 2
		case rest[0] == '*' && style.folders:
			out.WriteString("[^/]*")
		case rest[0] == '*':
			out.WriteString(".*")
		case rest[0] == '?' && style.folders:
			out.WriteString("[^/]")
		case rest[0] == '?':
			out.WriteString(".")
		case rest[0] == '[':
			class, length := charClass(rest)
			if length == 0 {
				return nil, fmt.Errorf("the pattern %q has a [ without an end", pattern)
			}
			out.WriteString(class)
			n = length
		case rest[0] == '\\' && len(rest) > 1:
			out.WriteString(regexp.QuoteMeta(rest[1:2]))
			n = 2
		case style.braces && rest[0] == '{':
			out.WriteString("(?:")
			braces++
		case style.braces && rest[0] == '}' && braces > 0:
			out.WriteString(")")
			braces--
		case style.braces && rest[0] == ',' && braces > 0:
			out.WriteString("|")
		default:
			out.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		rest = rest[n:]
	}
	compiled, err := regexp.Compile("(?s)^(?:" + out.String() + ")$")
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is malformed", pattern)
	}
	return compiled, nil
}

// startsPart tells whether rest, the end of pattern, starts a part of the path.
func startsPart(pattern, rest string) bool {
	before := pattern[:len(pattern)-len(rest)]
	return before == "" || strings.HasSuffix(before, "/")
}

// charClass turns the class that rest starts with, such as [!a-z], into that of
// a regular expression; the length is 0 if it has no end.
func charClass(rest string) (class string, length int) {
	start := 1
	if len(rest) > 1 && (rest[1] == '!' || rest[1] == '^') {
		start = 2
	}
	end := strings.IndexByte(rest[min(start+1, len(rest)):], ']')
	if end < 0 {
		return "", 0
	}
	end += start + 1
	inner := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `&`, `\&`).Replace(rest[start:end])
	if start == 2 {
		inner = "^" + inner
	}
	return "[" + inner + "]", end + 1
}
