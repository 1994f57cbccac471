package fakegithub

import (
	"fmt"
	"net/http"
)

// Hook is a webhook of the repository.
type Hook struct {
	URL, Secret, ContentType string
	Events                   []string
	Active                   bool
	LastCode                 int // that the last delivery was answered with; 0: none
}

// Hooks are the repository's webhooks.
func (s *Server) Hooks() []Hook {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Hook(nil), s.hooks...)
}

// AddHook adds a webhook, as a person does.
func (s *Server) AddHook(h Hook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, h)
}

func (s *Server) hook(i int) object {
	o, h := s.description.example("hook"), s.hooks[i]
	o["id"], o["active"], o["events"] = i+1, h.Active, h.Events
	o["config"] = object{"url": h.URL, "content_type": h.ContentType, "insecure_ssl": "0"}
	if h.Secret != "" {
		o["config"].(object)["secret"] = "********"
	}
	if h.LastCode != 0 {
		o["last_response"] = object{"code": h.LastCode, "status": "active", "message": "as answered"}
	}
	return o
}

func (s *Server) listHooks(w http.ResponseWriter, r *http.Request) {
	list := []object{}
	for i := range s.hooks {
		list = append(list, s.hook(i))
	}
	s.page(w, r, list)
}

func (s *Server) createHook(w http.ResponseWriter, r *http.Request) {
	s.hooks = append(s.hooks, Hook{})
	s.hooks[len(s.hooks)-1].set(decode(r))
	answer(w, http.StatusCreated, s.hook(len(s.hooks)-1))
}

func (s *Server) editHook(w http.ResponseWriter, r *http.Request) {
	for i := range s.hooks {
		if fmt.Sprint(i+1) == r.PathValue("id") {
			s.hooks[i].set(decode(r))
			answer(w, http.StatusOK, s.hook(i))
			return
		}
	}
	problem(w, http.StatusNotFound, "Not Found")
}

func (h *Hook) set(asked object) {
	h.Events, h.LastCode = nil, 0
	for _, e := range asked["events"].([]any) {
		h.Events = append(h.Events, e.(string))
	}
	h.Active, _ = asked["active"].(bool)
	config := asked["config"].(object)
	h.URL, _ = config["url"].(string)
	h.Secret, _ = config["secret"].(string)
	h.ContentType, _ = config["content_type"].(string)
}
