package manifest_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/manifest"
)

func TestEdited(t *testing.T) {
	t.Parallel()
	before := fstest.MapFS{"a/x.yaml": {Data: []byte("old")}, "a/y.yaml": {Data: []byte("kept")},
		"a/link": {Data: []byte("x.yaml"), Mode: fs.ModeSymlink}}
	after := manifest.Edited(manifest.Edited(before, map[string][]byte{"a/x.yaml": []byte("first")}), map[string][]byte{"a/x.yaml": []byte("newer")})
	for name, want := range map[string]string{"a/x.yaml": "newer", "a/y.yaml": "kept"} {
		if data, err := fs.ReadFile(after, name); err != nil || string(data) != want {
			t.Errorf("%s is %q, %v, want %q", name, data, err, want)
		}
	}
	if data, err := fs.ReadFile(before, "a/x.yaml"); err != nil || string(data) != "old" {
		t.Errorf("what was edited says %q, %v", data, err)
	}
	info, err := fs.Lstat(after, "a/link")
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if to, err := fs.ReadLink(after, "a/link"); err != nil || to != "x.yaml" {
		t.Errorf("the link goes to %q, %v", to, err)
	}
	if entries, err := fs.ReadDir(after, "a"); err != nil || len(entries) != 3 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}
