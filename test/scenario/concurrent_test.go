package scenario_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// answer is what one of many posts at once was told.
type answer struct {
	out     promotion.BuildOutcome
	created bool
	err     error
}

// postAtOnce posts all requests at the same moment.
func (w *world) postAtOnce(requests []promotion.BuildRequest) []answer {
	w.Helper()
	answers := make([]answer, len(requests))
	atOnce(len(requests), func(i int) {
		answers[i].out, answers[i].created, answers[i].err = w.service.RecordBuild(w.Context(), ci, requests[i])
	})
	return answers
}

// atOnce runs fn n times at the same moment, and waits.
func atOnce(n int, fn func(i int)) {
	start := make(chan struct{})
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	running.Wait()
}

func created(answers []answer) (n int) {
	for _, a := range answers {
		if a.created {
			n++
		}
	}
	return n
}

func TestIdenticalPostsAtOnceAreOneBuild(t *testing.T) {
	w := newWorld(t)
	for _, key := range []string{"", "run-2"} {
		r := w.request("1.1.0"+key, "web")
		r.IdempotencyKey = key
		requests := make([]promotion.BuildRequest, 20)
		for i := range requests {
			requests[i] = r
		}
		answers := w.postAtOnce(requests)
		for _, a := range answers {
			w.must(a.err)
			same(w, "outcome", ids(a.out), ids(answers[0].out))
		}
		same(w, "builds created", created(answers), 1)
	}
	same(w, "builds", w.count("SELECT count(*) FROM builds"), 2)
	same(w, "releases of builds", w.count("SELECT count(*) FROM releases WHERE origin = 'build'"), 2)
}

func TestOneKeyForDifferentPostsAtOnceIsOneBuild(t *testing.T) {
	w := newWorld(t)
	requests := make([]promotion.BuildRequest, 8)
	for i := range requests {
		requests[i] = w.request(fmt.Sprintf("3.0.%d", i), "web")
		requests[i].IdempotencyKey = "run-3"
	}
	answers := w.postAtOnce(requests)
	for _, a := range answers {
		if !a.created {
			w.refused(a.err, "idempotency-key-reused")
		}
	}
	same(w, "builds created", created(answers), 1)
	same(w, "builds", w.count("SELECT count(*) FROM builds"), 1)
}

func TestDifferentPostsAtOnceLoseNothing(t *testing.T) {
	w := newWorld(t)
	requests := make([]promotion.BuildRequest, 50)
	for i := range requests {
		switch version := fmt.Sprintf("4.%d.0", i); i % 5 {
		case 0:
			requests[i] = w.request(version, "order-service", "order-worker")
		case 1:
			requests[i] = w.request(version, "checkout")
		case 2:
			requests[i] = w.request(version, "web", "checkout")
		default:
			requests[i] = w.request(version, "web")
		}
	}
	answers := w.postAtOnce(requests)
	for i, a := range answers {
		w.must(a.err)
		want := 1
		if i%5 == 2 {
			want = 2
		}
		same(w, fmt.Sprintf("releases of post %d", i), len(a.out.Releases), want)
	}
	same(w, "builds created", created(answers), 50)
	same(w, "builds", w.count("SELECT count(*) FROM builds"), 50)
	same(w, "releases of builds", w.count("SELECT count(*) FROM releases WHERE origin = 'build'"), 60)
	same(w, "applications whose numbers have gaps",
		w.count("SELECT count(*) FROM (SELECT 1 FROM releases GROUP BY application_id HAVING max(number) <> count(*)) x"), 0)
	same(w, "targets with several open promotions", w.count(`SELECT count(*) FROM (SELECT 1 FROM promotions
		WHERE decision = 'requested' AND pull_request <> 'merged' GROUP BY target_id HAVING count(*) > 1) x`), 0)
	same(w, "promotions of releases to dev", w.count("SELECT count(*) FROM promotions"), 50)

	w.settle()
	for _, application := range []string{"web", "checkout"} {
		id := w.newest(application, "dev")
		w.is(id, promotion.StateMerged)
		newest, err := w.service.Store.Releases(w.Context(), application, 0, 1)
		w.must(err)
		same(w, "release that dev of "+application+" gets", w.promotion(id).Release.ID, newest[0].ID)
	}
	same(w, "pull requests", w.count("SELECT count(*) FROM prhost.pull_requests"), 2)
}

func TestAGroupPostedAtOnceIsExactlyOneRelease(t *testing.T) {
	w := newWorld(t)
	names := []string{"order-service", "order-worker"}
	for i := range 5 {
		version := fmt.Sprintf("6.%d.0", i)
		var requests []promotion.BuildRequest
		for _, name := range names {
			r := w.request(version, name)
			r.Group, r.GroupExpects = "run-"+version, names
			requests = append(requests, r, r)
		}
		for _, a := range w.postAtOnce(requests) {
			w.must(a.err)
		}
		same(w, "releases of "+version, w.count("SELECT count(*) FROM releases WHERE version = $1", version), 1)
		same(w, "images carried forward", w.count(`SELECT count(*) FROM release_artifacts x JOIN releases r ON r.id = x.release_id
			WHERE r.version = $1 AND x.carried_from IS NOT NULL`, version), 0)
	}
}

func TestRequestsAtOnceAreOnePromotion(t *testing.T) {
	w := newProdWorld(t)
	r := w.released("1.1.0", "web")
	started := make([]int64, 10)
	atOnce(len(started), func(i int) {
		p, err := w.asks(r, "prod")
		if err != nil {
			t.Error(err)
		}
		started[i] = p.ID
	})
	for _, id := range started {
		same(w, "promotion", id, started[0])
	}
	w.settle()
	w.approves(ada, started[0])
	w.merges(rita, started[0])
}

func TestServersThatAdvanceAtOnceDoEachStepOnce(t *testing.T) {
	w := newWorld(t)
	id := w.posts(w.request("1.1.0", "web")).Promotions[0].ID
	for w.promotion(id).PullRequest != promotion.PullRequestMerged {
		atOnce(4, func(int) {
			if _, _, err := w.service.Advance(w.Context(), id); err != nil {
				t.Error(err)
			}
		})
		if t.Failed() {
			return
		}
	}
	w.settle()
	same(w, "pull requests", w.count("SELECT count(*) FROM prhost.pull_requests"), 1)
	same(w, "merges", w.clone().Git("rev-list", "--count", "--merges", "origin/main"), "1")
	same(w, "what was recorded", strings.Join(w.audited(id), " "), "promotion.requested promotion.proposed promotion.opened promotion.merged")
}
