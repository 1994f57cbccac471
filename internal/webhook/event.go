package webhook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Event says where to look now.
type Event struct {
	Host     string // the door it came through
	Delivery string // the host's id of it; the same when it is delivered again
	// Repository is owner/name as it is now, Formerly what it was before a rename or a
	// transfer that the event tells of, otherwise empty.
	Repository, Formerly string
	Sender               string // who did it, by the host's name
	// Refs may have moved, in full (refs/heads/main). Empty: not known.
	Refs []string
	// PullRequest is its number, 0 for an event that is not about one.
	PullRequest int
}

// payload is what matters of any event. Gitea's have the same fields.
type payload struct {
	Ref         string
	Number      int
	PullRequest struct {
		Number int
		Merged bool
		Head   struct{ Ref string }
		Base   struct{ Ref string }
	} `json:"pull_request"`
	Repository struct {
		Name     string
		FullName string `json:"full_name"`
	}
	Sender  struct{ Login string }
	Changes struct {
		Repository struct{ Name struct{ From string } }
		Owner      struct {
			From struct{ User, Organization struct{ Login string } }
		}
	}
}

// reduce reads an event of a kind. One that is not known, or lacks what it should
// have, is not an error: there is nothing to look at.
func reduce(kind string, body []byte) (e Event, known bool, err error) {
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		if _, odd := errors.AsType[*json.UnmarshalTypeError](err); !odd { // fields of another type stay empty
			return Event{}, false, fmt.Errorf("the body is not JSON: %w", err)
		}
	}
	e = Event{Repository: p.Repository.FullName, Sender: p.Sender.Login}
	owner, name, _ := strings.Cut(e.Repository, "/")
	if owner == "" || name == "" {
		return Event{}, false, nil
	}
	switch {
	case kind == "push":
		if p.Ref != "" {
			e.Refs = []string{p.Ref}
		}
	case strings.HasPrefix(kind, "pull_request"):
		e.PullRequest = max(cmp.Or(p.PullRequest.Number, p.Number), 0)
		e.Refs = p.moved()
	case kind == "repository":
		e.Formerly = p.formerly(owner, name)
	default:
		return Event{}, false, nil
	}
	return e, true, nil
}

// moved are the refs that an event of a pull request may tell of.
func (p payload) moved() (refs []string) {
	const heads = "refs/heads/"
	if head := p.PullRequest.Head.Ref; head != "" && !strings.HasPrefix(head, "refs/") { // Gitea's of a deleted branch
		refs = append(refs, heads+head)
	}
	if base := p.PullRequest.Base.Ref; base != "" && p.PullRequest.Merged {
		refs = append(refs, heads+base)
	}
	return refs
}

func (p payload) formerly(owner, name string) string {
	before := cmp.Or(p.Changes.Owner.From.User.Login, p.Changes.Owner.From.Organization.Login, owner) + "/" + cmp.Or(p.Changes.Repository.Name.From, name)
	if before == owner+"/"+name {
		return ""
	}
	return before
}
