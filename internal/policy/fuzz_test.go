package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

// FuzzParse holds that files are accepted or refused with reasons, that the same files always mean the same, and that an
// application's file which is accepted makes nothing looser where the root does not let it.
func FuzzParse(f *testing.F) {
	_, example := archive(f, "testdata/example.txtar")
	f.Add(example["sluice.yaml"], example["apps/web/sluice.yaml"])
	f.Add(example["sluice.yaml"], example["infra/ingress/sluice.yaml"])
	_, faults := archive(f, "testdata/faults/root.txtar")
	f.Add(faults["sluice.yaml"], "environments: {\"*\": {soak: 1h}}")
	f.Add("environments: {\"p*\": {approvals: {count: 2}}}", "environments: {prod: &a {}, dev: *a}")
	f.Add("", "---\n---\n")
	f.Fuzz(func(t *testing.T, root, own string) {
		files := promotion.PolicyFiles{"sluice.yaml": root, "apps/web/sluice.yaml": own}
		rules, err := policy.Reader{}.Parse(files)
		again, same := policy.Reader{}.Parse(files)
		if fmt.Sprint(err) != fmt.Sprint(same) {
			t.Fatalf("the same files are refused with %v and with %v", err, same)
		}
		var faults promotion.PolicyFaults
		if err != nil {
			if !errors.As(err, &faults) || len(faults) == 0 || rules != nil {
				t.Fatalf("got rules %v with error %v", rules, err)
			}
			return
		}
		without, err := policy.Reader{}.Parse(promotion.PolicyFiles{"sluice.yaml": root})
		if err != nil {
			t.Fatalf("without the application's file: %v", err)
		}
		mayLoosen := strings.Contains(root, "loosen") || strings.Contains(root, `\`) // the key may be written with escapes
		for _, environment := range []string{"dev", "staging", "prod", "prod-eu", "x"} {
			p := rules.For(target("web", environment))
			if !cmp.Equal(p, again.For(target("web", environment))) {
				t.Fatalf("the same files mean two things in %s", environment)
			}
			if p.Approvals > 0 && len(p.ApproverRoles) == 0 {
				t.Fatalf("nobody may approve in %s", environment)
			}
			if field := looserField(without.For(target("web", environment)), p); field != "" && !mayLoosen {
				t.Fatalf("%s is looser in %s", field, environment)
			}
		}
	})
}
