package policy_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

func codesOf(err error) []string {
	var faults promotion.PolicyFaults
	errors.As(err, &faults)
	var codes []string
	for _, f := range faults {
		codes = append(codes, f.Code)
	}
	return codes
}

// setting writes a setting as a file does.
func setting(key, value string) string {
	group, name, grouped := strings.Cut(key, ".")
	if !grouped {
		return group + ": " + value
	}
	return fmt.Sprintf("%s: {%s: %s}", group, name, value)
}

// TestDirections has two values of every key, the looser first: an application may go one way, and the other only where the root lets it.
func TestDirections(t *testing.T) {
	t.Parallel()
	directions := map[string][2]string{
		"promotion":              {"automatic", "manual"},
		"merge":                  {"automatic", "manual"},
		"sync":                   {"engine", "sluice"},
		"upstream":               {"any", "all"},
		"reason":                 {"optional", "required"},
		"approvals.count":        {"1", "2"},
		"approvals.roles":        {"[approver, admin]", "[admin]"},
		"approvals.authors":      {"count", "exclude"},
		"approvals.groups":       {"[payments, sre]", "[sre]"},
		"approvals.expire_after": {"never", "72h"},
		"attest":                 {"[messages]", "[caches, messages]"},
		"evidence":               {"[a]", "[{name: b}, a]"},
		"concurrency.most":       {"6", "5"},
		"concurrency.priority":   {"high", "low"},
		"soak":                   {"29m", "1h"},
		"window.lead":            {"0s", "1m"},
		"window.least_left":      {"1m", "61s"},
		"hotfix.approvals":       {"1", "2"},
		"rollback.approvals":     {"0", "1"},
		"rollback.windows":       {"ignore", "apply"},
		"rollback.recovery": {"[{metric: a, query: up, above: 0, for: 1m}]",
			"[{metric: a, query: up, above: 0, for: 2m}, {metric: b, query: up, above: 0, for: 1m}]"},
		"rollback.recover_within": {"10m", "5m"},
		"rollback.dependencies":   {"[payments]", "[payments, identity/prod]"},
	}
	for _, gate := range gatesOfTheDomain(t) {
		directions["gates."+gate] = [2]string{"report", "enforce"}
	}
	for _, check := range promotion.RollbackChecks() {
		directions["rollback_checks."+check] = [2]string{"off", "report"}
	}
	for key, values := range directions {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			loose, strict := setting(key, values[0]), setting(key, values[1])
			try := func(root, own, more string) error {
				_, err := policy.Reader{}.Parse(promotion.PolicyFiles{
					"sluice.yaml":          "environments: {prod: {" + root + "}}\n" + more,
					"apps/web/sluice.yaml": "environments: {prod: {" + own + "}}\n",
				})
				return err
			}
			if err := try(loose, strict, ""); err != nil {
				t.Errorf("stricter: %v", err)
			}
			if err := try(strict, strict, ""); err != nil {
				t.Errorf("the same: %v", err)
			}
			err := try(strict, loose, "")
			if !cmp.Equal(codesOf(err), []string{policy.LooserThanRoot}) || !strings.Contains(err.Error(), key) {
				t.Errorf("looser: %v", err)
			}
			if err := try(strict, loose, "loosen: ["+key+"]\n"); err != nil {
				t.Errorf("looser where the root lets it: %v", err)
			}
			if err := try(strict, loose, "loosen: [registries]\n"); !cmp.Equal(codesOf(err), []string{policy.LooserThanRoot}) {
				t.Errorf("looser where the root lets it loosen something else: %v", err)
			}
		})
	}
}

// gatesOfTheDomain reads the names of gates where they are declared.
func gatesOfTheDomain(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "promotion", "gate.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var gates []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Gate") && len(v.Values) == 1 {
			name, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			gates = append(gates, name)
		}
		return true
	})
	if len(gates) < 10 {
		t.Fatalf("found only the gates %v", gates)
	}
	return gates
}

