package promotion

import (
	"strings"

	"github.com/sluicehq/sluice/internal/rollback"
)

// RollbackChecks are the words for the checks of the gate rollback-safe, in their usual order.
func RollbackChecks() []string {
	var all []string
	for _, check := range (rollback.Predicates{}).All() {
		all = append(all, check.Word)
	}
	return all
}

// checkModes are the modes of the checks as a verdict weighs them. What is enforced goes without saying.
func (p EnvironmentPolicy) checkModes() map[string]rollback.Mode {
	var modes map[string]rollback.Mode
	for _, check := range (rollback.Predicates{}).All() {
		if m := p.CheckMode(check.Word); m != Enforce {
			if modes == nil {
				modes = map[string]rollback.Mode{}
			}
			modes[check.Name] = rollback.Mode(m)
		}
	}
	return modes
}

// checked is what one check found, as far as its mode lets that hold something, and otherwise a sentence about it.
func (p EnvironmentPolicy) checked(check string, found GateResult) (holds GateResult, said string) {
	switch p.CheckMode(check) {
	case Off:
		return pass(""), offByPolicy(check)
	case Report:
		if found.Verdict != Pass {
			said = reportedOnly(check) + strings.TrimSuffix(found.Reason, ".") + "."
		}
		return pass(""), said
	}
	return found, ""
}

func offByPolicy(check string) string  { return " The check " + check + " is off by policy." }
func reportedOnly(check string) string { return " The check " + check + " is only reported: " }

// leftOut says which checks of a verdict hold nothing, and what those found that are only reported.
func leftOut(v rollback.Verdict) string {
	var b strings.Builder
	for _, check := range v.Predicates.All() {
		switch {
		case check.Mode == rollback.ModeOff:
			b.WriteString(offByPolicy(check.Word))
		case check.Mode == rollback.ModeReport && len(check.Reasons) > 0:
			b.WriteString(reportedOnly(check.Word) + string(check.Value) + ".")
			for _, reason := range check.Reasons {
				b.WriteString(" " + rollback.Explain(reason))
			}
		}
	}
	return b.String()
}
