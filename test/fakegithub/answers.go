package fakegithub

import (
	"fmt"
	"net/http"
)

// full is a pull request as its own call answers it.
func (s *Server) full(p *pull) object {
	o := s.facts(s.description.example("pull-request"), p)
	o["merged"], o["comments"], o["merged_by"] = p.merge != "", len(p.comments), nil
	o["mergeable"], o["mergeable_state"] = nil, "unknown"
	switch {
	case p.merge != "":
		o["merged_by"] = s.user(p.mergedBy)
	case p.open && s.git.mergedTree(p.base, p.head) == "":
		o["mergeable"], o["mergeable_state"] = false, "dirty"
	case p.open:
		o["mergeable"], o["mergeable_state"] = true, "clean"
	}
	return o
}

// simple is a pull request in a list, which says neither who merged it nor that.
func (s *Server) simple(p *pull) object {
	return s.facts(s.examples("pull-request-simple-items")[0], p)
}

func (s *Server) facts(o object, p *pull) object {
	o["number"], o["title"], o["body"], o["user"] = p.number, p.title, p.body, s.user(p.author)
	o["labels"], o["milestone"], o["assignee"], o["assignees"], o["requested_teams"], o["requested_reviewers"] = []any{}, nil, nil, []any{}, []any{}, []any{}
	o["url"] = fmt.Sprintf("%s/api/v3/repos/%s/%s/pulls/%d", s.URL, Owner, Repository, p.number)
	o["html_url"] = fmt.Sprintf("%s/%s/%s/pull/%d", s.URL, Owner, Repository, p.number)
	o["state"] = "open"
	if !p.open {
		o["state"] = "closed"
	}
	o["created_at"], o["updated_at"], o["closed_at"], o["merged_at"] = stamp(p.created), stamp(p.at), stamp(p.closed), nil
	o["merge_commit_sha"], o["draft"] = "e5bd3914e2e596debea16f433f57875b5b90bcd6", p.draft // a trial merge, on no branch
	if p.merge != "" {
		o["merge_commit_sha"], o["merged_at"] = p.merge, stamp(p.closed)
	}
	for side, at := range map[string][2]string{"head": {p.branch, p.head}, "base": {p.base, s.git.branch(p.base)}} {
		o := o[side].(object)
		o["ref"], o["sha"], o["label"] = at[0], at[1], Owner+":"+at[0]
	}
	if p.fork != "" {
		head := o["head"].(object)
		head["label"], head["user"] = p.fork+":"+p.branch, s.user(p.fork)
		head["repo"].(object)["id"] = 815
	}
	return o
}

// bot is the App's user.
func (s *Server) bot() object {
	u := s.user(Bot)
	u["type"] = "Bot"
	return u
}

// user is somebody with this login.
func (s *Server) user(login string) object {
	u := s.description.example("pull-request")["user"].(object)
	u["login"] = login
	return u
}

func (s *Server) getIssue(w http.ResponseWriter, _ *http.Request, p *pull) {
	o := s.description.example("issue")
	o["number"], o["title"], o["body"], o["comments"] = p.number, p.title, p.body, len(p.comments)
	o["state"], o["closed_by"], o["closed_at"] = "open", nil, stamp(p.closed)
	if !p.open {
		o["state"], o["closed_by"] = "closed", s.user(p.closedBy)
	}
	answer(w, http.StatusOK, o)
}

// Status is a commit status that was set.
type Status struct {
	State, Description, URL string
}

// Status is the newest status of a commit in a context.
func (s *Server) Status(sha, context string) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statuses[sha+context]
}

// Text is title and body of a pull request.
func (s *Server) Text(number int) (title, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pulls[number-1].title, s.pulls[number-1].body
}

func (s *Server) createStatus(w http.ResponseWriter, r *http.Request) {
	const maxDescription = 140
	asked, sha := decode(r), r.PathValue("sha")
	description, _ := asked["description"].(string)
	url, _ := asked["target_url"].(string)
	switch {
	case !s.git.has(sha):
		problem(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+sha)
		return
	case len([]rune(description)) > maxDescription:
		problem(w, http.StatusUnprocessableEntity, "Validation Failed", object{"resource": "Status", "code": "custom",
			"field": "description", "message": "description is too long (maximum is 140 characters)"})
		return
	}
	context, state := asked["context"].(string), asked["state"].(string)
	s.statuses[sha+context] = Status{State: state, Description: description, URL: url}
	o := s.description.example("status")
	o["state"], o["context"], o["description"], o["target_url"] = state, context, description, url
	answer(w, http.StatusCreated, o)
}
