package policy

import (
	"cmp"
	"errors"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/sluicehq/sluice/internal/window"
)

// selected is a sync window for the targets that its selectors match; one that a file does not give selects all.
type selected struct {
	window.Window
	applications, environments, clusters []string // names or patterns
}

// memberOf tells which member of a window a fault is about.
var memberOf = map[string]string{
	window.BadName: "name", window.BadKind: "kind", window.BadSchedule: "schedule", window.NeverFires: "schedule",
	window.BadDuration: "duration", window.BadTimezone: "timezone",
}

// windows reads a list of sync windows, which may be empty.
func (f field) windows(selectors ...string) []selected {
	if !f.is(yaml.SequenceNode, "!!seq", "a list") {
		return nil
	}
	var windows []selected
	for i := range f.node.Content {
		windows = append(windows, f.item(i).window(selectors))
	}
	return windows
}

func (f field) window(selectors []string) selected {
	texts, lines, unread := map[string]string{}, map[string]int{}, map[string]bool{}
	patterns := map[string][]string{}
	for _, m := range f.members(append([]string{"name", "kind", "schedule", "duration", "timezone"}, selectors...)...) {
		lines[m.name] = m.node.Line
		if slices.Contains(selectors, m.name) {
			patterns[m.name], _ = m.texts(field.pattern)
			continue
		}
		text, ok := m.text()
		texts[m.name], unread[m.name] = text, !ok
	}
	s := selected{applications: patterns["applications"], environments: patterns["environments"], clusters: patterns["clusters"]}
	if f.node.Kind != yaml.MappingNode {
		return s // which members has noted
	}
	compiled, err := window.Compile([]window.Spec{{Name: texts["name"], Kind: window.Kind(texts["kind"]),
		Schedule: texts["schedule"], Duration: texts["duration"], Timezone: texts["timezone"]}})
	var faults window.Errors
	if !errors.As(err, &faults) {
		s.Window = compiled[0]
	}
	for _, fault := range faults {
		member := memberOf[fault.Code]
		if !unread[member] {
			f.source.fault(cmp.Or(lines[member], f.node.Line), fault.Code, "%s: %s", f.path, fault.Reason)
		}
	}
	return s
}
