package fakegithub_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Whatever a person does to Sluice's pull request with GitHub's buttons or git, it ends in the right state, the audit names
// them, and nothing of Sluice's is left behind.
func TestWhatPeopleDoToAPullRequest(t *testing.T) {
	t.Parallel()
	const pat = "pat"
	for name, test := range map[string]struct {
		do     func(s *sluice, p promotion.Promotion)
		state  promotion.State
		by     string // who is in the audit
		action string
		holds  string // what the content gate says of one that stays open
	}{
		"closed": {func(s *sluice, p promotion.Promotion) { s.github.Person().Close(s, p.Number) },
			promotion.StateCancelled, pat, "promotion.closed", ""},
		"closed and opened again": {func(s *sluice, p promotion.Promotion) {
			s.github.Person().Close(s, p.Number)
			s.github.Person().Reopen(s, p.Number)
		}, promotion.StateOpen, "", "", ""},
		"retitled":     {func(s *sluice, p promotion.Promotion) { s.github.Person().Retitle(s, p.Number, "mine") }, promotion.StateOpen, "", "", ""},
		"made a draft": {func(s *sluice, p promotion.Promotion) { s.github.Person().SetDraft(s, p.Number, true) }, promotion.StateOpen, "", "", "a draft"},
		"a draft that is ready": {func(s *sluice, p promotion.Promotion) {
			s.github.Person().SetDraft(s, p.Number, true)
			s.look()
			s.github.Person().SetDraft(s, p.Number, false)
		}, promotion.StateOpen, "", "", ""},
		"turned to another branch": {turned, promotion.StateOpen, "", "", "turned pull request #1 from main to elsewhere"},
		"turned away and back": {func(s *sluice, p promotion.Promotion) {
			turned(s, p)
			s.look()
			s.github.Person().Retarget(s, p.Number, "main")
		}, promotion.StateOpen, "", "", ""},
		"merged into another branch": {func(s *sluice, p promotion.Promotion) {
			turned(s, p)
			s.github.Person().Merge(s, p.Number, "merge")
		}, promotion.StateCancelled, pat, "promotion.closed", ""},
		"merged":   {merges("merge"), promotion.StateMerged, pat, "promotion.merged", ""},
		"squashed": {merges("squash"), promotion.StateMerged, pat, "promotion.merged", ""},
		"rebased":  {merges("rebase"), promotion.StateMerged, pat, "promotion.merged", ""},
		"a commit added": {func(s *sluice, p promotion.Promotion) {
			s.git.Git("fetch", "--quiet", "origin")
			s.git.Commit("work", "origin/"+p.Branch, "notes.txt", "sneaked in\n")
			s.git.Git("push", "--quiet", "origin", "work:"+p.Branch)
		}, promotion.StateOpen, "", "", "somebody pushed to the branch"},
		"the branch deleted": {func(s *sluice, p promotion.Promotion) { s.git.Git("push", "--quiet", "origin", ":"+p.Branch) },
			promotion.StateCancelled, pat, "promotion.closed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSluice(t)
			p := s.asked()
			s.github.Review(p.Number, ada.Name, "APPROVED", "fine")
			s.look()
			main := s.git.Remote("main")
			test.do(s, p)
			s.look()
			s.look()
			got := s.is(p.ID, test.state)
			if test.state == promotion.StateOpen {
				s.says(p, test.holds)
				return
			}
			if left := s.git.Remote(p.Branch); left != "" {
				t.Errorf("the branch is left at %s", left)
			}
			if moved := s.git.Remote("main") != main; moved != (test.state == promotion.StateMerged) || moved && got.MergedBy != test.by {
				t.Errorf("main has moved: %t; merged by %q", moved, got.MergedBy)
			}
			if !s.audited(p.ID, test.by, test.action) {
				t.Errorf("the audit does not say that %s did %s: %q", test.by, test.action,
					s.texts("SELECT actor || ' ' || action FROM audit_events WHERE promotion_id = $1", p.ID))
			}
			if violations := s.texts("SELECT message FROM violations"); len(violations) > 0 {
				t.Errorf("it counts as a violation: %q", violations)
			}
		})
	}
}

func turned(s *sluice, p promotion.Promotion) {
	s.git.Push("elsewhere", "elsewhere.txt", "another base\n")
	s.github.Person().Retarget(s, p.Number, "elsewhere")
}

func merges(method string) func(*sluice, promotion.Promotion) {
	return func(s *sluice, p promotion.Promotion) { s.github.Person().Merge(s, p.Number, method) }
}

// says fails the test unless the content gate holds the merge for a reason, or lets it pass when there is none, and GitHub shows it.
func (s *sluice) says(p promotion.Promotion, reason string) {
	s.Helper()
	gates, err := s.service.Store.Gates(s.Context(), p.ID)
	s.must(err)
	i := slices.IndexFunc(gates, func(g promotion.GateResult) bool {
		return g.Phase == promotion.PhaseMerge && g.Gate == promotion.GateContent
	})
	if i < 0 || (gates[i].Verdict == promotion.Pass) != (reason == "") || !strings.Contains(gates[i].Reason, reason) {
		s.Errorf("the gates are %+v, want one that says %q", gates, reason)
	}
	status := s.github.Status(p.HeadSHA, promotion.StatusContext)
	if (status.State == "success") != (reason == "") {
		s.Errorf("the status is %+v", status)
	}
	if reason == "" {
		return
	}
	if _, err := s.service.Merge(s.Context(), rita, p.ID); err == nil {
		s.Error("Sluice takes the wish to merge it")
	}
}

func (s *sluice) audited(id int64, actor, action string) bool {
	s.Helper()
	return len(s.texts("SELECT message FROM audit_events WHERE promotion_id = $1 AND actor = $2 AND action = $3", id, actor, action)) > 0
}

func (s *sluice) texts(query string, args ...any) (all []string) {
	s.Helper()
	rows, err := s.pool.Query(context.WithoutCancel(s.Context()), query, args...)
	s.must(err)
	defer rows.Close()
	for rows.Next() {
		var text string
		s.must(rows.Scan(&text))
		all = append(all, text)
	}
	s.must(rows.Err())
	return all
}
