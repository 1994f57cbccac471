package drift

import (
	"slices"
	"strings"
	"time"
)

// Owner is who wrote a field last, as managedFields name them. They name programs and no people: this is no audit.
type Owner struct {
	Manager   string
	Operation string // Apply or Update
	Sub       string // the subresource that was written, such as scale
	At        time.Time
}

// owner is one entry of managedFields.
type owner struct {
	Owner
	fields map[string]any
}

type owners []owner

func ownersOf(live map[string]any) owners {
	metadata, _ := live["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	var all owners
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		text := func(name string) string { s, _ := entry[name].(string); return s }
		fields, _ := entry["fieldsV1"].(map[string]any)
		at, _ := time.Parse(time.RFC3339, text("time")) // zero where it is missing, as of kubectl scale
		all = append(all, owner{Owner{text("manager"), text("operation"), text("subresource"), at}, fields})
	}
	return all
}

// of is who owns a field, or something below it: somebody else before the engine, the newest first. The zero value is nobody.
func (o owners) of(p Path) Owner {
	var holding []Owner
	for _, entry := range o {
		if entry.owns(p) {
			holding = append(holding, entry.Owner)
		}
	}
	if len(holding) == 0 {
		return Owner{}
	}
	return foremost(holding)
}

func foremost(all []Owner) Owner {
	return slices.MaxFunc(all, func(a, b Owner) int {
		if a.isEngine() != b.isEngine() {
			if a.isEngine() {
				return -1
			}
			return 1
		}
		return a.At.Compare(b.At)
	})
}

// newest is who wrote to the object last, its status apart.
func (o owners) newest() Owner {
	var all []Owner
	for _, entry := range o {
		if entry.Sub != "status" {
			all = append(all, entry.Owner)
		}
	}
	if len(all) == 0 {
		return Owner{}
	}
	return slices.MaxFunc(all, func(a, b Owner) int { return a.At.Compare(b.At) })
}

// owns tells whether an entry has a field as its own: it or something below it is listed.
func (e owner) owns(p Path) bool {
	fields := e.fields
	for i, element := range p {
		next, there := fields[element].(map[string]any)
		if !there {
			return i > 0 && len(fields) == 0 // a list or map that is replaced whole names nothing below itself
		}
		fields = next
	}
	return true
}

// listKeys are the keys by which managedFields tell a list's elements apart; nil when none does.
func (o owners) listKeys(p Path) []string {
	for _, entry := range o {
		fields := entry.fields
		for _, element := range p {
			fields, _ = fields[element].(map[string]any)
		}
		for element := range fields {
			text, ok := strings.CutPrefix(element, "k:")
			if !ok {
				continue
			}
			var names []string
			for name := range keysIn(text) {
				names = append(names, name)
			}
			slices.Sort(names)
			return names
		}
	}
	return nil
}

// leaves visits the outermost fields of an entry that are fields of its own, and stops below where visit says so.
func (e owner) leaves(visit func(Path) (done bool)) { leavesOf(nil, e.fields, visit) }

func leavesOf(p Path, fields map[string]any, visit func(Path) bool) {
	_, itself := fields["."]
	itself = itself && !p.isOpen()
	if len(p) > 0 && (itself || len(fields) == 0) && visit(p) {
		return
	}
	for element, below := range fields {
		if inner, ok := below.(map[string]any); ok && element != "." {
			leavesOf(p.add(element), inner, visit)
		}
	}
}
