package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/manifest"
)

// newOverlayCommand edits, renders and compares overlays: offline, in a plain
// folder, so that users can run the same step in their own CI.
func newOverlayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "overlay",
		Short: "Edit, render and compare Kustomize overlays and Helm values",
	}
	cmd.AddCommand(newSetImageCommand(), newSetValueCommand(), newRenderCommand(), newOverlayDiffCommand())
	return cmd
}

// editFlags are what set-image and set-value share.
type editFlags struct {
	repo, output string
	overlays     []string
	write        bool
}

func (f *editFlags) add(cmd *cobra.Command) {
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.Flags().StringVar(&f.repo, "repo", ".", "root of the config repository; nothing outside is read or written")
	cmd.Flags().StringArrayVar(&f.overlays, "overlay", nil, "overlay folder, relative to the root; give the flag once for each of several, which are edited all or none")
	cmd.Flags().BoolVar(&f.write, "write", false, "change the files; without it, only show what would change")
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
	require(cmd, "overlay")
}

func require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined by the caller
		}
	}
}

func newSetImageCommand() *cobra.Command {
	var flags editFlags
	var version string
	cmd := &cobra.Command{
		Use:   "set-image --overlay PATH NAME=REPOSITORY@sha256:DIGEST...",
		Short: "Make an overlay run exactly these digests",
		Long: `Make an overlay run exactly these digests, by the smallest edit of its source.

NAME is the image as it reaches the overlay's own images: what the manifests say,
or what a base or component renamed it to. Of a Helm chart it is what the chart
renders; its place in the overlay's values is found by rendering, or said under
helm.images in the application's sluice.yaml. The overlay is rendered before and
after; nothing but these images may differ. Of several overlays, none is written
when one is refused.

Exit status: 0 when done or nothing to do, 2 when the edit is refused; the reason
is one line of JSON on standard error: {"code":…,"message":…,"file":…,"line":…}.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes, err := parseImageChanges(args)
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			return flags.edit(cmd, version, func(tree fs.FS, overlay string) (manifest.Edit, error) {
				return manifest.SetImages(tree, overlay, changes)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&version, "version", "", "version for people, shown next to the images")
	return cmd
}

func parseImageChanges(args []string) ([]manifest.ImageChange, error) {
	changes := make([]manifest.ImageChange, len(args))
	for i, arg := range args {
		name, target, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not of the form NAME=REPOSITORY@sha256:DIGEST", arg)
		}
		changes[i] = manifest.ImageChange{Name: name, Target: target}
	}
	return changes, nil
}

func newSetValueCommand() *cobra.Command {
	var flags editFlags
	var chart, values, pointer string
	cmd := &cobra.Command{
		Use:   "set-value --overlay PATH --chart CHART --values FILE --path POINTER VALUE",
		Short: "Set one value of a Helm values file",
		Long: `Set one value of a Helm values file to a string, and nothing else in it.

POINTER is a JSON pointer (RFC 6901) to a place that exists, such as /image/digest.
The chart is rendered offline with the values file before and after.

Exit status: as of set-image.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.edit(cmd, "", func(tree fs.FS, overlay string) (manifest.Edit, error) {
				return manifest.SetValue(tree, overlay, filepath.ToSlash(chart), filepath.ToSlash(values), pointer, args[0])
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&chart, "chart", "", "chart folder, relative to the root")
	cmd.Flags().StringVar(&values, "values", "", "values file in the overlay folder")
	cmd.Flags().StringVar(&pointer, "path", "", "JSON pointer to the value")
	require(cmd, "chart", "values", "path")
	return cmd
}

// edit runs one edit in every overlay and prints what it does; with --write it does it.
func (f *editFlags) edit(cmd *cobra.Command, version string, run func(tree fs.FS, overlay string) (manifest.Edit, error)) error {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	overlays := make([]string, len(f.overlays))
	for i, overlay := range f.overlays {
		overlays[i] = filepath.ToSlash(overlay)
		if slices.Contains(overlays[:i], overlays[i]) {
			return &exitError{Code: 2, Err: fmt.Errorf("--overlay %s is given twice", overlay)}
		}
	}
	root, err := os.OpenRoot(f.repo)
	if err != nil {
		return &exitError{Code: 2, Err: fmt.Errorf("open the repository: %w", err)}
	}
	defer root.Close()
	edits, err := manifest.Several(root.FS(), overlays, run)
	if err != nil {
		return refuseOverlay(cmd.ErrOrStderr(), err)
	}
	reports, files := make([]editReport, len(edits)), map[string][]byte{}
	for i, edit := range edits {
		if reports[i], err = newEditReport(root, edit); err != nil {
			return err
		}
		reports[i].Overlay, reports[i].Version, reports[i].Written = f.overlays[i], version, f.write && !edit.NoOp
		maps.Copy(files, edit.Files)
	}
	if f.write {
		if err := writeFiles(root, files); err != nil {
			return err
		}
	}
	return printEdits(cmd.OutOrStdout(), f.output, reports)
}

// refuseOverlay prints a refusal as one line of JSON.
func refuseOverlay(out io.Writer, err error) error {
	var refusal *manifest.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	if err := json.NewEncoder(out).Encode(refusal); err != nil {
		return fmt.Errorf("print the refusal: %w", err)
	}
	return &exitError{Code: 2}
}

// writeFiles replaces files inside the root, each at once and with its mode.
func writeFiles(root *os.Root, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		info, err := root.Stat(name)
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		temporary := name + ".sluice"
		if err := root.WriteFile(temporary, files[name], info.Mode().Perm()); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if err := root.Rename(temporary, name); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", name, err), root.Remove(temporary))
		}
	}
	return nil
}
