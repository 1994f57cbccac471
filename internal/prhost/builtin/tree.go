package builtin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// mergeTrees is the tree of merging head into main, file by file: a file takes
// the side that changed it, whole. Lines are not mixed and renames not guessed,
// so that a merge gives what was rendered and approved. ErrConflict names the
// files that both sides changed.
func (b bare) mergeTrees(ctx context.Context, main, head string) (tree string, err error) {
	base, err := b.mergeBase(ctx, main, head)
	if err != nil {
		return "", err
	}
	if base == "" {
		return "", fmt.Errorf("%s and %s have no commit in common: %w", main, head, promotion.ErrConflict)
	}
	dir, err := os.MkdirTemp(b.home, ".merge-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left has no use and harms nobody
	inIndex := func(args ...string) (string, error) {
		cmd := b.command(ctx, args...)
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
		return output(cmd, nil)
	}
	if _, err := inIndex("read-tree", "-i", "-m", "--aggressive", base, main, head); err != nil {
		return "", err
	}
	unmerged, err := inIndex("ls-files", "--unmerged", "-z")
	if err != nil {
		return "", err
	}
	if unmerged != "" {
		return "", fmt.Errorf("both sides changed %s: %w", strings.Join(unmergedPaths(unmerged), ", "), promotion.ErrConflict)
	}
	tree, err = inIndex("write-tree")
	if exitCode(err) != 0 {
		return "", fmt.Errorf("a file on one side is a folder on the other: %w (%w)", promotion.ErrConflict, err)
	}
	return tree, err
}

// mergeBase is the commit that two histories share, empty for none.
func (b bare) mergeBase(ctx context.Context, main, head string) (string, error) {
	base, err := b.run(ctx, "merge-base", main, head)
	if exitCode(err) == 1 {
		return "", nil
	}
	return base, err
}

// unmergedPaths are the paths in git ls-files' entries "mode sha stage\tpath".
func unmergedPaths(entries string) []string {
	var paths []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(entries, "\x00"), "\x00") {
		_, path, _ := strings.Cut(entry, "\t")
		paths = append(paths, path)
	}
	return slices.Compact(paths)
}
