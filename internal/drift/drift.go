// Package drift finds where a live object differs from what Git says, field by field, and who owns each field. Pure
// functions over decoded objects: what reads the cluster and asks it for dry runs is elsewhere.
//
// Three sources are put together, since each alone is wrong. A dry-run apply tells what applying again would change, so that
// defaults and what an admission webhook decides are no drift. managedFields tell who wrote a field, and find what a person
// added that Git does not mention, which an apply leaves alone. The last-applied annotation tells what an apply wrote and Git
// no longer has.
package drift

import (
	"cmp"
	"slices"
	"strings"
)

// Class says what kind of writer is behind a difference.
type Class string

// The classes. Unknown is a writer that nothing is known of, or none that the object names.
const (
	Human      Class = "human"
	Autoscaler Class = "autoscaler"
	Webhook    Class = "webhook"
	Controller Class = "controller"
	Delivery   Class = "delivery-tool"
	Deleted    Class = "deleted"
	Extra      Class = "extra"
	Unknown    Class = "unknown"
)

// Pair is one object as it should be and as it is.
type Pair struct {
	Desired map[string]any // as rendered; nil: rendered no more
	Live    map[string]any // nil: not in the cluster
	// Applied is what a dry-run server-side apply of Desired would make of Live; nil when none could be asked for.
	Applied map[string]any
}

// Difference is one field, or a whole object when Path is empty, that is not as Git says.
type Difference struct {
	Path       Path
	Want, Have any // nil where there is none
	Owner      Owner
	Class      Class
	Excuse     string // why it does not count as drift; empty: it counts
	Finding    string // what is wrong with the rule that excuses it; empty: nothing
}

// Compare lists the differences of one object by path. rules are the ignoreDifferences that may excuse some.
func Compare(p Pair, rules []Rule) []Difference {
	switch {
	case p.Desired == nil && p.Live == nil:
		return nil
	case p.Desired == nil:
		return extra(p.Live)
	case p.Live == nil:
		return deleted(p.Desired)
	}
	c := comparison{Pair: p, owners: ownersOf(p.Live), found: map[string]Difference{}}
	c.Desired, c.Live, c.Applied = asStored(p.Desired), asStored(p.Live), asStored(p.Applied)
	c.valuesThatDiffer()
	c.whatApplyingWouldChange()
	c.removedFromGit()
	c.addedByOthers()
	for key, d := range c.found {
		c.found[key] = excused(d, p.Live, rules)
	}
	return sorted(c.found)
}

func extra(live map[string]any) []Difference {
	if strings.Contains(annotation(live, "argocd.argoproj.io/compare-options"), "IgnoreExtraneous") {
		return nil
	}
	return []Difference{{Have: identity(live), Class: Extra, Owner: ownersOf(live).newest()}}
}

func deleted(desired map[string]any) []Difference {
	if isHook(desired) {
		return nil
	}
	return []Difference{{Want: identity(desired), Class: Deleted}}
}

// isHook tells whether an object is run at a sync and may be gone afterwards.
func isHook(o map[string]any) bool {
	metadata, _ := o["metadata"].(map[string]any)
	_, generated := metadata["generateName"]
	return generated || annotation(o, "argocd.argoproj.io/hook") != "" || annotation(o, "helm.sh/hook") != ""
}

// identity is an object's name for people, since a whole object would hide what it is.
func identity(o map[string]any) string {
	metadata, _ := o["metadata"].(map[string]any)
	kind, _ := o["kind"].(string)
	name, _ := metadata["name"].(string)
	return kind + " " + name
}

func annotation(o map[string]any, name string) string {
	metadata, _ := o["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	text, _ := annotations[name].(string)
	return text
}

func sorted(found map[string]Difference) []Difference {
	all := make([]Difference, 0, len(found))
	for _, d := range found {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Difference) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
	return all
}
