package argocd

import (
	"fmt"
	"slices"
)

// Selector is a label selector whose values may be anything, a URL too.
type Selector struct {
	MatchLabels      map[string]string `json:"matchLabels"`
	MatchExpressions []Expression      `json:"matchExpressions"`
}

// Expression is one condition of a selector.
type Expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"` // In, NotIn, Exists, DoesNotExist
	Values   []string `json:"values"`
}

func (s *Selector) empty() bool {
	return s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// matches has an empty selector match everything.
func (s *Selector) matches(labels map[string]string) (bool, error) {
	if s == nil {
		return true, nil
	}
	for key, want := range s.MatchLabels {
		if got, there := labels[key]; !there || got != want {
			return false, nil
		}
	}
	for _, e := range s.MatchExpressions {
		value, there := labels[e.Key]
		var ok bool
		switch e.Operator {
		case "In":
			ok = there && slices.Contains(e.Values, value)
		case "NotIn":
			ok = !there || !slices.Contains(e.Values, value)
		case "Exists":
			ok = there
		case "DoesNotExist":
			ok = !there
		default:
			return false, fmt.Errorf("the selector has the unknown operator %q", e.Operator)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}
