package policy

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Reader reads the policy files of config repositories.
type Reader struct{}

var _ promotion.Policies = Reader{}

// Parse implements promotion.Policies. Faults come by file, the root's first, and by line.
func (Reader) Parse(files promotion.PolicyFiles) (promotion.Rules, error) {
	root := newSource(File)
	r := &rules{rootFile: readRoot(root, files[File]), own: map[string]application{}}
	faults := root.sorted()
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if file == File {
			continue
		}
		s := newSource(file)
		name, ok := r.applicationOf(file)
		switch _, taken := r.own[name]; {
		case !ok && len(root.faults) > 0:
			readApplication(s, files[file]) // whose it is, the root's file would have to say
		case !ok:
			s.fault(0, UnexpectedFile, "a policy file stands at the root of the repository or in an application's folder, and no root of applications is above this one")
		case taken:
			s.fault(0, SameApplication, "another root has an application %s too: their policies could not be told apart; rename one", cut(name))
		default:
			r.own[name] = readApplication(s, files[file])
		}
		// Held against a root's file of which a part could not be read, an application would be blamed for the root's faults.
		if ok && len(root.faults) == 0 {
			r.checkLoosening(s, name)
		}
		faults = append(faults, s.sorted()...)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return r, nil
}

func (s *source) sorted() promotion.PolicyFaults {
	slices.SortStableFunc(s.faults, func(a, b promotion.PolicyFault) int { return cmp.Compare(a.Line, b.Line) })
	return s.faults
}
