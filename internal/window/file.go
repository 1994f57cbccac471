package window

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Parse reads a windows file, {"windows": [...]} as YAML or JSON. Any fault is
// an Errors that names all of them; no window is used without the others.
func Parse(data []byte) ([]Window, error) {
	var file struct {
		Windows *[]map[string]any `json:"windows"`
	}
	if severalDocuments(data) {
		return nil, badFile("the file holds more than one YAML document")
	}
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return nil, badFile(err.Error())
	}
	if file.Windows == nil {
		return nil, badFile(`the file has no member "windows" with a list`)
	}
	var errs Errors
	var windows []Window
	for i, members := range *file.Windows {
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
	known := []string{"name", "kind", "schedule", "duration", "timezone"}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(known, member) {
			errs = append(errs, Error{Code: BadFile, Window: w.Name,
				Reason: "unknown member " + quote(member) + "; a window has " + strings.Join(known, ", ")})
		}
	}
	return w, errs
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
