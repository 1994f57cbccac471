package fakegithub

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// review is a person's.
type review struct {
	id                     int
	by, state, said, head  string
	at                     time.Time
	dismissedBy, dismissed string // who, and what it was; empty while it holds
	pushed                 string // the commit that dismissed it
}

// Review has a person review a pull request as it is: APPROVED, CHANGES_REQUESTED or COMMENTED.
func (s *Server) Review(number int, person, state, said string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	p := s.pulls[number-1]
	s.lastID++
	p.reviews = append(p.reviews, &review{id: s.lastID, by: person, state: state, said: said, head: p.head, at: time.Now()})
}

// Dismiss has a person dismiss another one's newest review.
func (s *Server) Dismiss(number int, person, of string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var newest *review
	for _, r := range s.pulls[number-1].reviews {
		if r.by == of {
			newest = r
		}
	}
	newest.dismiss(person, "")
}

// DismissStale has GitHub dismiss approvals after a push, as branch protection may ask it to.
func (s *Server) DismissStale() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dismissStale = true
}

func (r *review) dismiss(by, pushed string) {
	r.dismissedBy, r.dismissed, r.pushed, r.state = by, strings.ToLower(r.state), pushed, "DISMISSED"
}

// outdate dismisses the approvals of a head that was pushed over.
func (s *Server) outdate(p *pull) {
	for _, r := range p.reviews {
		if s.dismissStale && r.state == "APPROVED" {
			r.dismiss("pat", p.head)
		}
	}
}

func (s *Server) listReviews(w http.ResponseWriter, r *http.Request, p *pull) {
	list := []object{}
	for _, review := range p.reviews {
		o := s.examples("pull-request-review-items")[0]
		o["id"], o["user"], o["state"], o["body"], o["commit_id"], o["submitted_at"] = review.id, s.user(review.by), review.state, review.said, review.head, stamp(review.at)
		list = append(list, o)
	}
	s.page(w, r, list)
}

func (s *Server) listEvents(w http.ResponseWriter, r *http.Request, p *pull) {
	list := []object{}
	for _, review := range p.reviews {
		if review.dismissed == "" {
			continue
		}
		o := s.examples("issue-event-for-issue-items")[0]
		delete(o, "label")
		dismissed := object{"state": review.dismissed, "review_id": review.id, "dismissal_message": nil}
		if review.pushed != "" {
			dismissed["dismissal_commit_id"] = review.pushed
		} else {
			dismissed["dismissal_message"] = "not any more"
		}
		o["id"], o["event"], o["actor"], o["dismissed_review"] = 1000+review.id, "review_dismissed", s.user(review.dismissedBy), dismissed
		o["commit_id"], o["commit_url"] = nil, nil
		list = append(list, o)
	}
	s.page(w, r, list)
}

// examples are those of a list.
func (s *Server) examples(name string) []object {
	var list []object
	if err := json.Unmarshal(s.description.examples[name], &list); err != nil {
		panic(err)
	}
	return list
}
