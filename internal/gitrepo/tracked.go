package gitrepo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// tracked are the base branch and Sluice's own ones.
func (m *Mirror) tracked(advertised *packp.AdvRefs) (refs, error) {
	tracked := refs{}
	var others []string
	for name, hash := range advertised.References {
		ref := plumbing.ReferenceName(name)
		switch {
		case ref.Validate() != nil:
		case ref == m.base || strings.HasPrefix(name, ownBranches):
			tracked[ref] = hash
		case ref.IsBranch():
			others = append(others, ref.Short())
		}
	}
	if _, there := tracked[m.base]; !there && len(tracked)+len(others) > 0 {
		return nil, m.noBase(others, advertised.Capabilities.Get(capability.SymRef))
	}
	return tracked, nil
}

// noBase says which branches there are instead, the remote's default first.
func (m *Mirror) noBase(others, links []string) error {
	const enough = 10
	slices.Sort(others)
	for _, link := range links {
		name, found := strings.CutPrefix(link, "HEAD:refs/heads/")
		if i := slices.Index(others, name); found && i >= 0 {
			others = slices.Insert(slices.Delete(others, i, i+1), 0, name+" (its default)")
		}
	}
	if more := len(others) - enough; more > 0 {
		others = append(others[:enough], fmt.Sprintf("%d more", more))
	}
	there := strings.Join(others, ", ")
	if there == "" {
		there = "only Sluice's own"
	}
	return fmt.Errorf("it has no branch %s: set this repository's base branch to one that it has (%s)", m.base.Short(), there)
}
