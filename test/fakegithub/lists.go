package fakegithub

import (
	"fmt"
	"net/http"
	"strconv"
)

// page answers with the part of a list that is asked for, and says where the next one is.
func (s *Server) page(w http.ResponseWriter, r *http.Request, list []object) {
	const usual = 30
	query := r.URL.Query()
	size, number := usual, 1
	if n, err := strconv.Atoi(query.Get("per_page")); err == nil {
		size = n
	}
	if n, err := strconv.Atoi(query.Get("page")); err == nil {
		number = n
	}
	from := min((number-1)*size, len(list))
	to := min(from+size, len(list))
	if to < len(list) {
		query.Set("page", strconv.Itoa(number+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s/api/v3%s?%s>; rel="next"`, s.URL, r.URL.Path, query.Encode()))
	}
	answer(w, http.StatusOK, list[from:to])
}
