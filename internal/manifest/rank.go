package manifest

import "strings"

// Ranks of environments, from first to last on a release's way. They leave
// room for what a policy puts in between.
const (
	RankDevelopment = 10
	RankTest        = 20
	RankStaging     = 30
	RankUnknown     = 40
	RankProduction  = 50
)

var rankNames = map[string]int{
	"dev": RankDevelopment, "develop": RankDevelopment, "development": RankDevelopment,
	"local": RankDevelopment, "sandbox": RankDevelopment, "preview": RankDevelopment,
	"test": RankTest, "testing": RankTest, "tst": RankTest, "qa": RankTest, "ci": RankTest,
	"integration": RankTest, "int": RankTest, "sit": RankTest, "e2e": RankTest,
	"staging": RankStaging, "stage": RankStaging, "stg": RankStaging, "uat": RankStaging,
	"preprod": RankStaging, "preproduction": RankStaging, "acceptance": RankStaging, "acc": RankStaging,
	"prod": RankProduction, "production": RankProduction, "prd": RankProduction, "live": RankProduction,
}

// Rank orders environments by well-known names: development < test < staging <
// production. Other words in the name do not count, so prod-eu and eu-prod2
// share the rank of prod; pre-prod and non-prod are staging. A name that says
// nothing ranks after staging and before production: it then waits for what
// was verified before, and production waits for it. Where several words are
// known, the last in order counts, which is the more careful reading.
func Rank(environment string) int {
	name := strings.ToLower(environment)
	for _, prefix := range []string{"pre", "non"} {
		for _, dash := range []string{"-", "_", "."} {
			name = strings.ReplaceAll(name, prefix+dash+"prod", "preprod")
		}
		name = strings.ReplaceAll(name, prefix+"prod", "preprod")
	}
	best := 0
	for _, word := range strings.FieldsFunc(name, isWordBreak) {
		best = max(best, rankNames[strings.TrimRight(word, "0123456789")], rankNames[word])
	}
	if best == 0 {
		return RankUnknown
	}
	return best
}

func isWordBreak(r rune) bool { return strings.ContainsRune("-_./ ", r) }
