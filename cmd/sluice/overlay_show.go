package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/manifest"
)

func newRenderCommand() *cobra.Command {
	var repo, output string
	var secrets bool
	cmd := &cobra.Command{
		Use:   "render DIR",
		Short: "Render an overlay, a chart or a folder of manifests",
		Long: `Render an overlay, a chart or a folder of manifests as YAML, offline. A folder of
Helm values is rendered with the application's chart, which is looked for beside it
unless the application's sluice.yaml says where it is.

Secrets and what looks like a credential are hidden unless --show-secrets is given.
Nothing outside the root is read. Exit status: 2 when the folder cannot be rendered.`,
		Args:          cobra.ExactArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "yaml" && output != "json" {
				return &exitError{Code: 2, Err: fmt.Errorf("--output %q must be yaml or json", output)}
			}
			rendered, err := renderFolder(repo, args[0])
			if err != nil {
				return refuseOverlay(cmd.ErrOrStderr(), err)
			}
			shown := rendered
			if !secrets {
				shown = manifest.Redact(rendered)
			}
			if output == "json" {
				return printIndentedJSON(cmd.OutOrStdout(), newRenderReport(rendered, shown))
			}
			_, err = cmd.OutOrStdout().Write(shown.YAML())
			return err
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "root of the config repository (default: the Git repository around DIR)")
	cmd.Flags().StringVarP(&output, "output", "o", "yaml", "yaml or json")
	cmd.Flags().BoolVar(&secrets, "show-secrets", false, "do not hide Secrets")
	return cmd
}

// renderReport is what `sluice overlay render -o json` prints. The hash is that
// of the rendering with nothing hidden.
type renderReport struct {
	Hash    string           `json:"hash"`
	Images  []manifest.Image `json:"images"`
	Objects []map[string]any `json:"objects"`
}

func newRenderReport(rendered, shown manifest.Rendered) renderReport {
	report := renderReport{
		Hash:    rendered.Hash(),
		Images:  append([]manifest.Image{}, rendered.Images()...),
		Objects: []map[string]any{},
	}
	for _, object := range shown.Objects {
		report.Objects = append(report.Objects, object.Content)
	}
	return report
}

func newOverlayDiffCommand() *cobra.Command {
	var repo, output string
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare what two folders render to, field by field",
		Long: `Compare what two folders render to, field by field. Credentials are hidden.

Exit status: 0 whether or not they differ, 2 when one cannot be rendered.`,
		Args:          cobra.ExactArgs(2),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			var sides [2]manifest.Rendered
			for i, dir := range args {
				var err error
				if sides[i], err = renderFolder(repo, dir); err != nil {
					return refuseOverlay(cmd.ErrOrStderr(), err)
				}
			}
			changes := append([]manifest.Change{}, manifest.Diff(sides[0], sides[1])...)
			if output == "json" {
				return printIndentedJSON(cmd.OutOrStdout(), changes)
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), manifest.Text(changes, 0))
			return err
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "root of the config repository (default: the Git repository around each folder)")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

// renderFolder renders dir inside repo, or inside the Git repository around it.
func renderFolder(repo, dir string) (manifest.Rendered, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return manifest.Rendered{}, err
	}
	if repo == "" {
		repo = repositoryAround(dir)
	}
	repo, err = filepath.Abs(repo)
	if err != nil {
		return manifest.Rendered{}, err
	}
	relative, err := filepath.Rel(repo, dir)
	if err != nil {
		return manifest.Rendered{}, err
	}
	root, err := os.OpenRoot(repo)
	if err != nil {
		return manifest.Rendered{}, &exitError{Code: 2, Err: fmt.Errorf("open the repository: %w", err)}
	}
	defer root.Close()
	return manifest.Render(root.FS(), filepath.ToSlash(relative))
}

// repositoryAround is the nearest folder above dir that holds .git, or dir.
func repositoryAround(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
