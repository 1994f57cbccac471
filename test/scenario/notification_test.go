package scenario_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/notification"
	"github.com/sluicehq/sluice/internal/promotion"
)

const hookSecret = "hook-secret-4711"

// receiver is what notifications are posted to: it keeps what came, whatever it answers.
type receiver struct {
	url     string
	mu      sync.Mutex
	answers []int // statuses of the next answers; 204 when there is none
	got     []told
}

// told is one POST.
type told struct {
	Delivery, Kind, Message, Text, Application, Environment, URL string
}

func (w *world) newReceiver() *receiver {
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		var m told
		content, err := io.ReadAll(in.Body)
		if err != nil || json.Unmarshal(content, &m) != nil {
			w.Errorf("a POST of %q: %v", content, err)
		}
		if in.Header.Get(notification.HeaderSignature) != notification.Signature(hookSecret, content) || in.Header.Get(notification.HeaderDelivery) != m.Delivery {
			w.Errorf("the headers do not belong to the body: %v", in.Header)
		}
		r.got = append(r.got, m)
		status := http.StatusNoContent
		if len(r.answers) > 0 {
			status, r.answers = r.answers[0], r.answers[1:]
		}
		out.WriteHeader(status)
	}))
	w.Cleanup(server.Close)
	r.url = server.URL + "/" + hookSecret
	return r
}

// tells gives the world a destination for these kinds.
func (w *world) tells(name string, r *receiver, kinds ...promotion.NotificationKind) {
	w.service.Destinations = append(w.service.Destinations, promotion.Destination{Name: name, Kinds: kinds, Messenger: notification.New(notification.Options{
		URL: func() (string, error) { return r.url, nil }, Secret: func() (string, error) { return hookSecret, nil }})})
}

// deliver is what the queue does with the work: what fails is done again later.
func (w *world) deliver(id string) {
	w.Helper()
	if err := w.service.Deliver(w.Context(), id); err != nil {
		w.Logf("delivery %s: %v", id, err)
	}
}

// told are the kinds of what arrived, in order.
func (r *receiver) kinds() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var kinds []string
	for _, m := range r.got {
		kinds = append(kinds, m.Kind)
	}
	return strings.Join(kinds, " ")
}

func (w *world) failing() []promotion.Delivery {
	w.Helper()
	all, err := w.service.Store.Deliveries(w.Context(), true, 10)
	w.must(err)
	return all
}

func TestAViolationIsToldOnceToWhomItConcerns(t *testing.T) {
	w := newWorld(t)
	all, chat, others := w.newReceiver(), w.newReceiver(), w.newReceiver()
	w.tells("all", all)
	w.tells("chat", chat, promotion.NotifyViolation)
	w.tells("others", others, promotion.NotifyPolicy, promotion.NotifyDrift)
	w.edits(overlay("web", "prod"), "count: 4", "count: 40")
	w.look()
	for range 3 {
		w.clock.pass(time.Minute)
		w.look()
		w.settle()
	}
	same(w, "told to all", all.kinds(), "violation")
	same(w, "told to the chat", chat.kinds(), "violation")
	same(w, "told to the others", others.kinds(), "")
	m := chat.got[0]
	w.contains("the message", m.Message, "prod")
	w.contains("the text", m.Text, "[violation]", publicURL+"/violations")
	same(w, "application", m.Application, "web")
	if m.Delivery == all.got[0].Delivery {
		t.Error("two destinations got the same delivery")
	}
}

func TestADeliveryThatFailsIsMadeAgainUnderItsID(t *testing.T) {
	w := newProdWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat, promotion.NotifyOverride)
	chat.answers = []int{http.StatusInternalServerError, http.StatusFound}
	w.breaksGlass()
	w.settle()

	failed := w.failing()
	same(w, "failed", len(failed), 1)
	same(w, "destination", failed[0].Destination, "chat")
	same(w, "problem", failed[0].Problem, "it answered 500 Internal Server Error")
	w.deliver(failed[0].ID)
	same(w, "problem of the second", w.failing()[0].Problem, "it answered 302 Found")
	same(w, "attempts", w.failing()[0].Attempts, 2)
	w.deliver(failed[0].ID)
	same(w, "failed after all", len(w.failing()), 0)
	w.deliver(failed[0].ID) // the queue may run work twice
	same(w, "POSTs", len(chat.got), 3)
	for _, m := range chat.got {
		same(w, "delivery", m.Delivery, failed[0].ID)
	}
	w.storesNoSecret()
}

// storesNoSecret looks through all that is stored of notifications for the address and the secret, which is in it.
func (w *world) storesNoSecret() {
	w.Helper()
	for _, row := range w.texts("SELECT n::text FROM notifications n UNION ALL SELECT d::text FROM notification_deliveries d") {
		if strings.Contains(row, hookSecret) {
			w.Errorf("stored: %s", row)
		}
	}
}

func TestAReceiverThatIsGoneIsSaidWithoutItsAddress(t *testing.T) {
	w := newProdWorld(t)
	w.tells("chat", &receiver{url: "http://127.0.0.1:1/" + hookSecret})
	w.breaksGlass()
	w.settle()
	same(w, "failed", len(w.failing()), 1)
	w.contains("the problem", w.failing()[0].Problem, "cannot be reached")
	w.storesNoSecret()
}

