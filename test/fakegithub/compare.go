package fakegithub

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// compare lists what the second of two commits has and the first has not, oldest first, a page at a time.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) {
	base, head, _ := strings.Cut(r.PathValue("basehead"), "...")
	if !s.git.has(base) || !s.git.has(head) {
		problem(w, http.StatusNotFound, "Not Found")
		return
	}
	shas := strings.Fields(s.git.must("rev-list", "--reverse", base+".."+head))
	o := s.description.example("commit-comparison")
	first := o["commits"].([]any)[0].(object)
	var commits []object
	for _, sha := range shas {
		c := s.description.example("commit-comparison")["commits"].([]any)[0].(object)
		c["sha"] = sha
		about := c["commit"].(object)
		about["message"] = s.git.must("show", "--no-patch", "--format=%B", sha)
		about["author"].(object)["name"] = s.git.must("show", "--no-patch", "--format=%an", sha)
		commits = append(commits, c)
	}
	size, number := 250, 1
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil {
		size = n
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil {
		number = n
	}
	from := min((number-1)*size, len(commits))
	to := min(from+size, len(commits))
	if last := (len(commits) + size - 1) / size; last > number {
		query := r.URL.Query()
		for name, page := range map[string]int{"next": number + 1, "last": last} {
			query.Set("page", strconv.Itoa(page))
			w.Header().Add("Link", "<"+s.URL+"/api/v3"+r.URL.Path+"?"+query.Encode()+`>; rel="`+name+`"`)
		}
		w.Header().Set("Link", strings.Join(w.Header().Values("Link"), ", "))
	}
	first["sha"] = base
	o["base_commit"], o["merge_base_commit"] = first, first
	o["status"], o["ahead_by"], o["behind_by"], o["total_commits"] = "ahead", len(commits), 0, len(commits)
	o["commits"], o["files"] = append([]object{}, slices.Clone(commits[from:to])...), []any{}
	o["html_url"] = s.URL + "/" + Owner + "/" + Repository + "/compare/" + base + "..." + head
	answer(w, http.StatusOK, o)
}
