package fakegithub

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// Protect sets the branch protection of main as GitHub tells it, in JSON.
func (s *Server) Protect(protection string) {
	s.t.Helper()
	o := s.parse(protection)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.protection = o
}

// AddRuleset adds an active ruleset on main as GitHub tells it, in JSON: id,
// name, rules and, for tokens that may see it, bypass_actors.
func (s *Server) AddRuleset(ruleset string) {
	s.t.Helper()
	o := s.parse(ruleset)
	o["source"], o["source_type"], o["enforcement"], o["target"] = Owner+"/"+Repository, "Repository", "active", "branch"
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rulesets = append(s.rulesets, o)
}

func (s *Server) parse(text string) (o object) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		s.t.Fatal(err)
	}
	return o
}

func (s *Server) getProtection(w http.ResponseWriter, _ *http.Request) {
	if s.protection == nil {
		problem(w, http.StatusNotFound, "Branch not protected")
		return
	}
	answer(w, http.StatusOK, s.protection)
}

func (s *Server) getRules(w http.ResponseWriter, _ *http.Request) {
	rules := []object{}
	for _, set := range s.rulesets {
		if set["enforcement"] != "active" {
			continue
		}
		for _, r := range set["rules"].([]any) {
			rule := object{"ruleset_id": set["id"], "ruleset_source": set["source"], "ruleset_source_type": set["source_type"]}
			for k, v := range r.(object) {
				rule[k] = v
			}
			rules = append(rules, rule)
		}
	}
	answer(w, http.StatusOK, rules)
}

// Queue gives main a merge queue.
func (s *Server) Queue() {
	s.AddRuleset(`{"id":9,"name":"queue","bypass_actors":[],"rules":[{"type":"merge_queue","parameters":{"check_response_timeout_minutes":60,"grouping_strategy":"ALLGREEN",
"max_entries_to_build":5,"max_entries_to_merge":5,"merge_method":"MERGE","min_entries_to_merge":1,"min_entries_to_merge_wait_minutes":5}}]}`)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = true
}

func (s *Server) listRulesets(w http.ResponseWriter, r *http.Request) {
	list := []object{}
	for _, set := range s.rulesets { // without its rules
		list = append(list, object{"id": set["id"], "name": set["name"], "source": set["source"], "source_type": set["source_type"],
			"enforcement": set["enforcement"], "target": set["target"]})
	}
	s.page(w, r, list)
}

func (s *Server) createRuleset(w http.ResponseWriter, r *http.Request) {
	set := decode(r)
	set["id"], set["source"], set["source_type"] = 100+len(s.rulesets), Owner+"/"+Repository, "Repository"
	s.rulesets = append(s.rulesets, set)
	answer(w, http.StatusCreated, set)
}

func (s *Server) editRuleset(w http.ResponseWriter, r *http.Request) {
	for _, set := range s.rulesets {
		if fmt.Sprint(set["id"]) == r.PathValue("id") {
			maps.Copy(set, decode(r))
			answer(w, http.StatusOK, set)
			return
		}
	}
	problem(w, http.StatusNotFound, "Not Found")
}

func (s *Server) getRuleset(w http.ResponseWriter, r *http.Request) {
	for _, set := range s.rulesets {
		if fmt.Sprint(set["id"]) == r.PathValue("id") {
			answer(w, http.StatusOK, set)
			return
		}
	}
	problem(w, http.StatusNotFound, "Not Found")
}
