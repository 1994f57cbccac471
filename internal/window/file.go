package window

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Parse reads a windows file, {"windows": [...]} as YAML or JSON, or the windows
// of a policy file, which may have none. Whatever else stands in a policy file,
// and which targets a window selects, is not looked at. Any fault is an Errors
// that names all of them; no window is used without the others.
func Parse(data []byte) ([]Window, error) {
	list, err := windowsIn(data)
	if err != nil {
		return nil, err
	}
	var errs Errors
	var windows []Window
	for i, members := range list {
		w, faults := readWindow(members)
		for _, fault := range faults {
			if strings.TrimSpace(fault.Window) == "" {
				fault.Window = fmt.Sprintf("windows[%d]", i)
			}
			errs = append(errs, fault)
		}
		windows = append(windows, w)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return windows, nil
}

// policyMembers are what a policy file, sluice.yaml, may have beside its windows.
var policyMembers = []string{"version", "roots", "environments", "applications", "loosen", "helm"}

func windowsIn(data []byte) ([]map[string]any, error) {
	if severalDocuments(data) {
		return nil, badFile("the file holds more than one YAML document")
	}
	var file map[string]any
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return nil, badFile(err.Error())
	}
	for _, member := range slices.Sorted(maps.Keys(file)) {
		if member != "windows" && !slices.Contains(policyMembers, member) {
			return nil, badFile("unknown member " + quote(member) + "; a file has windows, and a policy file also " + strings.Join(policyMembers, ", "))
		}
	}
	value, present := file["windows"]
	if !present && len(file) > 0 {
		return nil, nil
	}
	items, ok := value.([]any)
	if !ok {
		return nil, badFile(`the file has no member "windows" with a list`)
	}
	list := make([]map[string]any, len(items))
	for i, item := range items {
		if list[i], ok = item.(map[string]any); !ok {
			return nil, badFile(fmt.Sprintf("windows[%d] is no window with name, kind, schedule, duration and timezone", i))
		}
	}
	return list, nil
}

func badFile(reason string) Errors {
	return Errors{{Code: BadFile, Reason: reason}}
}

// readWindow takes the members as texts only: a number or a truth value there
// is a slip that YAML makes easy (8:00, yes), not a value to guess at.
func readWindow(members map[string]any) (Window, Errors) {
	notText := map[string]string{} // by the code that the missing text will be reported under
	text := func(member, code string) string {
		value, present := members[member]
		text, ok := value.(string)
		if present && !ok {
			notText[code] = member + " must be a text: put it in quotes"
		}
		return text
	}
	w, errs := compile(Spec{
		Name:     text("name", BadName),
		Kind:     Kind(text("kind", BadKind)),
		Schedule: text("schedule", BadSchedule),
		Duration: text("duration", BadDuration),
		Timezone: text("timezone", BadTimezone),
	})
	for i, fault := range errs {
		if reason, ok := notText[fault.Code]; ok {
			errs[i].Reason = reason
		}
	}
	known := []string{"name", "kind", "schedule", "duration", "timezone", "applications", "environments", "clusters"}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		reason := ""
		switch i := slices.Index(known, member); {
		case i < 0:
			reason = "unknown member " + quote(member) + "; a window has " + strings.Join(known, ", ")
		case i >= selectors && !isTexts(members[member]):
			reason = member + " must be a list of names or patterns"
		}
		if reason != "" {
			errs = append(errs, Error{Code: BadFile, Window: w.Name, Reason: reason})
		}
	}
	return w, errs
}

// selectors is how many members a window has before those that select targets.
const selectors = 5

func isTexts(value any) bool {
	items, ok := value.([]any)
	noText := func(item any) bool { _, isText := item.(string); return !isText }
	return ok && len(items) > 0 && !slices.ContainsFunc(items, noText)
}

// severalDocuments looks for a document mark after the first content: the
// decoder would read the first document and drop the others unseen.
func severalDocuments(data []byte) bool {
	content := false
	for line := range bytes.Lines(data) {
		text := string(bytes.TrimRight(line, " \t\r\n"))
		mark := text == "---" || strings.HasPrefix(text, "--- ") || text == "..."
		switch {
		case mark && content:
			return true
		case !mark && text != "" && !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "%"):
			content = true
		}
	}
	return false
}
