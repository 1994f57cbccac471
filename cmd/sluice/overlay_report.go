package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sluicehq/sluice/internal/manifest"
)

// editReport is what `sluice overlay set-image -o json` prints.
type editReport struct {
	Overlay      string            `json:"overlay"`
	Version      string            `json:"version,omitempty"`
	NoOp         bool              `json:"no_op"`
	Written      bool              `json:"written"`
	ChangedFiles []string          `json:"changed_files"`
	SourceDiff   string            `json:"source_diff"`
	Changes      []manifest.Change `json:"rendered_changes"`
	ImagesBefore []manifest.Image  `json:"images_before"`
	ImagesAfter  []manifest.Image  `json:"images_after"`
	HashBefore   string            `json:"hash_before"`
	HashAfter    string            `json:"hash_after"`
}

func newEditReport(root *os.Root, edit manifest.Edit) (editReport, error) {
	report := editReport{
		NoOp: edit.NoOp,
		// Empty lists are printed as lists.
		ChangedFiles: append([]string{}, slices.Sorted(maps.Keys(edit.Files))...),
		Changes:      append([]manifest.Change{}, manifest.Diff(edit.Before, edit.After)...),
		ImagesBefore: append([]manifest.Image{}, edit.Before.Images()...),
		ImagesAfter:  append([]manifest.Image{}, edit.After.Images()...),
		HashBefore:   edit.Before.Hash(),
		HashAfter:    edit.After.Hash(),
	}
	for _, name := range report.ChangedFiles {
		old, err := root.ReadFile(name)
		if err != nil {
			return editReport{}, fmt.Errorf("compare %s: %w", name, err)
		}
		report.SourceDiff += string(diff.Diff("a/"+name, old, "b/"+name, edit.Files[name]))
	}
	return report, nil
}

// editReports is what is printed of several overlays.
type editReports struct {
	NoOp     bool         `json:"no_op"` // in all of them
	Written  bool         `json:"written"`
	Overlays []editReport `json:"overlays"`
}

// printEdits prints the report of one overlay as such, and those of several together.
func printEdits(out io.Writer, form string, reports []editReport) error {
	if form == "json" {
		if len(reports) == 1 {
			return printIndentedJSON(out, reports[0])
		}
		all := editReports{NoOp: true, Overlays: reports}
		for _, r := range reports {
			all.NoOp, all.Written = all.NoOp && r.NoOp, all.Written || r.Written
		}
		return printIndentedJSON(out, all)
	}
	for i, r := range reports {
		l := newLines(out)
		if i > 0 {
			l.printf("\n")
		}
		if len(reports) > 1 {
			l.printf("== %s\n", r.Overlay)
		}
		if l.err != nil {
			return l.err
		}
		if err := r.print(out); err != nil {
			return err
		}
	}
	return nil
}

func (r editReport) print(out io.Writer) error {
	l := newLines(out)
	if r.NoOp {
		l.printf("Nothing to do: the overlay says so already.\n")
	} else {
		l.printf("%s\nRendered changes:\n%s", r.SourceDiff, manifest.Text(r.Changes, 0))
	}
	l.printf("\nImages before:\n")
	l.images(r.ImagesBefore)
	l.printf("Images after:\n")
	l.images(r.ImagesAfter)
	if !r.NoOp && !r.Written {
		l.printf("\nNothing was written; add --write to do so.\n")
	}
	return l.err
}

func (l *lines) images(images []manifest.Image) {
	if len(images) == 0 {
		l.printf("  none\n")
	}
	for _, image := range images {
		l.printf("  %s %s  %s\n", image.Object, image.Path, image.Reference)
	}
}
