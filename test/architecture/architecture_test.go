// Package architecture_test holds the code against the rule that dependencies point inwards.
package architecture_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sluicehq/sluice/"

// pure packages decide; they know no adapter, no door and no driver.
var pure = []string{"internal/promotion", "internal/window", "internal/rollback", "internal/migration", "internal/manifest", "internal/health",
	"internal/policy", "internal/argocd", "internal/lint", "internal/audit", "internal/drift"}

// may lists what each package of ours may import of ours, besides the packages below it. Whatever is not
// listed may import the domain alone; only cmd/sluice knows them all.
var may = map[string][]string{
	"internal/promotion":             {"internal/rollback"},
	"internal/window":                nil,
	"internal/rollback":              nil,
	"internal/migration":             {"internal/promotion"},
	"internal/manifest":              nil,
	"internal/health":                {"internal/promotion"},
	"internal/drift":                 nil,
	"internal/gittree":               nil,
	"internal/config":                nil,
	"internal/overlays":              {"internal/promotion", "internal/manifest"},
	"internal/policy":                {"internal/promotion", "internal/manifest", "internal/window"},
	"internal/argocd":                {"internal/promotion", "internal/manifest", "internal/window"},
	"internal/lint":                  {"internal/promotion", "internal/manifest", "internal/argocd"},
	"internal/client":                {"api"},
	"internal/demo":                  {"internal/promotion", "internal/simulation"},
	"internal/cluster":               {"internal/promotion", "internal/health", "internal/drift", "internal/manifest", "internal/rollback"},
	"internal/simulation":            {"internal/promotion", "internal/health", "internal/window"},
	"internal/gitrepo":               {"internal/promotion", "internal/gittree"},
	"internal/prhost/builtin":        {"internal/promotion", "internal/gittree"},
	"internal/postgres":              {"internal/promotion", "internal/auth", "internal/audit", "internal/telemetry", "internal/rollback"},
	"internal/web":                   {"internal/promotion", "internal/auth", "internal/rollback", "templates"},
	"internal/httpapi":               {"internal/promotion", "internal/auth", "internal/rollback", "api"},
	"internal/postgres/postgrestest": {"internal/postgres/embedded"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

func TestDependenciesPointInwards(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "cmd/sluice" || strings.HasPrefix(name, "test/") {
			continue
		}
		allowed, listed := may[name]
		if !listed {
			allowed = []string{"internal/promotion"}
		}
		for _, imported := range p.Imports {
			ours, found := strings.CutPrefix(imported, module)
			if !found || strings.HasPrefix(ours, name+"/") || slices.Contains(allowed, ours) {
				continue
			}
			t.Errorf("%s imports %s: dependencies point inwards", name, ours)
		}
	}
}

// TestTheDomainImportsTheStandardLibraryOnly, and the pure verdict on rollbacks, which has to do the same.
func TestTheDomainImportsTheStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range packages(t) {
		if p.ImportPath != module+"internal/promotion" && p.ImportPath != module+"internal/rollback" {
			continue
		}
		for _, imported := range p.Imports {
			if imported != module+"internal/rollback" && strings.Contains(strings.Split(imported, "/")[0], ".") {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
		found++
	}
	if found != 2 {
		t.Fatalf("%d of 2 packages were listed", found)
	}
}

func TestPurePackagesTouchNoOutside(t *testing.T) {
	t.Parallel()
	outside := []string{"net/http", "database/sql", "os/exec", "github.com/jackc/pgx/v5", "k8s.io/client-go/dynamic", "github.com/go-git/go-git/v5"}
	for _, p := range packages(t) {
		if !slices.Contains(pure, strings.TrimPrefix(p.ImportPath, module)) {
			continue
		}
		for _, imported := range p.Imports {
			if slices.Contains(outside, imported) {
				t.Errorf("%s imports %s: pure packages decide over facts that others gather", p.ImportPath, imported)
			}
		}
	}
}
