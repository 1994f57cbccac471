package policy_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

func tree(files ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		tree[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return tree
}

func TestCollect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tree fstest.MapFS
		want promotion.PolicyFiles
	}{
		"nothing": {tree(), promotion.PolicyFiles{}},
		"the common layout": {
			tree("sluice.yaml", "# ours\n", "apps/web/sluice.yaml", "version: 1\n", "apps/web/overlays/prod/sluice.yaml", "x",
				"apps/api/overlays/dev/x.yaml", "", "apps/.hidden/sluice.yaml", "x", "infra/dns/sluice.yaml", "x", "apps/sluice.yaml", "x"),
			promotion.PolicyFiles{"sluice.yaml": "# ours\n", "apps/web/sluice.yaml": "version: 1\n"},
		},
		"other roots": {
			tree("sluice.yaml", "roots: [clusters/eu, none]\n", "clusters/eu/web/sluice.yaml", "version: 1\n", "apps/web/sluice.yaml", "x"),
			promotion.PolicyFiles{"sluice.yaml": "roots: [clusters/eu, none]\n", "clusters/eu/web/sluice.yaml": "version: 1\n"},
		},
		"a root's file that cannot be read": {
			tree("sluice.yaml", "roots: [infra", "apps/web/sluice.yaml", "version: 1\n", "infra/web/sluice.yaml", "x"),
			promotion.PolicyFiles{"sluice.yaml": "roots: [infra", "apps/web/sluice.yaml": "version: 1\n"},
		},
		"roots beside other faults": {
			tree("sluice.yaml", "freeze: 1\nroots: [infra]\n", "infra/web/sluice.yaml", "x"),
			promotion.PolicyFiles{"sluice.yaml": "freeze: 1\nroots: [infra]\n", "infra/web/sluice.yaml": "x"},
		},
		"folders of one name that are no applications": {
			tree("sluice.yaml", "roots: [apps, infra]\n", "apps/common/a.yaml", "", "infra/common/a.yaml", ""),
			promotion.PolicyFiles{"sluice.yaml": "roots: [apps, infra]\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := policy.Reader{}.Collect(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCollectRefuses(t *testing.T) {
	t.Parallel()
	linked := tree("shared.yaml", "", "apps/web/overlays/prod/x.yaml", "")
	linked["sluice.yaml"] = &fstest.MapFile{Data: []byte("shared.yaml"), Mode: fs.ModeSymlink}
	linked["apps/web/sluice.yaml"] = &fstest.MapFile{Data: []byte("../../../etc/passwd"), Mode: fs.ModeSymlink}
	for name, c := range map[string]struct {
		tree fs.FS
		want []string
	}{
		"links":        {linked, []string{"sluice.yaml:0 not-a-file", "apps/web/sluice.yaml:0 not-a-file"}},
		"a folder":     {tree("sluice.yaml/x", ""), []string{"sluice.yaml:0 not-a-file"}},
		"another name": {tree("sluice.yml", "", "apps/web/sluice.yml", ""), []string{"sluice.yml:0 not-a-file", "apps/web/sluice.yml:0 not-a-file"}},
		"what Parse refuses, with it": {
			tree("sluice.yml", "", "apps/web/sluice.yaml", "version: 2\n"),
			[]string{"sluice.yml:0 not-a-file", "apps/web/sluice.yaml:1 unknown-version"},
		},
		"an application in two roots": {
			tree("sluice.yaml", "roots:\n- apps\n- infra\n", "apps/web/overlays/prod/x.yaml", "", "infra/web/sluice.yaml", ""),
			[]string{"sluice.yaml:3 same-application"},
		},
		"an application with a policy in two roots, once": {
			tree("sluice.yaml", "roots:\n- apps\n- infra\n", "apps/web/sluice.yaml", "", "infra/web/sluice.yaml", "", "apps/x/sluice.yml", ""),
			[]string{"apps/x/sluice.yml:0 not-a-file", "infra/web/sluice.yaml:0 same-application"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := policy.Reader{}.Collect(c.tree)
			if diff := cmp.Diff(c.want, places(err)); diff != "" || files != nil {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCollectLeavesHugeFilesToParse(t *testing.T) {
	t.Parallel()
	files, err := policy.Reader{}.Collect(tree("sluice.yaml", strings.Repeat("#", 3*policy.MaxSize)))
	if err != nil || len(files["sluice.yaml"]) > policy.MaxSize+1 {
		t.Fatalf("%d bytes, %v", len(files["sluice.yaml"]), err)
	}
	_, err = policy.Reader{}.Parse(files)
	if diff := cmp.Diff([]string{"sluice.yaml:0 too-large"}, places(err)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestCollectPassesOnWhatTheTreeFailsWith(t *testing.T) {
	t.Parallel()
	if _, err := (policy.Reader{}).Collect(brokenFS{}); err == nil || len(places(err)) > 0 {
		t.Errorf("got %v", err)
	}
}

type brokenFS struct{}

func (brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: os.ErrPermission}
}
