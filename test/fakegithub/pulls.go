package fakegithub

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pull is a pull request against main.
type pull struct {
	number              int
	branch, head, base  string
	fork                string // who has it; empty for a branch of the repository
	draft               bool
	title, body, author string
	open                bool
	merge               string // empty when it is not merged
	mergedBy, closedBy  string
	comments            []*comment
	reviews             []*review
	created, at, closed time.Time
}

// look follows what happened in Git since the last call.
func (s *Server) look() {
	refs := s.git.must("for-each-ref", "refs/heads")
	if refs == s.refs {
		return
	}
	s.refs = refs
	for _, p := range s.pulls {
		if !p.open || p.fork != "" {
			continue
		}
		at := s.git.branch(p.branch)
		switch {
		case s.git.contains(p.base, p.head):
			s.end(p, s.git.broughtBy(p.head), "pat")
		case at == "":
			s.end(p, "", "pat")
		case at != p.head:
			p.head, p.at = at, time.Now()
			s.outdate(p)
			s.git.must("update-ref", p.ref(), at)
			if s.git.contains(Main, at) {
				s.end(p, "", "pat")
			}
		}
	}
}

// ref is where the repository has the head, also a fork's.
func (p *pull) ref() string { return fmt.Sprintf("refs/pull/%d/head", p.number) }

func (s *Server) end(p *pull, merge, by string) {
	p.open, p.merge, p.at, p.closed = false, merge, time.Now(), time.Now()
	if merge != "" {
		p.mergedBy = by
	}
	p.closedBy = by
}

// pull gives a handler the pull request that the path names.
func (s *Server) pull(handle func(http.ResponseWriter, *http.Request, *pull)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.Atoi(r.PathValue("number"))
		if err != nil || number < 1 || number > len(s.pulls) {
			problem(w, http.StatusNotFound, "Not Found")
			return
		}
		handle(w, r, s.pulls[number-1])
	}
}

func (s *Server) listPulls(w http.ResponseWriter, r *http.Request) {
	query, list := r.URL.Query(), []object{}
	for _, p := range s.pulls { // oldest first
		head, base, state := query.Get("head"), query.Get("base"), query.Get("state")
		if head != "" && head != cmp.Or(p.fork, Owner)+":"+p.branch || base != "" && base != p.base {
			continue
		}
		if state == "all" || (state == "closed") != p.open {
			list = append(list, s.simple(p))
		}
	}
	if query.Get("direction") != "asc" {
		slices.Reverse(list)
	}
	s.page(w, r, list)
}

func (s *Server) createPull(w http.ResponseWriter, r *http.Request) {
	asked := decode(r)
	branch, base := asked["head"].(string), asked["base"].(string)
	head := s.git.branch(branch)
	invalid := func(detail object) {
		detail["resource"] = "PullRequest"
		problem(w, http.StatusUnprocessableEntity, "Validation Failed", detail)
	}
	switch {
	case base != Main:
		invalid(object{"field": "base", "code": "invalid"})
	case head == "":
		invalid(object{"field": "head", "code": "invalid"})
	case slices.ContainsFunc(s.pulls, func(p *pull) bool { return p.open && p.branch == branch }):
		invalid(object{"code": "custom", "message": "A pull request already exists for " + Owner + ":" + branch + "."})
	case s.git.contains(Main, head):
		invalid(object{"code": "custom", "message": "No commits between " + Main + " and " + branch})
	default:
		p := s.add(&pull{author: Bot, branch: branch, head: head, base: base})
		p.title, _ = asked["title"].(string)
		p.body, _ = asked["body"].(string)
		answer(w, http.StatusCreated, s.full(p))
	}
}

// add gives a new pull request its number.
func (s *Server) add(p *pull) *pull {
	p.number, p.open, p.created, p.at = len(s.pulls)+1, true, time.Now(), time.Now()
	s.git.must("update-ref", p.ref(), p.head)
	s.pulls = append(s.pulls, p)
	return p
}

func (s *Server) getPull(w http.ResponseWriter, _ *http.Request, p *pull) {
	answer(w, http.StatusOK, s.full(p))
}

func (s *Server) editPull(w http.ResponseWriter, r *http.Request, p *pull) {
	asked := decode(r)
	if title, is := asked["title"].(string); is {
		p.title = title
	}
	if body, is := asked["body"].(string); is {
		p.body = body
	}
	if asked["state"] == "closed" && p.open {
		s.end(p, "", Bot)
	}
	p.at = time.Now()
	answer(w, http.StatusOK, s.full(p))
}

func (s *Server) mergePull(w http.ResponseWriter, r *http.Request, p *pull) {
	asked := decode(r)
	sha, method := asked["sha"], asked["merge_method"].(string)
	switch {
	case !p.open || p.base != Main:
		problem(w, http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case p.draft:
		problem(w, http.StatusMethodNotAllowed, "Pull Request is still a draft")
	case s.queue:
		problem(w, http.StatusMethodNotAllowed, "Repository rule violations found\n\nChanges must be made through the merge queue\n\n")
	case sha != nil && sha != p.head:
		problem(w, http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case s.git.mergedTree(p.base, p.head) == "":
		problem(w, http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case s.required != "" && s.statuses[p.head+s.required].State != "success":
		problem(w, http.StatusMethodNotAllowed, fmt.Sprintf("Required status check %q is expected.", s.required))
	default:
		message := strings.TrimSpace(fmt.Sprintf("%v\n\n%v", asked["commit_title"], asked["commit_message"]))
		s.end(p, s.git.merge(p.base, p.head, method, message), Bot)
		answer(w, http.StatusOK, object{"sha": p.merge, "merged": true, "message": "Pull Request successfully merged"})
	}
}
