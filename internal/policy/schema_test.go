package policy_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

const (
	atRoot    = "sluice.yaml"
	ofItsOwn  = "apps/web/sluice.yaml"
	schemasAt = "https://raw.githubusercontent.com/sluicehq/sluice/main/api/"
)

// schemas are the published ones, by the file that they are for.
func schemas(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiled := map[string]*jsonschema.Schema{}
	for _, name := range []string{"policy.schema.json", "policy-application.schema.json"} {
		text, err := os.ReadFile(path.Join("..", "..", "api", name))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(schemasAt+name, document); err != nil {
			t.Fatal(err)
		}
	}
	for file, name := range map[string]string{atRoot: "policy.schema.json", ofItsOwn: "policy-application.schema.json"} {
		schema, err := compiler.Compile(schemasAt + name)
		if err != nil {
			t.Fatal(err)
		}
		compiled[file] = schema
	}
	return compiled
}

// asJSON is what an editor holds against the schema.
func asJSON(t testing.TB, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

const soundWindow = "name: n, kind: deny, schedule: 0 9 * * *, duration: 8h, timezone: UTC"

// TestSchemaAndReaderAgree: what both accept, what both refuse, and what needs more than a schema to find.
func TestSchemaAndReaderAgree(t *testing.T) {
	t.Parallel()
	schemas := schemas(t)
	for _, c := range []struct{ file, verdict, text string }{
		{atRoot, "both accept", "{}"},
		{atRoot, "both accept", "version: 1"},
		{atRoot, "both accept", "environments: {}"},
		{atRoot, "both accept", "environments: {prod: {}, no: {merge: manual}}"},
		{atRoot, "both accept", "environments: {prod: {approvals: {}, gates: {}, window: {}, registries: {}}}"},
		{atRoot, "both accept", "environments: {prod: {approvals: {count: 100, expire_after: never}, soak: 0s}}"},
		{atRoot, "both accept", "environments: {prod: {soak: 1h30m15s5ms, gates: {policy: off}}}"},
		{atRoot, "both accept", "environments: {prod: {registries: {localhost:5000/a: eu.example:443/b/c__d}}}"},
		{atRoot, "both accept", "environments: {dev: {merge_method: merge}, staging: {merge_method: squash}, prod: {merge_method: rebase}}"},
		{atRoot, "both accept", "loosen: [merge_method]"},
		{atRoot, "both accept", "environments: {blue: {rank: 0}, red: {rank: 1000}}"},
		{atRoot, "both accept", "applications: {web: {}, \"team-*\": {environments: {}}}"},
		{atRoot, "both accept", "environments: {prod: {evidence: []}, staging: {evidence: [a, {name: b}, {name: a, environment: dev}]}}"},
		{atRoot, "both accept", "windows: []"},
		{atRoot, "both accept", "windows: [{" + soundWindow + ", applications: [a, \"b*\"], environments: [p], clusters: [\"https://x/y\"]}]"},
		{ofItsOwn, "both accept", "version: 1"},
		{ofItsOwn, "both accept", "windows: [{" + soundWindow + ", environments: [p], clusters: [c]}]"},
		{ofItsOwn, "both accept", "helm: {}"},
		{ofItsOwn, "both accept", "helm: {chart: ., values: [values.yaml], images: [{tag: /a~1b/0, digest: /c}, {reference: /}]}"},
		{ofItsOwn, "both accept", "helm: {kube_version: v1.34, images: []}"},

		{atRoot, "both refuse", "[]"},
		{atRoot, "both refuse", "version: 2"},
		{atRoot, "both refuse", "version: \"1\""},
		{atRoot, "both refuse", "version:"},
		{atRoot, "both refuse", "roots: []"},
		{atRoot, "both refuse", "roots: apps"},
		{atRoot, "both refuse", "roots: [/apps]"},
		{atRoot, "both refuse", "roots: [apps/]"},
		{atRoot, "both refuse", "roots: [a//b]"},
		{atRoot, "both refuse", "roots: [a, a]"},
		{atRoot, "both refuse", "roots: [1]"},
		{atRoot, "both refuse", "helm: {}"},
		{atRoot, "both refuse", "environments: [prod]"},
		{atRoot, "both refuse", "environments: {prod: }"},
		{atRoot, "both refuse", "environments: {a/b: {}}"},
		{atRoot, "both refuse", "environments: {\" \": {}}"},
		{atRoot, "both refuse", "environments: {prod: {approval: {count: 1}}}"},
		{atRoot, "both refuse", "environments: {prod: {rank: -1}}"},
		{atRoot, "both refuse", "environments: {prod: {rank: 1001}}"},
		{atRoot, "both refuse", "environments: {prod: {rank: 1.5}}"},
		{atRoot, "both refuse", "environments: {prod: {rank: \"50\"}}"},
		{atRoot, "both refuse", "environments: {prod: {promotion: auto}}"},
		{atRoot, "both refuse", "environments: {prod: {promotion: true}}"},
		{atRoot, "both refuse", "environments: {prod: {merge: yes}}"},
		{atRoot, "both refuse", "environments: {prod: {merge_method: fast-forward}}"},
		{atRoot, "both refuse", "environments: {prod: {merge_method: \"\"}}"},
		{atRoot, "both refuse", "environments: {prod: {sync: argo}}"},
		{atRoot, "both refuse", "environments: {prod: {upstream: none}}"},
		{atRoot, "both refuse", "environments: {prod: {reason: yes}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: 2}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {count: 101}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {count: -1}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {roles: []}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {roles: [ci]}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {roles: [admin, admin]}}}"},
		{atRoot, "both accept", "environments: {prod: {approvals: {groups: [payments, site reliability]}}}"},
		{atRoot, "both accept", "environments: {prod: {approvals: {authors: exclude}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {authors: true}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {groups: []}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {groups: payments}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {groups: [' ']}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {groups: [a, a]}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {expire_after: 7d}}}"},
		{atRoot, "both refuse", "environments: {prod: {approvals: {expire_after: 0}}}"},
		{atRoot, "both refuse", "environments: {prod: {soak: 10}}"},
		{atRoot, "both refuse", "environments: {prod: {soak: -10m}}"},
		{atRoot, "both refuse", "environments: {prod: {soak: 8:00}}"},
		{atRoot, "both refuse", "environments: {prod: {soak: 1.5h}}"},
		{atRoot, "both refuse", "environments: {prod: {soak: never}}"},
		{atRoot, "both accept", "environments: {prod: {when_newer: queue}}"},
		{atRoot, "both refuse", "environments: {prod: {when_newer: wait}}"},
		{atRoot, "both accept", "environments: {prod: {hotfix: {approvals: 3}}}"},
		{atRoot, "both refuse", "environments: {prod: {hotfix: {approvals: one}}}"},
		{atRoot, "both accept", "environments: {prod: {rollback: {approvals: 0, windows: ignore}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback: {approvals: -1}}}"},
		{atRoot, "both accept", "environments: {prod: {rollback: {recovery: [{metric: errors, query: up, below: 0.5, for: 5m}], recover_within: 20m}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback: {recovery: [errors]}}}"},
		{ofItsOwn, "both accept", "environments: {'*': {rollback: {dependencies: [payments, identity/prod, {metric: lag, query: up, below: 9, for: 5m}]}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback: {dependencies: [a/b/c]}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback: {dependencies: ['/prod']}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback: {dependencies: [{application: payments}]}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback: {recovery: [{healthy_for: 5m, environment: prod}]}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback: {recovery: [{metric: errors, query: up, below: 0.5}]}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback: {recover_within: 1d}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback: {windows: off}}}"},
		{atRoot, "both accept", "environments: {prod: {attest: [messages, caches, side-effects]}, staging: {attest: []}}"},
		{ofItsOwn, "both accept", "environments: {\"*\": {attest: [caches]}}"},
		{atRoot, "both refuse", "environments: {prod: {attest: [data]}}"},
		{atRoot, "both refuse", "environments: {prod: {attest: [caches, caches]}}"},
		{atRoot, "both refuse", "environments: {prod: {attest: messages}}"},
		{atRoot, "both accept", "environments: {prod: {rollback_checks: {artifact: enforce, config: report, data: off, traffic: off, dependency: report}}}"},
		{atRoot, "both accept", "loosen: [rollback_checks.artifact, rollback_checks.config, rollback_checks.data, rollback_checks.traffic, rollback_checks.dependency]"},
		{ofItsOwn, "both accept", "environments: {prod: {rollback_checks: {data: enforce}}}"},
		{ofItsOwn, "reader refuses", "environments: {prod: {rollback_checks: {data: report}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback_checks: {database: off}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback_checks: {data: shadow}}}"},
		{atRoot, "both refuse", "environments: {prod: {rollback_checks: off}}"},
		{atRoot, "both refuse", "environments: {prod: {window: {leads: 1m}}}"},
		{atRoot, "both refuse", "environments: {prod: {window: {lead: \"\"}}}"},
		{atRoot, "both refuse", "environments: {prod: {gates: {contents: off}}}"},
		{atRoot, "both refuse", "environments: {prod: {gates: {content: false}}}"},
		{atRoot, "both refuse", "environments: {prod: {gates: [content]}}"},
		{atRoot, "both refuse", "environments: {prod: {registries: {https://a: b}}}"},
		{atRoot, "both refuse", "environments: {prod: {registries: {a: b/}}}"},
		{atRoot, "both refuse", "environments: {prod: {registries: {a: 1}}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: a}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [1]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [a, a]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{environment: dev}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{name: a, env: dev}]}}"},
		{atRoot, "both accept", "environments: {prod: {evidence: [a, {healthy_for: 24h, environment: staging}, {drift_free_for: 1h30m, environment: staging}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{healthy_for: 24h}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{healthy_for: 1d, environment: staging}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{healthy_for: 1h, drift_free_for: 1h, environment: staging}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{name: a, healthy_for: 1h, environment: staging}]}}"},
		{atRoot, "both accept", "environments: {prod: {evidence: [{metric: errors, query: 'sum(errors)', below: 0.01, for: 30m}, {metric: rate, query: rate, above: -3, for: 1h}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{metric: errors, query: 'sum(errors)', for: 30m}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{metric: errors, query: 'sum(errors)', below: 1, above: 0, for: 30m}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{metric: errors, query: 'sum(errors)', below: 1%, for: 30m}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{metric: errors, below: 1, for: 30m}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{metric: errors, query: up, below: 1}]}}"},
		{atRoot, "both refuse", "environments: {prod: {evidence: [{metric: errors, query: up, below: 1, for: 1h, environment: dev}]}}"},
		{atRoot, "reader refuses", "environments: {prod: {evidence: [{metric: errors, query: up, below: 1e2, for: 1h}]}}"},
		{atRoot, "reader refuses", "environments: {prod: {evidence: [{healthy_for: 0h, environment: staging}]}}"},
		{atRoot, "both refuse", "applications: {web: {windows: []}}"},
		{atRoot, "both refuse", "applications: {web: {environments: {prod: {rank: 1}}}}"},
		{atRoot, "both refuse", "loosen: [approvals]"},
		{atRoot, "both refuse", "loosen: [rank]"},
		{atRoot, "both refuse", "loosen: [soak, soak]"},
		{atRoot, "both refuse", "loosen: soak"},
		{atRoot, "both refuse", "windows: {}"},
		{atRoot, "both refuse", "windows: [n]"},
		{atRoot, "both refuse", "windows: [{kind: deny, schedule: 0 9 * * *, duration: 8h, timezone: UTC}]"},
		{atRoot, "both refuse", "windows: [{name: n, kind: freeze, schedule: 0 9 * * *, duration: 8h, timezone: UTC}]"},
		{atRoot, "both refuse", "windows: [{name: n, kind: deny, schedule: \"@daily\", duration: 8h, timezone: UTC}]"},
		{atRoot, "both refuse", "windows: [{name: n, kind: deny, schedule: 0 9 * * *, duration: 8, timezone: UTC}]"},
		{atRoot, "both refuse", "windows: [{name: n, kind: deny, schedule: 0 9 * * *, duration: 8h}]"},
		{atRoot, "both refuse", "windows: [{" + soundWindow + ", environments: []}]"},
		{atRoot, "both refuse", "windows: [{" + soundWindow + ", environments: prod}]"},
		{atRoot, "both refuse", "windows: [{" + soundWindow + ", application: [web]}]"},
		{ofItsOwn, "both refuse", "roots: [apps]"},
		{ofItsOwn, "both refuse", "loosen: [soak]"},
		{ofItsOwn, "both refuse", "environments: {prod: {rank: 50}}"},
		{ofItsOwn, "both refuse", "environments: {prod: {soaks: 1h}}"},
		{ofItsOwn, "both refuse", "windows: [{" + soundWindow + ", applications: [web]}]"},
		{ofItsOwn, "both refuse", "helm: {chart: }"},
		{ofItsOwn, "both refuse", "helm: {charts: x}"},
		{ofItsOwn, "both refuse", "helm: {values: []}"},
		{ofItsOwn, "both refuse", "helm: {release: Web}"},
		{ofItsOwn, "both refuse", "helm: {kube_version: 1.34}"},
		{ofItsOwn, "both refuse", "helm: {kube_version: latest}"},
		{ofItsOwn, "both refuse", "helm: {images: [{tag: image.tag}]}"},
		{ofItsOwn, "both refuse", "helm: {images: [{tag: /a~2}]}"},
		{ofItsOwn, "both refuse", "helm: {images: [{name: x}]}"},
		{ofItsOwn, "both refuse", "helm: {images: [{repository: /a}]}"},
		{ofItsOwn, "both refuse", "helm: {images: [{reference: /a, tag: /b}]}"},
		{ofItsOwn, "both refuse", "helm: {images: [{reference: /a, repository: /b}]}"},

		{atRoot, "reader refuses", "roots: [a/../b]"},
		{atRoot, "reader refuses", "environments: {\"prod-*\": {rank: 50}}"},
		{atRoot, "reader refuses", "environments: {\"[\": {}}"},
		{atRoot, "reader refuses", "environments: {prod: {rank: 010}}"},
		{atRoot, "reader refuses", "environments: {prod: {rank: 5.0}}"},
		{atRoot, "reader refuses", "environments: {prod: {soak: 99999999999h}}"},
		{atRoot, "reader refuses", "environments: {prod: {approvals: {expire_after: 0s}}}"},
		{atRoot, "reader refuses", "environments: {prod: {registries: {a: x, b: x}}}"},
		{atRoot, "reader refuses", "environments: {prod: &a {}, dev: *a}"},
		{atRoot, "reader refuses", "environments: {prod: !!map {}}"},
		{atRoot, "reader refuses", "windows: [{name: n, kind: deny, schedule: 0 9 31 2 *, duration: 8h, timezone: UTC}]"},
		{atRoot, "reader refuses", "windows: [{name: n, kind: deny, schedule: 0 99 * * *, duration: 8h, timezone: UTC}]"},
		{atRoot, "reader refuses", "windows: [{name: n, kind: deny, schedule: 0 9 * * *, duration: 745h, timezone: UTC}]"},
		{atRoot, "reader refuses", "windows: [{name: n, kind: deny, schedule: 0 9 * * *, duration: 8h, timezone: Mars}]"},
		{atRoot, "reader refuses", "windows: [{" + soundWindow + ", clusters: [\"[\"]}]"},
		{ofItsOwn, "reader refuses", "environments: {prod: {merge: automatic}}"},
		{ofItsOwn, "reader refuses", "helm: {chart: ../x}"},
		{ofItsOwn, "reader refuses", "helm: {values: [../../../x]}"},
	} {
		t.Run(c.file+" "+c.text, func(t *testing.T) {
			t.Parallel()
			bySchema := schemas[c.file].Validate(asJSON(t, c.text)) == nil
			_, err := policy.Reader{}.Parse(promotion.PolicyFiles{c.file: c.text})
			got := map[[2]bool]string{{true, true}: "both accept", {false, false}: "both refuse", {true, false}: "reader refuses", {false, true}: "schema refuses"}[[2]bool{bySchema, err == nil}]
			if got != c.verdict {
				t.Errorf("%s, want: %s (%v)", got, c.verdict, err)
			}
		})
	}
}

func TestTheSchemasKnowEveryKey(t *testing.T) {
	t.Parallel()
	schemas := schemas(t)
	_, files := archive(t, "testdata/example.txtar")
	for file, text := range files {
		schema := schemas[atRoot]
		if strings.Contains(file, "/") {
			schema = schemas[ofItsOwn]
		}
		if err := schema.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, gate := range gatesOfTheDomain(t) {
		text := "environments: {prod: {gates: {" + gate + ": report}}}\nloosen: [gates." + gate + "]\n"
		if err := schemas[atRoot].Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: %v", gate, err)
		}
	}
}