func TestAServerThatDiesBetweenCommitAndDelivery(t *testing.T) {
	w := newProdWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat, promotion.NotifyOverride)
	w.breaksGlass() // and dies: what was committed waits in the queue
	same(w, "told before", chat.kinds(), "")
	w.restarts()
	w.settle()
	same(w, "told", chat.kinds(), "override")
}

func TestAServerThatDiesBetweenDeliveryAndItsRecord(t *testing.T) {
	w := newProdWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat, promotion.NotifyOverride)
	w.breaksGlass()
	work := w.takeWork()
	id := work[slices.IndexFunc(work, func(one promotion.Work) bool { return one.Kind == promotion.WorkDeliver })].Delivery
	w.service.Checkpoint = func(boundary string) {
		if boundary == "deliver:done" {
			panic(boundary)
		}
	}
	func() {
		defer func() { same(w, "died at", recover(), any("deliver:done")) }()
		w.deliver(id)
	}()
	w.restarts()
	w.deliver(id)
	same(w, "told", chat.kinds(), "override override")
	same(w, "second id", chat.got[1].Delivery, chat.got[0].Delivery)
	same(w, "failed", len(w.failing()), 0)
}

// A delivery that was given up arrives when somebody tries again, and not twice.
func TestANotificationIsTriedAgain(t *testing.T) {
	w := newProdWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat)
	chat.answers = []int{500, 500, 200}
	w.breaksGlass()
	w.settle()
	id := w.failing()[0].ID
	try := func(by promotion.Actor) error { return w.service.TryAgain(w.Context(), by, id) }
	w.refused(try(ada), "forbidden")
	w.refused(try(rita), "undelivered")
	entries, err := w.store().Notifications(w.Context(), promotion.NotificationFilter{Undelivered: true, Application: "web", Environment: "prod", Kind: promotion.NotifyOverride, Limit: 9})
	w.must(err)
	same(w, "undelivered", len(entries), 1)
	same(w, "attempts", entries[0].Deliveries[0].Attempts, 2)
	w.contains("the problem", entries[0].Deliveries[0].Problem, "500")
	w.must(try(rita))
	same(w, "told", chat.kinds(), "override override override")
	w.refused(try(rita), "delivered")
	w.refused(w.service.TryAgain(w.Context(), rita, "none"), "unknown-delivery")
	entries, err = w.store().Notifications(w.Context(), promotion.NotificationFilter{Undelivered: true, Limit: 9})
	w.must(err)
	same(w, "undelivered at last", len(entries), 0)
	w.lookAtEverything()
	same(w, "told by what was still to come", len(chat.got), 3)
}

func TestADestinationThatIsConfiguredNoMore(t *testing.T) {
	w := newProdWorld(t)
	w.tells("chat", w.newReceiver())
	w.breaksGlass()
	w.service.Destinations = nil
	w.settle()
	w.contains("the problem", w.failing()[0].Problem, "chat is not among the configured destinations")
}

func TestWhatPromotionsTell(t *testing.T) {
	w := newProdWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat)
	id := w.atProd("1.1.0")
	w.settle()
	same(w, "told", chat.kinds(), "promotion-needs-somebody")
	w.contains("the need", chat.got[0].Message, "web to prod", "approv")
	w.approves(ada, id)
	w.settle()
	same(w, "told after the approval", chat.kinds(), "promotion-needs-somebody promotion-needs-somebody")
	w.contains("the second need", chat.got[1].Message, "somebody merges")
	w.lookAtEverything()
	same(w, "told by a further look", len(chat.got), 2)

	w.merges(rita, id)
	w.rollsOut(id)
	p := w.promotion(id)
	w.sees("web", "prod", w.running(p.Release), health(promotion.Degraded, "web crashes"))
	w.settle()
	w.is(id, promotion.StateFailed)
	same(w, "told of the failure", chat.got[len(chat.got)-1].Kind, "promotion-failed")
	w.contains("the failure", chat.got[len(chat.got)-1].Message, "web crashes")
	same(w, "its page", chat.got[len(chat.got)-1].URL, fmt.Sprintf("%s/promotions/%d", publicURL, id))
}

func TestABrokenPolicyIsTold(t *testing.T) {
	w := newWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat, promotion.NotifyPolicy)
	w.clone().Push("main", "sluice.yaml", "version: 1\nenvironmentz: {}\n")
	w.look()
	w.settle()
	same(w, "told", chat.kinds(), "policy-broken")
	w.contains("the message", chat.got[0].Message, "environmentz")
}

// breaksGlass opens web's approvals in prod for an hour.
func (w *world) breaksGlass() promotion.Override {
	w.Helper()
	o, err := w.service.Override(w.Context(), gil, promotion.OverrideRequest{Application: "web", Environment: "prod", Gates: []string{promotion.GateApprovals},
		Reason: "prod is down", ExpiresAt: w.clock.now().Add(time.Hour)})
	w.must(err)
	return o
}
