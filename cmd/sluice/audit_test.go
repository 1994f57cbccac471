package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/audit"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/migrations"
)

// runAudit runs `sluice audit` and returns what it prints and its exit status.
func runAudit(args ...string) (output string, status int, err error) {
	cmd := newAuditCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(context.Background())
	var exit *exitError
	if errors.As(err, &exit) {
		status = exit.Code
	}
	return out.String(), status, err
}

// auditedDatabase has four sealed events, and returns a configuration file.
func auditedDatabase(t *testing.T) (pool *pgxpool.Pool, config string) {
	t.Helper()
	ctx := context.Background()
	url := postgrestest.NewDatabase(t, func(ctx context.Context, url string) error { return postgres.Migrate(ctx, url, migrations.Files) })
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	_, err = pool.Exec(ctx, `INSERT INTO audit_events (at, actor, actor_kind, action, object, application, message, before, after) VALUES
		('2026-01-01 10:00Z', 'ada', 'person', 'promotion.requested', 'promotion/1', 'shop', 'web 1.4 <to> "prod"', NULL, '{"state": "requested", "n": [1.50, null]}'),
		('2026-01-01 11:00:00.000001Z', 'bob', 'person', 'promotion.approved', 'promotion/1', 'shop', 'Größe ' || chr(8232) || E'\n', 'null', '{}'),
		('2026-01-02 10:00Z', 'sluice', 'system', 'promotion.merged', 'promotion/1', 'shop', 'merged', NULL, NULL),
		('2026-01-03 10:00Z', 'ci', 'token', 'build.recorded', 'build/1', 'mail', 'recorded', NULL, NULL)`)
	if err != nil {
		t.Fatal(err)
	}
	sealed, tick := 0, time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for sealed < 4 { // other tests' transactions may hold it up
		n, _, err := postgres.NewStore(pool, nil).SealAudit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		sealed += n
		<-tick.C
	}
	config = filepath.Join(t.TempDir(), "sluice.yaml")
	text := fmt.Sprintf("listen: 127.0.0.1:1\ndata: %q\ndatabase: {url: %q}\nconfig_repositories:\n  - {name: config, host: built-in}\n", t.TempDir(), url)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return pool, config
}

func TestAuditVerify(t *testing.T) {
	t.Parallel()
	pool, config := auditedDatabase(t)
	noted, status, err := runAudit("head", "--config", config)
	if status != 0 || err != nil || !regexp.MustCompile(`^[0-9a-f]{64}@4\n$`).MatchString(noted) {
		t.Fatalf("head: status %d, error %v, %q", status, err, noted)
	}
	noted = strings.TrimSpace(noted)
	out, status, err := runAudit("verify", "--config", config, "--expect", noted)
	if status != 0 || err != nil || !strings.Contains(out, "4 sealed events are as they were sealed; 0 are not sealed yet.\nHead: "+noted) {
		t.Errorf("status %d, error %v, output %s", status, err, out)
	}

	_, err = pool.Exec(context.Background(), `ALTER TABLE audit_events DISABLE TRIGGER audit_events_append_only;
		UPDATE audit_events SET message = 'nothing happened' WHERE id = 2`)
	if err != nil {
		t.Fatal(err)
	}
	out, status, _ = runAudit("verify", "--config", config)
	if want := "altered: event 2 is not as it was sealed at position 2\n"; status != 1 || out != want {
		t.Errorf("status %d, output %s", status, out)
	}
	out, status, _ = runAudit("verify", "--config", config, "-o", "json", "--expect", audit.Genesis().Hash.String()+"@3")
	var v auditVerification
	if err := json.Unmarshal([]byte(out), &v); err != nil || status != 1 || v.Head != noted || len(v.Findings) != 2 {
		t.Errorf("status %d, error %v, output %s", status, err, out)
	} else if v.Findings[0] != (audit.Finding{Kind: audit.Altered, Position: 2, EventID: 2, Message: "event 2 is not as it was sealed at position 2"}) || v.Findings[1].Kind != audit.Replaced {
		t.Errorf("findings %+v", v.Findings)
	}
}

func TestAuditCannotRun(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "sluice.yaml")
	unreachable := filepath.Join(t.TempDir(), "sluice.yaml")
	if err := os.WriteFile(unreachable, []byte("listen: 127.0.0.1:1\ndata: /nowhere\ndatabase: {url: 'postgres://127.0.0.1:1/sluice'}\nconfig_repositories:\n  - {name: config, host: built-in}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify", "--config", missing},
		{"verify", "--config", unreachable},
		{"head", "--config", unreachable},
		{"export", "--config", unreachable},
		{"verify", "--config", unreachable, "--expect", "abc@1"},
		{"verify", "--config", unreachable, "-o", "yaml"},
		{"export", "--config", unreachable, "-o", "csv"},
		{"export", "--config", unreachable, "--since", "yesterday"},
	} {
		if out, status, err := runAudit(args...); status != 2 || err == nil || out != "" {
			t.Errorf("%q: status %d, error %v, output %s", args, status, err, out)
		}
	}
}

func TestAuditExport(t *testing.T) {
	t.Parallel()
	_, config := auditedDatabase(t)
	out, status, err := runAudit("export", "--config", config, "--since", "2026-01-02T10:00:00Z", "--until", "2026-01-03T10:00:00Z", "--application", "shop")
	if status != 0 || err != nil {
		t.Fatalf("status %d, error %v", status, err)
	}
	want := regexp.MustCompile(`^\{"position":3,"hash":"[0-9a-f]{64}","id":3,"tx":\d+,"at":"2026-01-02T10:00:00.000000Z","actor":"sluice","actor_kind":"system",` +
		`"action":"promotion.merged","object":"promotion/1","application":"shop","environment":"","release_id":null,"promotion_id":null,` +
		`"message":"merged","request_id":"","source_address":"","horizon":\d+,"sealed_at":"[0-9-]{10}T[0-9:]{8}\.\d{6}Z"\}\n$`)
	if !want.MatchString(out) {
		t.Errorf("output %s", out)
	}
}

// TestAuditExportProvesItself computes the chain from an export alone, as package audit's documentation says.
func TestAuditExportProvesItself(t *testing.T) {
	t.Parallel()
	_, config := auditedDatabase(t)
	out, _, err := runAudit("export", "--config", config)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte("sluice audit chain 1"))
	for i, line := range slices.Collect(strings.Lines(out)) {
		var e map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		text := string(hash[:])
		for name := range strings.FieldsSeq(`id tx at actor actor_kind action object application environment release_id promotion_id
			message before after request_id source_address horizon sealed_at`) {
			value, present := e[name]
			document := name == "before" || name == "after"
			if !present || !document && string(value) == "null" {
				text += name + " -\n"
				continue
			}
			plain := string(value)
			if !document && strings.HasPrefix(plain, `"`) {
				if err := json.Unmarshal(value, &plain); err != nil {
					t.Fatal(err)
				}
			}
			text += fmt.Sprintf("%s %d %s\n", name, len(plain), plain)
		}
		hash = sha256.Sum256([]byte(text))
		if want := fmt.Sprintf(`"%x"`, hash); string(e["hash"]) != want {
			t.Errorf("line %d has the hash %s, want %s", i+1, e["hash"], want)
		}
	}
}
