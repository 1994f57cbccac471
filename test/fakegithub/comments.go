package fakegithub

import (
	"fmt"
	"net/http"
)

// comment is one of a pull request.
type comment struct {
	id     int
	body   string
	person string // empty: Sluice's
}

// Comments are those of a pull request.
func (s *Server) Comments(number int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var bodies []string
	for _, c := range s.pulls[number-1].comments {
		bodies = append(bodies, c.body)
	}
	return bodies
}

// Says has a person comment.
func (s *Server) Says(number int, person, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say(s.pulls[number-1], person, body)
}

func (s *Server) say(p *pull, person, body string) *comment {
	s.lastID++
	c := &comment{id: s.lastID, body: body, person: person}
	p.comments = append(p.comments, c)
	return c
}

func (s *Server) listComments(w http.ResponseWriter, r *http.Request, p *pull) {
	list := []object{}
	for _, c := range p.comments {
		list = append(list, s.comment(c))
	}
	s.page(w, r, list)
}

func (s *Server) createComment(w http.ResponseWriter, r *http.Request, p *pull) {
	answer(w, http.StatusCreated, s.comment(s.say(p, "", decode(r)["body"].(string))))
}

func (s *Server) editComment(w http.ResponseWriter, r *http.Request) {
	for _, p := range s.pulls {
		for _, c := range p.comments {
			if fmt.Sprint(c.id) == r.PathValue("id") {
				c.body = decode(r)["body"].(string)
				answer(w, http.StatusOK, s.comment(c))
				return
			}
		}
	}
	problem(w, http.StatusNotFound, "Not Found")
}

func (s *Server) comment(c *comment) object {
	o := s.description.example("issue-comment")
	o["id"], o["body"], o["user"] = c.id, c.body, s.bot()
	if c.person != "" {
		o["user"] = s.user(c.person)
	}
	return o
}
