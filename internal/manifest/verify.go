package manifest

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// verify holds an edit to its promise: every changed field is one of the
// images, or follows from one. It returns the goals that some field changed
// for; an image that has its target already proves nothing.
func verify(edit Edit, file string, goals []goal) (proven map[string]bool, err error) {
	changes := Diff(edit.Before, edit.After)
	v := verifier{goals: goals, old: map[string][]string{}, renamed: renames(edit)}
	for _, change := range changes {
		v.learn(change.old, change.new)
	}
	for _, r := range v.renamed {
		changes = append(changes, fieldChanges(r.old.ID, r.old.Content, r.new.Content)...)
	}
	for _, change := range changes {
		if !v.follows(change) {
			return nil, refuse(UnintendedChange, file, 0, "the edit would also change %s %s", change.Object, change.Path)
		}
	}
	proven = map[string]bool{}
	for name := range v.old {
		proven[name] = true
	}
	return proven, nil
}

type verifier struct {
	goals   []goal
	old     map[string][]string // references that changed, by the goal's name
	renamed []rename            // generated objects, whose names follow their content
}

// learn keeps what an image was before it became a goal's target.
func (v verifier) learn(old, new any) {
	for _, g := range v.goals {
		if text(new) == g.target.String() && splitReference(text(old)).repository == g.before {
			v.old[g.name] = append(v.old[g.name], text(old))
		}
	}
}

func (v verifier) follows(change Change) bool {
	if change.Action == Changed {
		return v.copies(change.old, change.new)
	}
	return slices.ContainsFunc(v.renamed, func(r rename) bool {
		return change.Object == r.old.ID || change.Object == r.new.ID
	})
}

// copies tells whether a changed field is an image that was to change, a copy
// of its reference, whole, in part or inside a longer text, or the name of a
// generated object that holds such a copy.
func (v verifier) copies(old, new any) bool {
	before, isText := old.(string)
	after, stays := new.(string)
	if !isText || !stays {
		return false
	}
	for _, g := range v.goals {
		target := g.target.String()
		for _, reference := range v.old[g.name] {
			if strings.ReplaceAll(before, reference, target) == after ||
				(strings.Contains(reference, before) && strings.Contains(target, after)) {
				return true
			}
		}
	}
	return slices.ContainsFunc(v.renamed, func(r rename) bool {
		return before == r.old.Name && after == r.new.Name
	})
}

// rename is a generated object before and after its content changed.
type rename struct{ old, new Object }

// hashSuffix is what kustomize appends to the names of generated ConfigMaps
// and Secrets, made from their content.
var hashSuffix = regexp.MustCompile(`-[0-9a-z]{10}$`)

// renames pairs generated objects whose names differ in the hash only.
func renames(edit Edit) []rename {
	stems := map[ID]Object{}
	after := map[ID]bool{}
	for _, object := range edit.After.Objects {
		after[object.ID] = true
		stems[stem(object.ID)] = object
	}
	var list []rename
	for _, old := range edit.Before.Objects {
		new, ok := stems[stem(old.ID)]
		if ok && !after[old.ID] && hashSuffix.MatchString(old.Name) {
			list = append(list, rename{old, new})
		}
	}
	return list
}

func stem(id ID) ID {
	id.Name = hashSuffix.ReplaceAllString(id.Name, "-")
	return id
}

// labelPath is where labels and selectors of them stand.
var labelPath = regexp.MustCompile(`(^|\.)(labels|matchLabels|selector)[.\[]`)

// checkLabels refuses an edit that puts what is no label value, such as a digest, into one: the cluster would not take it.
func checkLabels(edit Edit, file string) error {
	for _, change := range Diff(edit.Before, edit.After) {
		if labelPath.MatchString(change.Path) && len(validation.IsValidLabelValue(text(change.new))) > 0 {
			return refuse(UnintendedChange, file, 0, "the edit would put %s into the label %s of %s", change.New, change.Path, change.Object)
		}
	}
	return nil
}
