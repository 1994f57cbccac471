package gitrepo_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// The repository of the benchmarks: three files for each application, and a
// history of single edits.
const (
	applications = 3000
	edits        = 200
	manyEdits    = 5200
)

func overlay(application int) string {
	return fmt.Sprintf("apps/app-%04d/overlays/prod/kustomization.yaml", application)
}

func overlayContent(application, version int) string {
	return fmt.Sprintf("resources: [../../base]\nimages:\n- name: app-%04d\n  newName: registry.example.com/app-%04d\n  digest: sha256:%064x\n",
		application, application, application*1000+version)
}

// newLarge is a remote with applications×3 files and some history, made with git fast-import.
func newLarge(t testing.TB, applications, history int) *remote {
	t.Helper()
	r := newRemote(t, nil)
	var in bytes.Buffer
	data := func(content string) { fmt.Fprintf(&in, "data %d\n%s\n", len(content), content) }
	commit := func(n int) {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter Ada <ada@example.com> %d +0000\n", 1700000000+n*60)
		data(fmt.Sprintf("change %d", n))
	}
	commit(0)
	for a := range applications {
		fmt.Fprintf(&in, "M 100644 inline apps/app-%04d/base/deployment.yaml\n", a)
		data(fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-%04d\nspec:\n  replicas: %d\n", a, a%7))
		fmt.Fprintf(&in, "M 100644 inline apps/app-%04d/base/kustomization.yaml\n", a)
		data("resources: [deployment.yaml]\n")
		fmt.Fprintf(&in, "M 100644 inline %s\n", overlay(a))
		data(overlayContent(a, 0))
	}
	for n := 1; n <= history; n++ {
		commit(n)
		fmt.Fprintf(&in, "M 100644 inline %s\n", overlay(n%applications))
		data(overlayContent(n%applications, n))
	}
	r.importAll(&in)
	r.run(r.bare, "repack", "-adq")
	return r
}

// others is somebody else's commit on main, without a clone.
func (r *remote) others() (number int) {
	r.t.Helper()
	r.commits++
	content := overlayContent(0, 10_000+r.commits)
	r.importAll(strings.NewReader(fmt.Sprintf("commit refs/heads/main\ncommitter Ada <ada@example.com> %d +0000\ndata 6\nothers\nfrom refs/heads/main^0\nM 100644 inline %s\ndata %d\n%s\n",
		1800000000+r.commits, overlay(0), len(content), content)))
	return r.commits
}

// importAll runs git fast-import.
func (r *remote) importAll(in io.Reader) {
	r.t.Helper()
	cmd := r.command(r.bare, "fast-import", "--quiet")
	cmd.Stdin = in
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git fast-import: %v\n%s", err, out)
	}
}
