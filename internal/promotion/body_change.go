package promotion

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxDiff  = 30_000 // bytes; keeps a body below every host's limit for one
	longDiff = 40     // lines; longer ones are folded
)

// artifactTable says of each image which digest it leaves and which it gets.
func (f *situation) artifactTable(b *strings.Builder) {
	before := f.proposed.Before
	if f.HeadSHA != "" {
		before = f.merged.Before
	}
	from := map[string]string{}
	for _, image := range before.Images {
		posted := f.policy.PostedAs(image.Reference)
		name := RepositoryOf(posted)
		old := "`" + version(posted) + "`"
		if from[name] != "" && from[name] != old {
			old = from[name] + ", " + old // containers that do not agree
		}
		from[name] = old
	}
	b.WriteString("\n| image | from | to |\n| --- | --- | --- |\n")
	for _, a := range f.Release.Artifacts {
		carried := ""
		if a.CarriedFrom != 0 {
			carried = " (carried forward)"
		}
		fmt.Fprintf(b, "| `%s`%s | %s | `%s` |\n", a.Repository, carried, from[a.Repository], version(a.Reference()))
	}
	f.chartTable(b, before)
}

// chartTable says the same of the charts that the overlay pins.
func (f *situation) chartTable(b *strings.Builder, before Rendering) {
	if len(f.Release.Charts) == 0 {
		return
	}
	b.WriteString("\n| chart | from | to |\n| --- | --- | --- |\n")
	for _, c := range f.Release.Charts {
		from, carried := "", ""
		if i := slices.IndexFunc(before.Charts, func(old Chart) bool { return old.Name == c.Name }); i >= 0 {
			from = "`" + before.Charts[i].Version + "`"
		}
		if c.CarriedFrom != 0 {
			carried = " (carried forward)"
		}
		fmt.Fprintf(b, "| `%s`%s | %s | `%s` |\n", c.Name, carried, from, c.Version)
	}
}

// version is a reference's digest, or the tag of one without.
func version(reference string) string {
	return strings.TrimLeft(strings.TrimPrefix(reference, RepositoryOf(reference)), ":@")
}

// writeDiff shows the fields that change, folded when they are many.
func (f *situation) writeDiff(b *strings.Builder) {
	diff := f.Diff
	if diff == "" {
		diff = f.proposed.Diff
	}
	lines := strings.Count(diff, "\n")
	if len(diff) > maxDiff {
		diff = diff[:strings.LastIndexByte(diff[:maxDiff], '\n')+1] + "… the rest is on the promotion's page\n"
	}
	b.WriteString("\n### What changes in the cluster\n\n")
	if lines > longDiff {
		fmt.Fprintf(b, "<details><summary>%d lines</summary>\n\n", lines)
	}
	fence := fenceFor(diff)
	fmt.Fprintf(b, "%sdiff\n%s%s\n\n", fence, diff, fence)
	if lines > longDiff {
		b.WriteString("</details>\n\n")
	}
}

// fenceFor is a fence of a Markdown code block that the text does not end.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
