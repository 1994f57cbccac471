package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/jobs"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/migrations"
)

// messenger fails so many times, then says what arrived.
type messenger struct {
	mu      sync.Mutex
	fails   int
	arrived chan promotion.Message
}

func (m *messenger) Send(_ context.Context, got promotion.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails > 0 {
		m.fails--
		return errors.New("it answered 503 Service Unavailable")
	}
	m.arrived <- got
	return nil
}

// TestADeliveryOutlivesItsServer has one server commit and die, and another deliver, against a receiver that fails at first.
func TestADeliveryOutlivesItsServer(t *testing.T) {
	t.Parallel()
	url := postgrestest.NewDatabase(t, func(ctx context.Context, url string) error { return postgres.Migrate(ctx, url, migrations.Files) })
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	enqueuer, err := jobs.Enqueuer(pool)
	if err != nil {
		t.Fatal(err)
	}
	store := postgres.NewStore(pool, enqueuer.InsertTx)
	var delivery string
	if err := store.Tx(t.Context(), func(tx promotion.Tx) error {
		ids, err := tx.InsertNotification(t.Context(), promotion.Notification{Kind: promotion.NotifyPolicy, Object: "repository/shop", At: time.Now(),
			Message: "the policy cannot be read", Page: "/set-up"}, []string{"chat"})
		if err != nil {
			return err
		}
		delivery = ids[0]
		return tx.Enqueue(t.Context(), promotion.Work{Kind: promotion.WorkDeliver, Delivery: delivery})
	}); err != nil {
		t.Fatal(err)
	}

	chat := &messenger{fails: 1, arrived: make(chan promotion.Message, 2)}
	service := &promotion.Service{Store: store, Now: time.Now, PublicURL: "https://sluice.example.test", Log: slog.New(slog.DiscardHandler),
		Destinations: []promotion.Destination{{Name: "chat", Messenger: chat}}}
	seal := func(context.Context) (string, error) { return "", nil }
	queue, err := jobs.Workers(pool, service, seal, nil, jobs.Intervals{Repositories: time.Hour, Promotions: time.Hour, Sealing: time.Hour,
		Drift: time.Hour, Reminders: time.Hour}, service.Log)
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-chat.arrived:
		if got.Delivery != delivery || got.URL != "https://sluice.example.test/set-up" {
			t.Errorf("delivered %+v, want delivery %s", got, delivery)
		}
	case <-time.After(time.Minute):
		t.Error("nothing was delivered within a minute")
	}
	stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := queue.Stop(stop); err != nil {
		t.Fatal(err)
	}
	if d, err := store.Delivery(context.Background(), delivery); err != nil || d.Attempts != 2 || d.DeliveredAt.IsZero() || d.Problem != "" {
		t.Errorf("recorded %+v (%v), want the second attempt to have arrived", d, err)
	}
}
