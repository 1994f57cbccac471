//go:build peers

package webhook_test

import (
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/webhook"
	"github.com/sluicehq/sluice/test/peers/realgitea"
)

// What a real Gitea signs and sends is taken, and says where to look.
func TestOnRealGitea(t *testing.T) {
	t.Parallel()
	s := realgitea.Start(t)
	r := s.NewRepository(t)
	got := &receiver{}
	door := httptest.NewServer(newDoor(t, got))
	t.Cleanup(door.Close)
	r.Hook(t, door.URL+"/webhooks/github", newSecret)
	received := func(what string, is func(webhook.Event) bool) {
		t.Helper()
		realgitea.Eventually(t, what, func() bool {
			got.mu.Lock()
			defer got.mu.Unlock()
			return slices.ContainsFunc(got.events, func(e webhook.Event) bool {
				return e.Repository == r.Owner+"/"+r.Name && e.Delivery != "" && is(e)
			})
		})
	}

	prhosttest.NewClone(t, r.Remote).Push("promote", "promote.txt", "content\n")
	received("the push is told", func(e webhook.Event) bool {
		return slices.Equal(e.Refs, []string{"refs/heads/promote"}) && e.PullRequest == 0
	})
	number := r.Buttons().Open(t, "promote")
	received("the pull request is told", func(e webhook.Event) bool { return e.PullRequest == number })
	r.Buttons().Merge(t, number, "merge")
	received("the merge is told", func(e webhook.Event) bool {
		return e.PullRequest == number && slices.Contains(e.Refs, "refs/heads/main")
	})
}
