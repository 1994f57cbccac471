package policy_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

func target(application, environment string) promotion.Target {
	return promotion.Target{Application: application, Environment: environment, Rank: manifest.Rank(environment)}
}

func TestWithoutFilesTheDefaultsHold(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]promotion.PolicyFiles{
		"none":     nil,
		"empty":    {"sluice.yaml": "", "apps/web/sluice.yaml": ""},
		"comments": {"sluice.yaml": "# later\n", "apps/web/sluice.yaml": "---\n# later\n"},
	} {
		rules := parse(t, files)
		for environment, rank := range map[string]int{"dev": 10, "test": 20, "staging": 30, "nonsense": 40, "prod-eu": 50} {
			if diff := cmp.Diff(promotion.DefaultPolicy(rank), rules.For(target("web", environment))); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, environment, diff)
			}
		}
		want := promotion.Layout{Roots: []string{"apps"}, Ranks: map[string]int{}}
		if diff := cmp.Diff(want, rules.Layout()); diff != "" {
			t.Errorf("%s: layout (-want +got):\n%s", name, diff)
		}
		open := promotion.WindowDecision{Open: true, Reason: "there are no sync windows"}
		if got := rules.Window(target("web", "prod"), nil, time.Unix(0, 0)); got != open {
			t.Errorf("%s: window %+v", name, got)
		}
	}
}

func TestExample(t *testing.T) {
	t.Parallel()
	_, files := archive(t, "testdata/example.txtar")
	rules := parse(t, files)
	layout := promotion.Layout{Roots: []string{"apps", "infra"}, Ranks: map[string]int{"dev": 10, "prod-eu": 50, "canary": 45}}
	if diff := cmp.Diff(layout, rules.Layout()); diff != "" {
		t.Errorf("layout (-want +got):\n%s", diff)
	}
	prod := promotion.EnvironmentPolicy{
		Approvals: 2, ApproverRoles: []promotion.Role{"approver", "release-manager"}, ApprovalExpiry: 168 * time.Hour,
		ReasonRequired: true, SyncBySluice: true, SyncsAtOnce: 10, SyncPriority: promotion.PriorityNormal, Soak: 30 * time.Minute, WindowLead: 10 * time.Minute, WindowLeft: 30 * time.Minute,
		Registries: map[string]string{"ghcr.io/acme": "eu.registry.example/acme"},
		Modes: map[string]promotion.Mode{promotion.GateServerDryRun: promotion.Report, promotion.GateRollbackSafe: promotion.Enforce,
			promotion.GateBranchProtected: promotion.Report},
		Checks: map[string]promotion.Mode{},
	}
	prod.Evidence = []promotion.NeededEvidence{{Name: "image-scan"}, {Name: "integration-tests", Environment: "staging"}}
	prod.MergeMethod, prod.RecoverWithin = promotion.MergeSquash, 15*time.Minute
	if diff := cmp.Diff(prod, rules.For(target("shop", "prod-eu"))); diff != "" {
		t.Errorf("shop in prod-eu (-want +got):\n%s", diff)
	}
	prod.Registries, prod.Evidence, prod.MergeMethod = nil, nil, ""
	if diff := cmp.Diff(prod, rules.For(target("shop", "prod-us"))); diff != "" {
		t.Errorf("shop in prod-us (-want +got):\n%s", diff)
	}
	web := rules.For(target("web", "prod-eu"))
	if web.Soak != 10*time.Minute || web.Approvals != 3 || web.ApprovalExpiry != 24*time.Hour || web.Mode("server-dry-run") != promotion.Off {
		t.Errorf("web in prod-eu: %+v", web)
	}
	if canary := rules.For(target("shop", "canary")); !canary.SyncBySluice || !canary.UpstreamAny || canary.Approvals != 1 {
		t.Errorf("shop in canary: %+v", canary)
	}
	if team := rules.For(target("team-a", "dev")); !team.ReasonRequired || !team.AutomaticMerge {
		t.Errorf("team-a in dev: %+v", team)
	}
}

// TestTheMoreSpecificWins reads a soak time that says where it comes from.
func TestTheMoreSpecificWins(t *testing.T) {
	t.Parallel()
	rules := parse(t, promotion.PolicyFiles{"sluice.yaml": `
environments:
  prod-eu: {soak: 4s}
  "*": {soak: 1s}
  prod-?u: {soak: 3s}
  "p*": {soak: 2s}
  "q*": {soak: 2s}
  "?q": {soak: 9s}
applications:
  web: {environments: {"prod-*": {soak: 8s}, prod-xu: {soak: 9s}}}
  "w*": {environments: {prod-eu: {soak: 7s}, prod-us: {soak: 7s}}}
  "*b": {environments: {prod-us: {soak: 7500ms}}}
loosen: [soak]
`, "apps/api/sluice.yaml": "environments: {prod-eu: {soak: 11s}, \"*\": {soak: 10s}}\n"})
	for _, c := range []struct {
		application, environment string
		want                     time.Duration
	}{
		{"shop", "dev", time.Second},
		{"shop", "prod", 2 * time.Second},
		{"shop", "prod-xu", 3 * time.Second},
		{"shop", "prod-eu", 4 * time.Second},
		{"shop", "qq", 9 * time.Second}, // as specific as q*, and later
		{"wiki", "prod-eu", 7 * time.Second},
		{"web", "prod-eu", 8 * time.Second},
		{"web", "prod-xu", 9 * time.Second},
		{"wb", "prod-us", 7500 * time.Millisecond},
		{"api", "prod-us", 10 * time.Second},
		{"api", "prod-eu", 11 * time.Second},
	} {
		if got := rules.For(target(c.application, c.environment)).Soak; got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.application, c.environment, got, c.want)
		}
	}
}

