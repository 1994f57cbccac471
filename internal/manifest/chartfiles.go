package manifest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"
)

const (
	maxChartFiles   = 5000
	maxChartArchive = 16 << 20 // bytes of one packed chart, unpacked
	maxChartDepth   = 10       // of charts in charts
)

func (t *tree) chartFiles(root, below string, rules *ignore.Rules, files *[]*loader.BufferedFile) error {
	names, err := t.list(path.Join(root, below))
	if err != nil {
		return err
	}
	for _, name := range names {
		name = path.Join(below, name)
		real, isDir, err := t.resolve(path.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a link to nothing, or a device
		}
		if err != nil {
			return err
		}
		info, err := fs.Stat(t.fsys, real)
		if err != nil {
			return fmt.Errorf("read %s: %w", real, err)
		}
		if rules.Ignore(name, info) {
			continue
		}
		if isDir {
			if strings.Count(name, "/") > maxLinks {
				return refuse(TooLarge, real, 0, "the chart's folders are nested too deeply")
			}
			if err := t.chartFiles(root, name, rules, files); err != nil {
				return err
			}
			continue
		}
		if len(*files) >= maxChartFiles {
			return refuse(TooLarge, root, 0, "the chart has more than %d files", maxChartFiles)
		}
		data, err := t.read(real)
		if err != nil {
			return err
		}
		if isPackedChart(name) {
			if err := checkArchive(real, data, 0); err != nil {
				return err
			}
		}
		*files = append(*files, &loader.BufferedFile{Name: name, Data: bytes.TrimPrefix(data, byteOrderMark)})
	}
	return nil
}

// checkArchive holds a packed chart to the limits before Helm unpacks it.
func checkArchive(file string, data []byte, depth int) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return refuse(RenderFailed, file, 0, "not a packed chart: %v", err)
	}
	limited := &io.LimitedReader{R: unzipped, N: maxChartArchive}
	archive := tar.NewReader(limited)
	for count := 0; ; count++ {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case limited.N == 0, count > maxChartFiles, depth > maxChartDepth:
			return refuse(TooLarge, file, 0, "the packed chart is too large: at most %d MiB, %d files, and charts in charts %d deep",
				maxChartArchive>>20, maxChartFiles, maxChartDepth)
		case err != nil:
			return refuse(RenderFailed, file, 0, "not a packed chart: %v", err)
		case header.Size > maxFileBytes:
			return refuse(TooLarge, file, 0, "%s in the packed chart is over 1 MiB", header.Name)
		}
		if !isPackedChart(header.Name) {
			continue
		}
		inner, err := io.ReadAll(archive)
		if err == nil {
			err = checkArchive(file, inner, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

func isPackedChart(name string) bool {
	return path.Ext(name) == ".tgz" && path.Base(path.Dir(name)) == "charts"
}
