package builtin

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
)

// diffSize is how many bytes of a pull request's diff a page gets.
const diffSize = 1 << 20

// emptyTree is the tree without entries, which every repository has.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Diff is what a pull request changes since it left main.
type Diff struct {
	Files []FileDiff
	Cut   bool // there is more, too much for a page
}

// FileDiff is one changed file.
type FileDiff struct {
	Path string
	Text string // unified, with git's header lines
}

// diff compares a head with where it left main.
func (b bare) diff(ctx context.Context, main, head string) (Diff, error) {
	base, err := b.mergeBase(ctx, main, head)
	if err != nil {
		return Diff{}, err
	}
	if base == "" {
		base = emptyTree // a history of its own: everything is new
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := limited{stop: stop}
	cmd := b.command(ctx, "diff-tree", "-r", "--patch", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", base, head)
	cmd.Stdout = &out
	if err := run(cmd); err != nil && !out.cut {
		return Diff{}, err
	}
	return Diff{Files: splitFiles(out.kept.String()), Cut: out.cut}, nil
}

// limited keeps the first diffSize bytes and stops whoever writes more.
type limited struct {
	kept bytes.Buffer // not embedded: its ReadFrom would take everything
	stop func()
	cut  bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := diffSize - l.kept.Len()
	if len(p) <= room {
		return l.kept.Write(p)
	}
	l.kept.Write(p[:room])
	l.cut = true
	l.stop()
	return room, errors.New("longer than a page")
}

const fileHeader = "diff --git "

// splitFiles cuts a patch into its files. No line of content begins as a
// file's header does: content lines begin with a space, +, - or \.
func splitFiles(patch string) []FileDiff {
	var files []FileDiff
	for patch != "" {
		end := len(patch)
		if next := strings.Index(patch, "\n"+fileHeader); next >= 0 {
			end = next + 1
		}
		header, _, _ := strings.Cut(strings.TrimPrefix(patch, fileHeader), "\n")
		files = append(files, FileDiff{Path: headerPath(header), Text: strings.ToValidUTF8(patch[:end], "\uFFFD")})
		patch = patch[end:]
	}
	return files
}

// headerPath is the path in "a/path b/path", whose halves are equally long
// since no rename is looked for. A path with odd characters is quoted like a string.
func headerPath(header string) string {
	half := header[:len(header)/2]
	if unquoted, err := strconv.Unquote(half); err == nil {
		half = unquoted
	}
	return strings.TrimPrefix(half, "a/")
}