func TestAnApplicationAddsApprovalsWhereTheDefaultHasNone(t *testing.T) {
	t.Parallel()
	rules := parse(t, promotion.PolicyFiles{"apps/web/sluice.yaml": "environments: {staging: {approvals: {count: 1}}}\n"})
	got := rules.For(target("web", "staging"))
	if got.Approvals != 1 || !cmp.Equal(got.ApproverRoles, promotion.DefaultPolicy(50).ApproverRoles) {
		t.Errorf("got %d of %v", got.Approvals, got.ApproverRoles)
	}
}

// TestARankMakesTheDefaults: what a file says of an environment comes over the defaults of the rank it gives.
func TestARankMakesTheDefaults(t *testing.T) {
	t.Parallel()
	rules := parse(t, promotion.PolicyFiles{"sluice.yaml": "environments: {blue: {rank: 10}, dev: {rank: 50, soak: 1m}}\n"})
	if diff := cmp.Diff(promotion.DefaultPolicy(10), rules.For(target("web", "blue"))); diff != "" {
		t.Errorf("blue (-want +got):\n%s", diff)
	}
	dev := promotion.DefaultPolicy(50)
	dev.Soak = time.Minute
	if diff := cmp.Diff(dev, rules.For(target("web", "dev"))); diff != "" {
		t.Errorf("dev (-want +got):\n%s", diff)
	}
}

// TestAnswersAreTheCallers: whoever changes an answer changes nothing else.
func TestAnswersAreTheCallers(t *testing.T) {
	t.Parallel()
	_, files := archive(t, "testdata/example.txtar")
	rules := parse(t, files)
	at := target("shop", "prod-eu")
	spoilt := rules.For(at)
	spoilt.Modes["content"], spoilt.Registries["x"], spoilt.ApproverRoles[0] = promotion.Off, "y", "viewer"
	rules.Layout().Roots[0] = "x"
	rules.Layout().Ranks["dev"] = 1
	fresh := parse(t, files)
	if !cmp.Equal(fresh.For(at), rules.For(at)) || !cmp.Equal(fresh.Layout(), rules.Layout()) {
		t.Error("an answer that was changed changed the rules")
	}
}

// TestEverythingOfAPolicyCanBeSaid fails when the domain's policy has something that no key of a file sets.
func TestEverythingOfAPolicyCanBeSaid(t *testing.T) {
	t.Parallel()
	rules := parse(t, promotion.PolicyFiles{"sluice.yaml": `
environments:
  prod:
    promotion: automatic
    merge: automatic
    merge_method: squash
    sync: engine
    upstream: any
    reason: required
    approvals: {count: 7, roles: [admin], groups: [payments], authors: exclude, expire_after: 1h}
    concurrency: {most: 2, priority: high}
    soak: 1h
    window: {lead: 1h, least_left: 1h}
    when_newer: queue
    hotfix: {approvals: 3}
    rollback: {approvals: 0, windows: ignore, dependencies: [payments], recovery: [{metric: errors, query: up, below: 1, for: 5m}], recover_within: 20m}
    evidence: [x]
    registries: {a: b}
    rollback_checks: {traffic: report}
    attest: []
    gates: {content: off}
`, "apps/web/sluice.yaml": "database: postgres\n"})
	said, unsaid := reflect.ValueOf(rules.For(target("web", "prod"))), reflect.ValueOf(promotion.DefaultPolicy(50))
	for i := range said.NumField() {
		if cmp.Equal(said.Field(i).Interface(), unsaid.Field(i).Interface()) {
			t.Errorf("no key of the file sets %s", said.Type().Field(i).Name)
		}
	}
}

func TestHelmSettingsAreThoseOfManifest(t *testing.T) {
	t.Parallel()
	_, files := archive(t, "testdata/example.txtar")
	parse(t, files)
	for _, settings := range []reflect.Type{reflect.TypeFor[manifest.HelmSettings](), reflect.TypeFor[manifest.HelmImage]()} {
		for i := range settings.NumField() {
			key := settings.Field(i).Tag.Get("json")
			text := "helm: {" + key + ": }\n"
			if settings == reflect.TypeFor[manifest.HelmImage]() {
				text = "helm: {images: [{" + key + ": }]}\n"
			}
			_, err := policy.Reader{}.Parse(promotion.PolicyFiles{"apps/web/sluice.yaml": text})
			if codes := codesOf(err); !cmp.Equal(codes, []string{policy.WrongType}) {
				t.Errorf("%s: got %v, want its value refused and not its name", key, err)
			}
		}
	}
}

func TestTheDocumentedFileIsValid(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		file, _, _ := strings.Cut(block, "```")
		parse(t, promotion.PolicyFiles{"sluice.yaml": file})
		found++
	}
	if found < 4 {
		t.Errorf("found only %d files in the documentation", found)
	}
}
