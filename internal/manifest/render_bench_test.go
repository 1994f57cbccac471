package manifest_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/test/peers/realkustomize"
)

// renderProd renders the prod overlay of a shop.
func renderProd(b *testing.B, tree fs.FS) manifest.Rendered {
	b.Helper()
	rendered, err := manifest.Render(tree, prod)
	if err != nil {
		b.Fatal(err)
	}
	return rendered
}

// BenchmarkRenderBesideKustomize renders an overlay in turn from memory, from the disk, and by a kustomize process that reads
// the same disk, and compares the medians. All must give the same objects each time.
func BenchmarkRenderBesideKustomize(b *testing.B) {
	program, err := realkustomize.Program()
	if err != nil {
		b.Fatal(err)
	}
	memory, dir := shop(withBase+webEntry), b.TempDir()
	if err := os.CopyFS(dir, memory); err != nil {
		b.Fatal(err)
	}
	var got manifest.Rendered
	var printed []byte
	disk := os.DirFS(dir)
	ways := []func(){
		func() { got = renderProd(b, memory) },
		func() { got = renderProd(b, disk) },
		func() {
			if printed, err = exec.Command(program, "build", filepath.Join(dir, prod)).Output(); err != nil {
				b.Fatalf("kustomize build: %v", err)
			}
		},
	}
	const rounds, kustomize = 51, 2
	want := renderProd(b, memory).Hash()
	taken := make([][]float64, len(ways))
	for range rounds {
		for i, way := range ways {
			begin := time.Now()
			way()
			taken[i] = append(taken[i], time.Since(begin).Seconds()*1000)
			if i == kustomize {
				got = objects(b, string(printed))
			}
			if got.Hash() != want {
				b.Fatalf("way %d gives other objects: %v", i, got.Objects)
			}
		}
	}
	for _, ms := range taken {
		slices.Sort(ms)
	}
	median := func(way int) float64 { return taken[way][rounds/2] }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(0), "ms-from-memory")
	b.ReportMetric(median(1), "ms-from-disk")
	b.ReportMetric(median(kustomize), "ms-kustomize-build")
	b.ReportMetric(median(kustomize)/median(0), "x-from-memory")
	b.ReportMetric(median(kustomize)/median(1), "x-from-disk")
}

// BenchmarkRenderAll renders 3,000 overlays one after the other: the time, and the memory that stays.
func BenchmarkRenderAll(b *testing.B) {
	const overlays = 3000
	trees := make([]fs.FS, overlays)
	for n := range trees {
		trees[n] = writeTree(b, shop(withBase+webEntry))
	}
	for b.Loop() {
		for _, tree := range trees {
			renderProd(b, tree)
		}
	}
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), fmt.Sprintf("s/%d-overlays", overlays))
	b.ReportMetric(float64(memory.HeapAlloc)/1e6, "MB-heap-after")
	b.ReportMetric(float64(memory.Sys)/1e6, "MB-from-system")
}
