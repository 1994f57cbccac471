package lint

import (
	"slices"

	"github.com/sluicehq/sluice/internal/argocd"
)

// applicationKey tells Applications apart.
type applicationKey struct {
	namespace, name string
	argocd.Place
}

func keyOf(a argocd.Application) applicationKey { return applicationKey{a.Namespace, a.Name, a.Place} }

// links are the Applications by the folders that they deploy. When nobody said
// at which address the repository is, each address that an Application names
// may be it: the folders decide.
func (in Input) links() map[string][]argocd.Linked {
	if in.RepositoryURL != "" {
		return argocd.Link(in.Applications, in.RepositoryURL, in.Branch)
	}
	all := map[string][]argocd.Linked{}
	for _, a := range in.Applications {
		for _, s := range a.Sources {
			for folder, links := range argocd.Link([]argocd.Application{a}, s.RepoURL, in.Branch) {
				for _, l := range links {
					if !slices.ContainsFunc(all[folder], func(o argocd.Linked) bool { return keyOf(o.Application) == keyOf(a) }) {
						all[folder] = append(all[folder], l)
					}
				}
			}
		}
	}
	return all
}

// aboutApplication makes a finding at a line of an Application's source. What
// an ApplicationSet gives all its Applications is one finding about the set.
func (r *repository) aboutApplication(a argocd.Application, line int, message string) Finding {
	f := Finding{File: a.File, Line: max(1, line), Object: "Application " + a.Name, Message: message, Targets: r.deploys[keyOf(a)]}
	if a.From != nil {
		f.Object = "ApplicationSet " + a.From.ApplicationSet
	}
	return f
}

// eachApplication makes a rule of a look at one Application of a target.
func eachApplication(look func(*repository, *target, argocd.Application) []Finding) func(*repository) []Finding {
	return func(r *repository) []Finding {
		var found []Finding
		for _, t := range r.targets {
			for _, a := range t.applications {
				found = append(found, look(r, t, a.Application)...)
			}
		}
		return found
	}
}
