package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/httpapi"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, sent string
		kept       bool
	}{
		{"usable", "run-88.attempt_2", true},
		{"none", "", false},
		{"two lines", "a\nb", false},
		{"too long", strings.Repeat("a", 129), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request("", http.MethodGet, "/healthz", "")
			r.Header.Set("X-Request-ID", tt.sent)
			got := newDoor(t).send(t, r).Header().Get("X-Request-ID")
			if got == "" || (got == tt.sent) != tt.kept {
				t.Errorf("sent %q, got %q", tt.sent, got)
			}
		})
	}
}

// The id and the address reach the audit: they are what promotion.WithRequest was given.
func TestRequestReachesTheAudit(t *testing.T) {
	t.Parallel()
	var audited promotion.AuditEvent
	store := &auditStore{seen: &audited}
	service := &promotion.Service{Store: store, Now: func() time.Time { return noon }}
	e := echo.New()
	e.Use(httpapi.IdentifyRequest(echo.ExtractIPDirect()))
	e.POST("/", func(c echo.Context) error {
		admin := promotion.Actor{Name: "root", Roles: []promotion.Role{promotion.RoleAdmin}}
		_, err := service.Cancel(c.Request().Context(), admin, 11, "")
		return err
	})
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.RemoteAddr = "192.0.2.7:4711"
	r.Header.Set("X-Request-ID", "r-1")
	r.Header.Set("X-Forwarded-For", "203.0.113.9") // anybody can write that
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	if audited.RequestID != "r-1" || audited.SourceAddress != "192.0.2.7" {
		t.Errorf("status %d, audited %q from %q", w.Code, audited.RequestID, audited.SourceAddress)
	}
}

// auditStore holds one promotion and the last audit event.
type auditStore struct {
	*stub
	seen *promotion.AuditEvent
}

func (s *auditStore) Promotion(context.Context, int64) (promotion.Promotion, error) {
	return sampleRequested(), nil
}

func (s *auditStore) Tx(_ context.Context, fn func(promotion.Tx) error) error {
	return fn(auditTx{seen: s.seen})
}

type auditTx struct {
	promotion.Tx
	seen *promotion.AuditEvent
}

func (auditTx) LockPromotion(context.Context, int64) (promotion.Promotion, error) {
	return sampleRequested(), nil
}

func (auditTx) SavePromotion(context.Context, promotion.Promotion) error { return nil }

func (auditTx) EnqueueTarget(context.Context, int64) error { return nil }

func (auditTx) Enqueue(context.Context, promotion.Work) error { return nil }

func (t auditTx) Audit(_ context.Context, e promotion.AuditEvent) error {
	*t.seen = e
	return nil
}
