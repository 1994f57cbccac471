package policy_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestMergeMethod(t *testing.T) {
	t.Parallel()
	const root = "environments: {\"*\": {merge_method: squash}, prod: {merge_method: rebase}}\n"
	for _, tt := range []struct {
		name, root, own, environment string
		want                         promotion.MergeMethod
		faults                       []string // nil: none
	}{
		{name: "nothing said", environment: "prod"},
		{name: "by pattern", root: root, environment: "dev", want: promotion.MergeSquash},
		{name: "by name", root: root, environment: "prod", want: promotion.MergeRebase},
		{name: "for an application", root: root + "applications: {web: {environments: {prod: {merge_method: merge}}}}\n", environment: "prod", want: promotion.MergeCommit},
		{name: "the same in its own file", root: root, own: "environments: {prod: {merge_method: rebase}}\n", environment: "prod", want: promotion.MergeRebase},
		{name: "another in its own file", root: root, own: "environments: {prod: {merge_method: merge}}\n",
			faults: []string{"merge is looser than the root's policy for prod, which has rebase", "add merge_method to the list loosen"}},
		{name: "only in its own file", own: "environments: {prod: {merge_method: merge}}\n", faults: []string{"which has that of the repository's configuration"}},
		{name: "another that is let", root: root + "loosen: [merge_method]\n", own: "environments: {prod: {merge_method: merge}}\n", environment: "prod", want: promotion.MergeCommit},
		{name: "none that there is", root: "environments: {prod: {merge_method: sqash}}\n", faults: []string{"must be merge, squash or rebase", `did you mean "squash"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := promotion.PolicyFiles{"sluice.yaml": tt.root}
			if tt.own != "" {
				files["apps/web/sluice.yaml"] = tt.own
			}
			rules, err := policy.Reader{}.Parse(files)
			if (err != nil) != (tt.faults != nil) {
				t.Fatal(err)
			}
			for _, part := range tt.faults {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
			if err != nil {
				return
			}
			if got := rules.For(promotion.Target{Application: "web", Environment: tt.environment}).MergeMethod; got != tt.want {
				t.Errorf("merged by %q, want %q", got, tt.want)
			}
		})
	}
}
