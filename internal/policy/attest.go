package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// attestable are the subjects that a policy can ask for. Data are asked for wherever there is a database.
var attestable = []promotion.Subject{promotion.SubjectMessages, promotion.SubjectCaches, promotion.SubjectSideEffects}

// attest is a list of what has to be attested; one that lacks something is looser. Without an entry nothing has to be.
func attest(key string) setting {
	return setting{
		key: key,
		show: func(p *promotion.EnvironmentPolicy) string {
			return "[" + strings.Join(words(p.Attest), ", ") + "]"
		},
		read: func(f field) (value, bool) {
			subjects, ok := f.subjects()
			return value{
				set: func(p *promotion.EnvironmentPolicy) { p.Attest = slices.Clone(subjects) },
				looser: func(than *promotion.EnvironmentPolicy) bool {
					return slices.ContainsFunc(than.Attest, func(s promotion.Subject) bool { return !slices.Contains(subjects, s) })
				},
				text: "[" + strings.Join(words(subjects), ", ") + "]",
			}, ok
		},
	}
}

// subjects reads a list of them, which may be empty. It is never nil.
func (f field) subjects() ([]promotion.Subject, bool) {
	if !f.is(yaml.SequenceNode, "!!seq", "a list") {
		return nil, false
	}
	subjects := []promotion.Subject{}
	if len(f.node.Content) == 0 {
		return subjects, true
	}
	texts, ok := f.texts(func(f field) (string, bool) { return f.choice(words(attestable)...) })
	for _, text := range texts {
		subjects = append(subjects, promotion.Subject(text))
	}
	return subjects, ok
}
