package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/window"
)

// newWindowsCommand previews sync windows: offline, from a file alone.
func newWindowsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "windows",
		Short: "Check sync windows and see when they are open",
	}
	cmd.AddCommand(newWindowsPreviewCommand())
	return cmd
}

func newWindowsPreviewCommand() *cobra.Command {
	var file, from, to, output string
	cmd := &cobra.Command{
		Use:   "preview --file FILE --from TIME --to TIME",
		Short: "List when changes may go out, and when each window is active",
		Long: `List when changes may go out, and when each window is active.

FILE is {"windows": [...]} as YAML or JSON, the same list as in sluice.yaml. Times
are RFC 3339, such as 2026-03-28T22:00:00Z. Intervals include their start and not
their end, and are clipped to the range asked for.

Exit status: 0 when the file is valid, 2 when it or an argument is not.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			start, end, err := parseRange(from, to)
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return &exitError{Code: 2, Err: fmt.Errorf("read the windows file: %w", err)}
			}
			windows, err := window.Parse(data)
			if err != nil {
				return refuseWindows(cmd.OutOrStdout(), output, file, err)
			}
			preview := previewWindows(windows, start, end)
			if output == "json" {
				return printIndentedJSON(cmd.OutOrStdout(), preview)
			}
			return preview.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "windows file, YAML or JSON")
	cmd.Flags().StringVar(&from, "from", "", "start of the range, RFC 3339")
	cmd.Flags().StringVar(&to, "to", "", "end of the range, RFC 3339")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	for _, required := range []string{"file", "from", "to"} {
		if err := cmd.MarkFlagRequired(required); err != nil {
			panic(err) // the flag is defined just above
		}
	}
	return cmd
}

func parseRange(from, to string) (start, end time.Time, err error) {
	if start, err = time.Parse(time.RFC3339, from); err != nil {
		return start, end, fmt.Errorf("--from %q is no RFC 3339 time such as 2026-03-28T22:00:00Z", from)
	}
	if end, err = time.Parse(time.RFC3339, to); err != nil {
		return start, end, fmt.Errorf("--to %q is no RFC 3339 time such as 2026-03-28T22:00:00Z", to)
	}
	if !start.Before(end) {
		return start, end, fmt.Errorf("--to %s must be after --from %s", to, from)
	}
	return start, end, nil
}

// refuseWindows reports every fault of the file, in the format asked for.
func refuseWindows(out io.Writer, output, file string, err error) error {
	var faults window.Errors
	if output == "json" && errors.As(err, &faults) {
		if err := printIndentedJSON(out, map[string]any{"errors": faults}); err != nil {
			return err
		}
		return &exitError{Code: 2}
	}
	return &exitError{Code: 2, Err: fmt.Errorf("%s is not valid:\n%w", file, err)}
}

// windowsPreview is what `sluice windows preview -o json` prints.
type windowsPreview struct {
	Open    []window.Interval `json:"open"`
	Windows []windowPreview   `json:"windows"`
}

type windowPreview struct {
	Name        string            `json:"name"`
	Occurrences []window.Interval `json:"occurrences"`
}

func previewWindows(windows []window.Window, from, to time.Time) windowsPreview {
	// Empty lists are printed as lists.
	p := windowsPreview{Open: append([]window.Interval{}, window.Intervals(windows, from, to)...), Windows: []windowPreview{}}
	for _, w := range windows {
		p.Windows = append(p.Windows, windowPreview{w.Name, append([]window.Interval{}, window.Occurrences(w, from, to)...)})
	}
	return p
}

func (p windowsPreview) print(out io.Writer) error {
	lines := newLines(out)
	lines.printf("Open:\n")
	lines.intervals(p.Open)
	for _, w := range p.Windows {
		lines.printf("Window %s is active:\n", w.Name)
		lines.intervals(w.Occurrences)
	}
	return lines.err
}

// lines writes text and keeps the first error.
type lines struct {
	out io.Writer
	err error
}

func newLines(out io.Writer) *lines { return &lines{out: out} }

func (l *lines) printf(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.out, format, args...)
	}
}

func (l *lines) intervals(intervals []window.Interval) {
	if len(intervals) == 0 {
		l.printf("  never in this range\n")
	}
	for _, i := range intervals {
		l.printf("  %s  to  %s\n", i.From.Format(time.RFC3339), i.To.Format(time.RFC3339))
	}
}

func checkOutput(output string) error {
	if output != "text" && output != "json" {
		return &exitError{Code: 2, Err: fmt.Errorf("--output %q must be text or json", output)}
	}
	return nil
}

func printIndentedJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
