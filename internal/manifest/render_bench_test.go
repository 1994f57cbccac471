package manifest_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/test/peers/realkustomize"
)

// BenchmarkRenderBesideKustomize renders an overlay in turn from memory, from the disk, and by a kustomize process that reads
// the same disk, and compares the medians. All must give the same number of objects.
func BenchmarkRenderBesideKustomize(b *testing.B) {
	program, err := realkustomize.Program()
	if err != nil {
		b.Fatal(err)
	}
	memory, dir := shop(withBase+webEntry), b.TempDir()
	if err := os.CopyFS(dir, memory); err != nil {
		b.Fatal(err)
	}
	render := func(tree fs.FS) func() int {
		return func() int {
			rendered, err := manifest.Render(tree, prod)
			if err != nil {
				b.Fatal(err)
			}
			return len(rendered.Objects)
		}
	}
	var printed []byte
	process := func() int {
		if printed, err = exec.Command(program, "build", filepath.Join(dir, prod)).Output(); err != nil {
			b.Fatalf("kustomize build: %v", err)
		}
		return 1 // counted below, out of the time taken
	}
	const rounds = 51
	ways := []func() int{render(memory), render(os.DirFS(dir)), process}
	taken := make([][]float64, len(ways))
	for range rounds {
		for i, way := range ways {
			begin := time.Now()
			objects := way()
			taken[i] = append(taken[i], time.Since(begin).Seconds()*1000)
			if objects != 1 {
				b.Fatalf("way %d gives %d objects, want 1", i, objects)
			}
		}
	}
	if objects := documents(b, printed); objects != 1 {
		b.Fatalf("kustomize build gives %d objects, want 1", objects)
	}
	median := func(way int) float64 {
		slices.Sort(taken[way])
		return taken[way][rounds/2]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(0), "ms-from-memory")
	b.ReportMetric(median(1), "ms-from-disk")
	b.ReportMetric(median(2), "ms-kustomize-build")
	b.ReportMetric(median(2)/median(0), "x-from-memory")
	b.ReportMetric(median(2)/median(1), "x-from-disk")
}

// documents counts the objects of a stream.
func documents(b *testing.B, stream []byte) int {
	b.Helper()
	n := 0
	for _, document := range bytes.Split(stream, []byte("\n---\n")) {
		var object map[string]any
		if err := yaml.Unmarshal(document, &object); err != nil {
			b.Fatal(err)
		}
		if len(object) > 0 {
			n++
		}
	}
	return n
}

// BenchmarkRenderAll renders 3,000 overlays one after the other: the time, and the memory that stays.
func BenchmarkRenderAll(b *testing.B) {
	const overlays = 3000
	one := shop(withBase + webEntry)
	dir := b.TempDir()
	for n := range overlays / 3 {
		if err := os.CopyFS(filepath.Join(dir, fmt.Sprint("copy-", n)), one); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for n := range overlays {
			tree, err := fs.Sub(os.DirFS(dir), fmt.Sprint("copy-", n/3))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := manifest.Render(tree, prod); err != nil {
				b.Fatal(err)
			}
		}
	}
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/3000-overlays")
	b.ReportMetric(float64(memory.HeapAlloc)/1e6, "MB-heap-after")
	b.ReportMetric(float64(memory.Sys)/1e6, "MB-from-system")
}