func TestPatternsOfAnApplicationAreHeldAgainstWhatTheyMatch(t *testing.T) {
	t.Parallel()
	root := "environments: {blue: {soak: 1h}, \"red-*\": {soak: 1h}}\napplications: {web: {environments: {green: {soak: 1h}}}}\n"
	for own, want := range map[string][]string{
		`"*": {soak: 1h}`:                           nil,
		`"*": {soak: 1m}`:                           {policy.LooserThanRoot},
		`"bl*": {soak: 1m}`:                         {policy.LooserThanRoot},
		`"bl*": {soak: 1m}, blue: {soak: 2h}`:       nil,
		`"gre*": {soak: 1m}`:                        {policy.LooserThanRoot},
		`"r*": {soak: 1m}`:                          {policy.LooserThanRoot},
		`"prod-*": {approvals: {count: 0}}`:         {policy.LooserThanRoot},
		`"stag*": {approvals: {count: 0}}`:          {policy.LooserThanRoot},
		`"*": {merge: automatic}`:                   {policy.LooserThanRoot},
		`"[d]ev": {merge: automatic}`:               nil,
		`"*": {soak: 1m}, "b*": {merge: automatic}`: {policy.LooserThanRoot, policy.LooserThanRoot},
	} {
		_, err := policy.Reader{}.Parse(promotion.PolicyFiles{"sluice.yaml": root, "apps/web/sluice.yaml": "environments: {" + own + "}\n"})
		if diff := cmp.Diff(want, codesOf(err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", own, diff)
		}
	}
	// An environment that no file names gets the stricter of the two.
	rules := parse(t, promotion.PolicyFiles{"sluice.yaml": "environments: {\"[bc]lue\": {soak: 1h}}\n", "apps/web/sluice.yaml": "environments: {\"bl*\": {soak: 1m}}\n"})
	if got := rules.For(target("web", "blue")).Soak; got != time.Hour {
		t.Errorf("a pattern loosened the soak time to %s", got)
	}
}

// TestAnAcceptedApplicationNeverLoosens makes files at random and compares policies field by field, by what the fields mean.
func TestAnAcceptedApplicationNeverLoosens(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 4000 {
		root, own := randomEnvironments(r, 4), randomEnvironments(r, 2)
		without := parse(t, promotion.PolicyFiles{"sluice.yaml": root})
		rules, err := policy.Reader{}.Parse(promotion.PolicyFiles{"sluice.yaml": root, "apps/web/sluice.yaml": own})
		if err != nil {
			if codes := codesOf(err); slices.ContainsFunc(codes, func(code string) bool { return code != policy.LooserThanRoot }) {
				t.Fatalf("%v:\n%s---\n%s", err, root, own)
			}
			continue
		}
		accepted++
		for _, environment := range []string{"dev", "staging", "prod", "prod-eu", "prod-us", "blue"} {
			before, after := without.For(target("web", environment)), rules.For(target("web", environment))
			if field := looserField(before, after); field != "" {
				t.Fatalf("%s is looser in %s:\n%s---\n%s", field, environment, root, own)
			}
			if diff := cmp.Diff(without.For(target("shop", environment)), rules.For(target("shop", environment))); diff != "" {
				t.Fatalf("another application's policy changed: %s", diff)
			}
		}
	}
	if accepted < 200 {
		t.Errorf("only %d of the random files were accepted", accepted)
	}
}

func randomEnvironments(r *rand.Rand, most int) string {
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	var text strings.Builder
	text.WriteString("environments:\n")
	names := []string{"dev", "staging", "prod", "prod-eu", `"prod-*"`, `"*"`, `"p*"`, `"*-[eu]u"`}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:1+r.IntN(most)] {
		settings := []string{
			"promotion: " + pick("manual", "automatic"), "merge: " + pick("manual", "automatic"), "merge_method: " + pick("merge", "squash", "rebase"), "sync: " + pick("engine", "sluice"),
			"upstream: " + pick("all", "any"), "reason: " + pick("required", "optional"), "soak: " + pick("0s", "5s", "10m", "1h"),
			"approvals: {count: " + pick("0", "1", "3") + ", roles: " + pick("[approver]", "[admin, approver]", "[release-manager]") + "}",
			"approvals: {expire_after: " + pick("1h", "never", "30m") + "}", "approvals: {groups: " + pick("[a]", "[b]", "[a, b]") + "}", "approvals: {authors: " + pick("exclude", "count") + "}", "window: {lead: " + pick("0s", "1m") + "}",
			"window: {least_left: " + pick("0s", "1m") + "}", "registries: " + pick("{}", "{a: b}"), "evidence: " + pick("[]", "[a]", "[a, {name: a, environment: dev}]"),
			"when_newer: " + pick("supersede", "queue"),
			"hotfix: {approvals: " + pick("0", "1", "2", "3") + "}",
			"rollback: {approvals: " + pick("0", "1", "2") + ", windows: " + pick("apply", "ignore") +
				", dependencies: " + pick("[]", "[payments]", "[payments, identity/prod]") + ", recovery: " + pick("[]", "[{metric: a, query: up, above: 0, for: 1m}]") + ", recover_within: " + pick("1m", "1h") + "}",
			"gates: {content: " + pick("off", "report", "enforce") + ", rollback-safe: " + pick("off", "report", "enforce") + "}",
		}
		r.Shuffle(len(settings), func(i, j int) { settings[i], settings[j] = settings[j], settings[i] })
		text.WriteString("  " + name + ":\n")
		seen := map[string]bool{}
		for _, s := range settings[:1+r.IntN(3)] {
			if key, _, _ := strings.Cut(s, ":"); !seen[key] {
				seen[key] = true
				text.WriteString("    " + s + "\n")
			}
		}
	}
	return text.String()
}

