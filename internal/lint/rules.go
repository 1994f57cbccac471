package lint

// Rule is one thing that is looked for.
type Rule struct {
	Code  string // part of the contract: people write it in suppressions
	Level Level  // of its findings, where they do not say otherwise
	What  string // is found
	Why   string // it matters
	Mend  string

	run func(*repository) []Finding
}

// Rules lists all rules, in the order of the documentation.
func Rules() []Rule { return append(rules(), suppressionRules()...) }

func rules() []Rule {
	return []Rule{
		plaintextSecret(),
		movingTag(),
		replicasWithHPA(),
		respectIgnoreDifferences(),
		ignoreDifferencesTooWide(),
		ignoreDifferencesUnowned(),
		automatedProd(),
		defaultProjectProd(),
		serviceSelectsNothing(),
		servicePortMissing(),
		ingressPortMissing(),
		configKeyMissing(),
		configMissing(),
		configWithoutRollout(),
		objectTwice(),
		renderFailed(),
	}
}

// eachTarget makes a rule of a look at one rendered target.
func eachTarget(look func(*repository, *target) []Finding) func(*repository) []Finding {
	return func(r *repository) []Finding {
		var found []Finding
		for _, t := range r.targets {
			if t.refusal == nil {
				found = append(found, look(r, t)...)
			}
		}
		return found
	}
}
