package lint

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// Change is one commit and what it changed.
type Change struct {
	Commit Commit
	Before fs.FS    // the tree of its first parent; nil for the first commit
	After  fs.FS    // its own
	Files  []string // that differ between the two
}

// findSecrets finds the leaks of the tree and, when there is a history to look
// at, the commits that brought them in, with those that are gone again.
func (r *repository) findSecrets(ctx context.Context) error {
	scanner := newLeakScanner(r.files.text)
	present := map[fingerprint]bool{}
	for _, name := range r.files.names {
		for _, l := range scanner.scan(name) {
			r.leaks = append(r.leaks, l)
			for _, value := range l.values {
				present[value] = true
			}
		}
	}
	if r.input.History == nil {
		return nil
	}
	first := map[fingerprint]*Commit{}
	for change, err := range r.input.History {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		for _, l := range added(change, first) {
			if l = l.keep(func(value fingerprint) bool { return !present[value] }); len(l.values) > 0 {
				l.gone = true
				r.leaks = append(r.leaks, l)
			}
		}
	}
	for i, l := range r.leaks {
		for _, value := range l.values {
			if at := first[value]; at != nil && r.leaks[i].commit == nil {
				r.leaks[i].commit = at
			}
		}
	}
	return nil
}

// added finds the leaks of a commit with the values that no commit before had,
// and notes these in first.
func added(change Change, first map[fingerprint]*Commit) []leak {
	after := newLeakScanner(readerOf(change.After))
	before := newLeakScanner(readerOf(change.Before))
	known := map[fingerprint]bool{}
	names := suspects(change.Files, after)
	for _, name := range names {
		for _, l := range before.scan(name) {
			for _, value := range l.values {
				known[value] = true
			}
		}
	}
	var found []leak
	for _, name := range names {
		for _, l := range after.scan(name) {
			l = l.keep(func(value fingerprint) bool { return !known[value] && first[value] == nil })
			l.commit = &change.Commit
			for _, value := range l.values {
				first[value] = l.commit
			}
			if len(l.values) > 0 {
				found = append(found, l)
			}
		}
	}
	return found
}

// suspects are the changed files and those that a changed kustomization makes
// Secrets of.
func suspects(changed []string, after *leakScanner) []string {
	names := slices.Clone(changed)
	for _, name := range changed {
		if isKustomization(name) {
			for source := range after.sourcesIn(path.Dir(name)) {
				names = append(names, source)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
