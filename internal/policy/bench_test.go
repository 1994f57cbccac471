package policy_test

import (
	"fmt"
	"testing"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

// thousand are a root's file and those of 1,000 applications with three environments each.
func thousand(tb testing.TB) promotion.PolicyFiles {
	_, example := archive(tb, "testdata/example.txtar")
	files := promotion.PolicyFiles{"sluice.yaml": example["sluice.yaml"]}
	for i := range 1000 {
		files[fmt.Sprintf("apps/app-%03d/sluice.yaml", i)] = example["apps/web/sluice.yaml"]
	}
	return files
}

func BenchmarkParse(b *testing.B) {
	files := thousand(b)
	for b.Loop() {
		parse(b, files)
	}
}

func BenchmarkFor(b *testing.B) {
	rules := parse(b, thousand(b))
	at := target("app-500", "prod-eu")
	for b.Loop() {
		rules.For(at)
	}
}

func BenchmarkCollect(b *testing.B) {
	var files []string
	for name, text := range thousand(b) {
		files = append(files, name, text)
	}
	tree := tree(files...)
	for b.Loop() {
		if _, err := (policy.Reader{}).Collect(tree); err != nil {
			b.Fatal(err)
		}
	}
}
