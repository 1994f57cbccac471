package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Conflict is a place of today's files in which a change cannot be undone: something else was changed there since.
type Conflict struct {
	File string
	Line int // of today's file, from 1; 0 for the whole file
	What string
}

func (c Conflict) String() string {
	if c.Line == 0 {
		return c.File + ": " + c.What
	}
	return fmt.Sprintf("%s:%d: %s", c.File, c.Line, c.What)
}

// Conflicts are why a change is not undone. All of them are listed, by file and line.
type Conflicts []Conflict

func (c Conflicts) Error() string {
	texts := make([]string, len(c))
	for i, one := range c {
		texts[i] = one.String()
	}
	return strings.Join(texts, "; ")
}

// Revert undoes in today's files exactly what a change has made of those before into those after, line by line. Files are the paths
// that the change touched. Lines that were changed since are left alone; where they touch those of the change nothing is
// guessed, and the whole is refused with Conflicts. What is undone already stays as it is.
func Revert(before, after, today fs.FS, files []string) (Restored, error) {
	out := Restored{Files: map[string][]byte{}}
	var conflicts Conflicts
	for _, name := range slices.Compact(slices.Sorted(slices.Values(files))) {
		var three [3]*[]byte
		for i, fsys := range []fs.FS{before, after, today} {
			data, err := fileOf(fsys, name)
			if err != nil {
				return Restored{}, err
			}
			three[i] = data
		}
		data, conflict := revertFile(three[0], three[1], three[2])
		switch {
		case len(conflict) > 0:
			for _, c := range conflict {
				c.File = name
				conflicts = append(conflicts, c)
			}
		case same(data, three[2]):
		case data == nil:
			out.Deletes = append(out.Deletes, name)
		default:
			out.Files[name] = *data
			if holdsSecret(name, *data) {
				out.Revived = append(out.Revived, name)
			}
		}
	}
	if len(conflicts) > 0 {
		return Restored{}, conflicts
	}
	return out, nil
}

// fileOf reads a file, nil when there is none.
func fileOf(fsys fs.FS, name string) (*[]byte, error) {
	info, err := fs.Lstat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, refuse(PathEscape, name, 0, "a symbolic link was changed: undo that by hand")
	}
	data, err := wholeFile(fsys, name, fs.FileInfoToDirEntry(info))
	if data == nil {
		data = []byte{}
	}
	return &data, err
}

func same(a, b *[]byte) bool {
	return (a == nil) == (b == nil) && (a == nil || bytes.Equal(*a, *b))
}

// revertFile is today's file without the change; nil when there is none then.
func revertFile(before, after, today *[]byte) (*[]byte, []Conflict) {
	switch {
	case same(today, after):
		return before, nil
	case same(today, before), same(before, after):
		return today, nil
	case today == nil:
		return nil, []Conflict{{What: "it was deleted since"}}
	case before == nil:
		return nil, []Conflict{{Line: firstDifference(after, today), What: "the change added the file, and it was changed since"}}
	case after == nil:
		return nil, []Conflict{{What: "the change deleted the file, and it was made anew since"}}
	case bytes.IndexByte(*today, 0) >= 0 || bytes.IndexByte(*before, 0) >= 0 || bytes.IndexByte(*after, 0) >= 0:
		return nil, []Conflict{{What: "it is no text, and was changed since"}}
	}
	return revertLines(linesOf(*before), linesOf(*after), linesOf(*today))
}

func firstDifference(old, new *[]byte) int {
	if old == nil {
		return 0
	}
	if hunks := hunksBetween(linesOf(*old), linesOf(*new)); len(hunks) > 0 {
		return hunks[0].from + 1
	}
	return 0
}

// revertLines undoes the change where today has its lines as it left them. Lines that were changed since, and lie in it or beside
// it without one unchanged line between, are conflicts: nobody can tell what they would be without the change.
func revertLines(before, after, today [][]byte) (*[]byte, []Conflict) {
	undo, since := hunksBetween(after, before), hunksBetween(after, today)
	var conflicts []Conflict
	out := []byte{}
	at, shift, next := 0, 0, 0 // in today; of today against after; of since
	for _, u := range undo {
		for ; next < len(since) && since[next].to < u.from; next++ {
			shift += len(since[next].lines) - (since[next].to - since[next].from)
		}
		if next < len(since) && since[next].from <= u.to {
			if !since[next].same(u) { // or somebody has undone it by hand
				conflicts = append(conflicts, Conflict{Line: since[next].from + shift + 1, What: "these lines were changed since"})
			}
			continue
		}
		out = append(out, bytes.Join(today[at:u.from+shift], nil)...)
		out = append(out, bytes.Join(u.lines, nil)...)
		at = u.to + shift
	}
	if len(conflicts) > 0 {
		return nil, conflicts
	}
	out = append(out, bytes.Join(today[at:], nil)...)
	return &out, nil
}
