package browser_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/test/demotest"
)

// audited verifies the audit of what was done in the forms, then alters one approval as an owner of the database can, and
// verifies again.
func audited(t *testing.T, d *demotest.Demo) {
	history, err := pgx.Connect(t.Context(), d.DatabaseURL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = history.Close(t.Context()) }()

	var event int64
	approval := `SELECT e.id FROM audit_events e JOIN audit_chain c ON c.event_id = e.id
		WHERE e.action = 'promotion.approved' AND e.actor = 'amir' AND e.application = 'web' AND e.environment = 'prod'`
	sealed := demotest.Await(time.Minute, func() bool { return history.QueryRow(t.Context(), approval).Scan(&event) == nil })
	if !sealed {
		t.Fatal("amir's approval is not sealed after a minute")
	}
	if out, status := verify(t, d); status != 0 || !strings.Contains(out, "are as they were sealed") {
		t.Fatalf("verifying gave %d: %s", status, out)
	}
	_, err = history.Exec(t.Context(), `ALTER TABLE audit_events DISABLE TRIGGER audit_events_append_only;
		UPDATE audit_events SET actor = 'rita' WHERE action = 'promotion.approved' AND application = 'web';
		ALTER TABLE audit_events ENABLE TRIGGER audit_events_append_only`)
	if err != nil {
		t.Fatal(err)
	}
	altered := fmt.Sprintf("altered: event %d is not as it was sealed", event)
	if out, status := verify(t, d); status != 1 || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, altered) {
		t.Errorf("with one event altered, verifying gave %d: %s", status, out)
	}
}

func verify(t *testing.T, d *demotest.Demo) (out string, status int) {
	t.Helper()
	text, err := exec.Command(d.Program, "audit", "verify", "--config", d.ConfigFile()).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		status = exit.ExitCode()
	}
	return string(text), status
}
