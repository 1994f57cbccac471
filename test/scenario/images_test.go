package scenario_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/crane"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/sluicehq/sluice/internal/registry"
	"github.com/sluicehq/sluice/internal/registry/demoregistry"
)

// stored is the registry's storage, which all worlds share: an image is pushed once per process. Each world reaches it by an
// address of its own, which can be down.
var stored struct {
	http.Handler
	mu     sync.Mutex
	pushed map[string]string // digests by name, version and salt
}

func openImages(dir string) {
	handler, err := demoregistry.Open(dir)
	if err != nil {
		panic(err)
	}
	stored.Handler, stored.pushed = handler, map[string]string{}
}

// images is a world's registry.
type images struct {
	host   string
	client *registry.Client
	down   atomic.Bool
	other  atomic.Pointer[http.HandlerFunc] // that answers in its place; nil while it works
}

// answers has something else answer where the registry was.
func (i *images) answers(h http.HandlerFunc) { i.other.Store(&h) }

func newImages(t testing.TB) *images {
	i := &images{client: registry.New(registry.Options{UserAgent: "sluice/test"})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.down.Load() {
			http.Error(w, "the registry's storage is being moved", http.StatusServiceUnavailable)
			return
		}
		if other := i.other.Load(); other != nil {
			(*other)(w, r)
			return
		}
		stored.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	i.host = strings.TrimPrefix(server.URL, "http://")
	return i
}

const platform = "linux/amd64"

// push pushes shop/name in a version, if nobody has, and returns the index's digest. Another salt is another image.
func (i *images) push(t testing.TB, name, version, salt string) string {
	t.Helper()
	key := name + " " + version + " " + salt
	stored.mu.Lock()
	defer stored.mu.Unlock()
	if digest, known := stored.pushed[key]; known {
		return digest
	}
	digest, err := demoregistry.PushImage(t.Context(), i.host, "shop/"+name, version, []string{platform, "linux/arm64"}, demoregistry.WithSalt(salt))
	if err != nil {
		t.Fatal(err)
	}
	stored.pushed[key] = digest
	return digest
}

// remove deletes a manifest from the registry; push brings it back.
func (i *images) remove(t testing.TB, name, version, salt string) {
	t.Helper()
	i.deletes(t, "shop/"+name+"/manifests/"+i.push(t, name, version, salt))
	stored.mu.Lock()
	delete(stored.pushed, name+" "+version+" "+salt)
	stored.mu.Unlock()
}

// removeLayer deletes one layer of the image for one platform, for good, and returns its digest.
func (i *images) removeLayer(t testing.TB, name, version, salt string) string {
	t.Helper()
	reference := i.repository(name) + "@" + i.push(t, name, version, salt)
	image, err := crane.Pull(reference, crane.Insecure, crane.WithPlatform(&v1.Platform{OS: "linux", Architecture: "amd64"}))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := image.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	layer := manifest.Layers[0].Digest.String()
	i.deletes(t, "shop/"+name+"/blobs/"+layer)
	return layer
}

func (i *images) deletes(t testing.TB, what string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+i.host+"/v2/"+what, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusAccepted {
		t.Fatalf("the registry answers %s when %s is deleted", answer.Status, what)
	}
}

// copy mirrors an image to another repository, as registries do among themselves.
func (i *images) copy(t testing.TB, name, digest, to string) {
	t.Helper()
	if err := crane.Copy(i.repository(name)+"@"+digest, to+"@"+digest, crane.Insecure); err != nil {
		t.Fatal(err)
	}
}

// repository is where the image of that name is kept.
func (i *images) repository(name string) string { return i.host + "/shop/" + name }

// platformDigest is what a node of one platform says it runs of an index.
func (w *world) platformDigest(repository, digest string) string {
	w.Helper()
	facts, err := w.images.client.Image(w.Context(), repository+"@"+digest)
	w.must(err)
	for _, m := range facts.Manifests {
		if m.Platform == platform {
			return m.Digest
		}
	}
	w.Fatalf("%s@%s has no manifest for %s", repository, digest, platform)
	return ""
}