func looserField(before, after promotion.EnvironmentPolicy) string {
	order := map[promotion.Mode]int{promotion.Off: 0, promotion.Report: 1, promotion.Enforce: 2}
	for gate := range after.Modes {
		if order[after.Mode(gate)] < order[before.Mode(gate)] {
			return gate
		}
	}
	expires := func(p promotion.EnvironmentPolicy) time.Duration {
		if p.ApprovalExpiry == 0 {
			return 1 << 62
		}
		return p.ApprovalExpiry
	}
	dropped := func(n promotion.NeededEvidence) bool { return !slices.Contains(after.Evidence, n) }
	outside := func(role promotion.Role) bool { return !slices.Contains(before.ApproverRoles, role) }
	for field, looser := range map[string]bool{
		"promotion": after.AutomaticPromotion && !before.AutomaticPromotion,
		"merge":     after.AutomaticMerge && !before.AutomaticMerge,
		"sync":      before.SyncBySluice && !after.SyncBySluice,
		"upstream":  after.UpstreamAny && !before.UpstreamAny,
		"reason":    before.ReasonRequired && !after.ReasonRequired,
		"count":     after.Approvals < before.Approvals,
		"roles":     before.Approvals > 0 && slices.ContainsFunc(after.ApproverRoles, outside),
		"groups": len(before.ApproverGroups) > 0 && (len(after.ApproverGroups) == 0 ||
			slices.ContainsFunc(after.ApproverGroups, func(g string) bool { return !slices.Contains(before.ApproverGroups, g) })),
		"authors":           before.ExcludeAuthors && !after.ExcludeAuthors,
		"no roles":          after.Approvals > 0 && len(after.ApproverRoles) == 0,
		"expire_after":      expires(after) > expires(before),
		"soak":              after.Soak < before.Soak,
		"window.lead":       after.WindowLead < before.WindowLead,
		"window.least_left": after.WindowLeft < before.WindowLeft,
		"rollback.windows":  after.RollbackIgnoresWindows && !before.RollbackIgnoresWindows,
		"rollback.recovery": slices.ContainsFunc(before.Recovery, func(n promotion.NeededEvidence) bool { return !slices.Contains(after.Recovery, n) }),
		"rollback.dependencies": slices.ContainsFunc(before.Dependencies, func(n promotion.NeededEvidence) bool {
			return !slices.Contains(after.Dependencies, n)
		}),
		"recover_within": after.RecoverWithin > before.RecoverWithin,
		"rollback.approvals": after.RollbackApprovals != nil &&
			after.Of(promotion.Promotion{Kind: promotion.KindRollback}).Approvals < before.Of(promotion.Promotion{Kind: promotion.KindRollback}).Approvals,
		"hotfix.approvals": after.HotfixApprovals != nil &&
			after.Of(promotion.Promotion{Hotfix: true}).Approvals < before.Of(promotion.Promotion{Hotfix: true}).Approvals,
		"evidence":     slices.ContainsFunc(before.Evidence, dropped),
		"when_newer":   before.NewerWaits != after.NewerWaits,
		"merge_method": before.MergeMethod != after.MergeMethod,
		"registries":   !cmp.Equal(before.Registries, after.Registries) && len(before.Registries)+len(after.Registries) > 0,
	} {
		if looser {
			return field
		}
	}
	return ""
}
