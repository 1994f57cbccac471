package policy

import (
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// metric reads evidence that is a query with a threshold over a time.
func (f field) metric() (n promotion.NeededEvidence, ok bool) {
	before, limits := len(f.faults), 0
	for _, m := range f.members("metric", "query", "above", "below", "for") {
		switch m.name {
		case "metric":
			n.Name, _ = m.text()
		case "query":
			n.Threshold.Query, _ = m.text()
		case "above", "below":
			n.Threshold.Limit, _ = m.number()
			n.Threshold.Above = m.name == "above"
			limits++
		case "for":
			n.Threshold.For = m.someTime()
		}
	}
	switch {
	case len(f.faults) > before:
	case n.Threshold.Query == "":
		f.fault(BadValue, "has no query: say in PromQL what is measured, as one series")
	case limits != 1:
		f.fault(BadValue, "has %d limits: say either above or below", limits)
	case n.Threshold.For == 0:
		f.fault(BadValue, "has no time: say for how long until now, such as for: 30m")
	}
	return n, len(f.faults) == before
}

// isMetric tells by its key what an entry is.
func (f field) isMetric() bool {
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		if f.node.Content[i].Value == "metric" {
			return true
		}
	}
	return false
}

// numberForm are the numbers that mean the same to every reader of YAML.
var numberForm = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$`)

// number reads a decimal number.
func (f field) number() (float64, bool) {
	if f.node.Kind == yaml.ScalarNode && (f.node.ShortTag() == "!!int" || f.node.ShortTag() == "!!float") && numberForm.MatchString(f.node.Value) {
		v, err := strconv.ParseFloat(f.node.Value, 64)
		return v, err == nil
	}
	f.fault(BadValue, "must be a number such as 0.01 or 250, not %s", cut(f.node.Value))
	return 0, false
}
