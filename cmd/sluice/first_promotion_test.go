package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/test/demotest"
)

// TestFirstPromotion takes a digest from CI's post to prod by curl alone.
func TestFirstPromotion(t *testing.T) {
	t.Parallel()
	d := demotest.New(t, os.Args[0])
	d.Run(t)
	out, err := exec.Command("../../test/acceptance/first_promotion.sh", os.Args[0], d.URL, d.Data).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// TestManyPostsAtOnce: no build is lost, no release is doubled, and no target has two open promotions.
func TestManyPostsAtOnce(t *testing.T) {
	t.Parallel()
	const posts = 200
	d := demotest.New(t, os.Args[0])
	d.Run(t)
	repository, digest := d.Image(t, "web", "1.1.0")
	same := demotest.Build("web", "1.1.0", repository, digest)
	answers := postAll(t, d, func(int) string { return same }, posts)
	created := 0
	for i, a := range answers {
		if a.status == http.StatusCreated {
			created++
		} else if a.status != http.StatusOK {
			t.Fatalf("post %d: %d %v", i, a.status, a.body)
		}
		if a.body["id"] != answers[0].body["id"] || first(a.body["releases"]) != first(answers[0].body["releases"]) ||
			first(a.body["promotions"]) != first(answers[0].body["promotions"]) {
			t.Errorf("post %d was answered with %v, another one with %v", i, a.body, answers[0].body)
		}
	}
	if created != 1 {
		t.Errorf("%d of the identical posts made a build", created)
	}

	different := func(i int) string {
		return demotest.Build("web", fmt.Sprintf("1.2.%d", i), repository, fmt.Sprintf("sha256:%064x", i+1))
	}
	releases := map[any]bool{}
	for i, a := range postAll(t, d, different, posts) {
		if a.status != http.StatusCreated {
			t.Errorf("post %d: %d %v", i, a.status, a.body)
			continue
		}
		releases[first(a.body["releases"])] = true
	}
	if len(releases) != posts {
		t.Errorf("%d posts made %d releases", posts, len(releases))
	}
	numbers := map[float64]bool{}
	for path := "/api/v1/releases?application=web&limit=100"; path != ""; {
		_, page := d.Ask(t, "viewer", http.MethodGet, path, "")
		items, _ := page["items"].([]any)
		for _, r := range items {
			numbers[r.(map[string]any)["number"].(float64)] = true
		}
		path = ""
		if cursor, _ := page["next_cursor"].(string); cursor != "" {
			path = "/api/v1/releases?application=web&limit=100&cursor=" + cursor
		}
	}
	for n := 1; n <= posts+2; n++ { // the imported one and 1.1.0 came first
		if !numbers[float64(n)] {
			t.Errorf("there is no release %d", n)
		}
	}
	open := 0
	for _, state := range []string{"requested", "open"} {
		_, list := d.Ask(t, "viewer", http.MethodGet, "/api/v1/promotions?application=web&environment=dev&limit=100&state="+state, "")
		items, _ := list["items"].([]any)
		open += len(items)
	}
	if open != 1 { // of images that were never pushed: the newest waits for its image
		t.Errorf("%d promotions to dev are open, want 1", open)
	}
}

type answer struct {
	status int
	body   map[string]any
}

func postAll(t *testing.T, d *demotest.Demo, body func(int) string, n int) []answer {
	t.Helper()
	token := d.Token(t, "ci")
	answers := make([]answer, n)
	var group sync.WaitGroup
	for i := range answers {
		group.Go(func() {
			status, decoded, err := d.Try(token, http.MethodPost, "/api/v1/builds", body(i))
			if err != nil {
				t.Errorf("post %d: %v", i, err)
			}
			answers[i] = answer{status, decoded}
		})
	}
	group.Wait()
	return answers
}
