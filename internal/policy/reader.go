package policy

import (
	"cmp"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

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
	for _, f := range readApplications(files) {
		name, ok := r.applicationOf(f.path)
		switch _, taken := r.own[name]; {
		case len(root.faults) > 0:
			// Whose the file is, and whether it is too loose, is for the root's file to say.
		case !ok:
			f.fault(0, UnexpectedFile, "a policy file stands at the root of the repository or in an application's folder, and no root of applications is above this one")
		case taken:
			f.fault(0, SameApplication, "another root has an application %s too: their policies could not be told apart; rename one", cut(name))
		default:
			r.own[name] = f.application
			r.checkLoosening(f.source, name)
		}
		faults = append(faults, f.sorted()...)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return r, nil
}

// applicationFile is an application's file as it was read.
type applicationFile struct {
	*source
	application
}

// readApplications reads all files but the root's, by name. Nearly all the time goes into YAML, so they are read side by side.
func readApplications(files promotion.PolicyFiles) []applicationFile {
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(path string) bool { return path == File })
	read := make([]applicationFile, len(paths))
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range paths {
		all.Go(func() error {
			s := newSource(path)
			read[i] = applicationFile{s, readApplication(s, files[path])}
			return nil
		})
	}
	_ = all.Wait() // none fails: what is wrong is in the sources
	return read
}

func (s *source) sorted() promotion.PolicyFaults {
	slices.SortStableFunc(s.faults, func(a, b promotion.PolicyFault) int { return cmp.Compare(a.Line, b.Line) })
	return s.faults
}
