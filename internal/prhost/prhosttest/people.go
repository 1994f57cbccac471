package prhosttest

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Person presses a host's own buttons. Its methods fail the test when the host refuses.
type Person interface {
	// Name is what the host calls the person.
	Name() string
	Close(t testing.TB, number int)
	Reopen(t testing.TB, number int)
	// Retitle sets the title.
	Retitle(t testing.TB, number int, title string)
	// SetDraft makes a pull request a draft, or ready.
	SetDraft(t testing.TB, number int, draft bool)
	// Merge merges by merge, squash or rebase.
	Merge(t testing.TB, number int, method string)
	// Retarget changes the base branch.
	Retarget(t testing.TB, number int, base string)
}

// Act is what a person may do to a pull request with a host's own buttons.
type Act string

// The acts that a host may lack.
const (
	Close    Act = "close"
	Reopen   Act = "reopen"
	Retitle  Act = "retitle"
	Draft    Act = "draft"
	Merge    Act = "merge"
	Squash   Act = "squash"
	Rebase   Act = "rebase"
	Retarget Act = "retarget"
)

// People runs what people do to pull requests with the host's own buttons, for
// hosts that have some: of the built-in host they are Sluice's own. Lacks says why,
// for each act that the host of these tests cannot do; what needs it is not run.
func People(t *testing.T, lacks map[Act]string, newFixture func(t *testing.T) Fixture) {
	for name, test := range map[string]struct {
		needs []Act
		run   func(*testing.T, *scene)
	}{
		"closed":                       {[]Act{Close}, closedByPerson},
		"reopened":                     {[]Act{Close, Reopen}, reopened},
		"pushed while closed":          {[]Act{Close, Reopen}, pushedWhileClosed},
		"retitled":                     {[]Act{Retitle}, retitled},
		"made a draft":                 {[]Act{Draft}, madeDraft},
		"merged":                       {[]Act{Merge}, mergedBy("merge")},
		"squashed":                     {[]Act{Squash}, mergedBy("squash")},
		"rebased":                      {[]Act{Rebase}, mergedBy("rebase")},
		"merged after main moved":      {[]Act{Merge}, mergedOntoMoved("merge")},
		"squashed after main moved":    {[]Act{Squash}, mergedOntoMoved("squash")},
		"rebased after main moved":     {[]Act{Rebase}, mergedOntoMoved("rebase")},
		"squashed after a force push":  {[]Act{Squash}, mergedAfterForcePush("squash")},
		"rebased after a force push":   {[]Act{Rebase}, mergedAfterForcePush("rebase")},
		"base branch changed":          {[]Act{Retarget}, retargeted},
		"base branch changed and back": {[]Act{Retarget}, retargetedBack},
	} {
		if why := missing(lacks, test.needs); why != "" {
			t.Logf("%s: not run: %s", name, why)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.run(t, newScene(t, newFixture(t)))
		})
	}
}

func missing(lacks map[Act]string, needs []Act) (why string) {
	for _, act := range needs {
		if why = lacks[act]; why != "" {
			return why
		}
	}
	return ""
}

func closedByPerson(t *testing.T, s *scene) {
	p := s.proposed("promote")
	s.person.Close(t, p.Number)
	got := s.get(p.Number)
	if got.State != promotion.PullRequestClosed || got.ClosedBy != s.person.Name() || got.MergeSHA != "" || got.HeadSHA != p.HeadSHA {
		t.Fatalf("closed %+v", got)
	}
	found, err := s.host.Find(t.Context(), "promote")
	if err != nil || found != got {
		t.Fatalf("found %+v, %v; want %+v", found, err, got)
	}
	if err := s.host.Close(t.Context(), p.Number, "superseded"); err != nil {
		t.Fatal(err)
	}
	s.same("who closed it", s.get(p.Number).ClosedBy, s.person.Name())
	_, err = s.merge(p.Number, p.HeadSHA)
	s.fails(err, promotion.ErrNotMergeable)
}

func reopened(t *testing.T, s *scene) {
	p := s.proposed("promote")
	for range 2 {
		s.person.Close(t, p.Number)
		s.person.Reopen(t, p.Number)
	}
	got := s.get(p.Number)
	if got.State != promotion.PullRequestOpen || got.ClosedBy != "" || got.HeadSHA != p.HeadSHA {
		t.Fatalf("reopened %+v", got)
	}
	s.same("number opened again", s.open("promote", p.HeadSHA).Number, p.Number)
	s.same("main", s.merged(p.Number, p.HeadSHA), s.git.Remote("main"))
}

func pushedWhileClosed(t *testing.T, s *scene) {
	p := s.proposed("promote")
	s.person.Close(t, p.Number)
	head := s.git.Push("promote", "promote.txt", "changed while it was closed\n")
	s.same("head of the closed one", s.get(p.Number).HeadSHA, p.HeadSHA)
	s.person.Reopen(t, p.Number)
	s.eventually(p.Number, "head "+head, func(p promotion.PullRequest) bool { return p.HeadSHA == head })
	_, err := s.merge(p.Number, p.HeadSHA)
	s.fails(err, promotion.ErrHeadMoved)
	s.same("main", s.merged(p.Number, head), s.git.Remote("main"))
}

func retitled(t *testing.T, s *scene) {
	p := s.proposed("promote")
	s.person.Retitle(t, p.Number, "What this really is")
	got := s.get(p.Number)
	if got.State != promotion.PullRequestOpen || got.HeadSHA != p.HeadSHA || got.Draft {
		t.Fatalf("retitled %+v", got)
	}
	if err := s.host.Update(t.Context(), p.Number, "Change promote", "why"); err != nil {
		t.Fatal(err)
	}
}

func madeDraft(t *testing.T, s *scene) {
	p := s.proposed("promote")
	main := s.git.Remote("main")
	s.person.SetDraft(t, p.Number, true)
	if got := s.get(p.Number); !got.Draft || got.State != promotion.PullRequestOpen {
		t.Fatalf("made a draft %+v", got)
	}
	if err := s.host.Update(t.Context(), p.Number, "Change promote", "another body"); err != nil {
		t.Fatal(err)
	}
	s.same("draft after an update", s.get(p.Number).Draft, true)
	_, err := s.merge(p.Number, p.HeadSHA)
	s.fails(err, promotion.ErrNotMergeable)
	s.same("main", s.git.Remote("main"), main)

	s.person.SetDraft(t, p.Number, false)
	s.same("draft", s.get(p.Number).Draft, false)
	s.same("main", s.merged(p.Number, p.HeadSHA), s.git.Remote("main"))
}

func mergedBy(method string) func(*testing.T, *scene) {
	return func(_ *testing.T, s *scene) { s.endsMergedBy(method, s.proposed("promote")) }
}

func mergedOntoMoved(method string) func(*testing.T, *scene) {
	return func(_ *testing.T, s *scene) {
		p := s.proposed("promote")
		s.git.Push("main", "other.txt", "moves on\n")
		s.endsMergedBy(method, p)
	}
}

func mergedAfterForcePush(method string) func(*testing.T, *scene) {
	return func(_ *testing.T, s *scene) {
		p := s.proposed("promote")
		head := s.git.Push("promote", "promote.txt", "rewritten\n")
		s.endsMergedBy(method, s.eventually(p.Number, "head "+head, func(p promotion.PullRequest) bool { return p.HeadSHA == head }))
	}
}

// endsMergedBy merges with the host's button and says what is known then.
func (s *scene) endsMergedBy(method string, p promotion.PullRequest) {
	s.Helper()
	s.green(p.HeadSHA)
	s.person.Merge(s, p.Number, method)
	main := s.git.Remote("main")
	got := s.becomes(p.Number, promotion.PullRequestMerged)
	if got.State != promotion.PullRequestMerged || got.MergeSHA != main || got.MergedBy != s.person.Name() || got.HeadSHA != p.HeadSHA {
		s.Fatalf("merged %+v, want it by %s as %s", got, s.person.Name(), main)
	}
	s.same("merge repeated", s.merged(p.Number, p.HeadSHA), main)
	s.same("main after it", s.git.Remote("main"), main)
	_, err := s.host.Merge(s.Context(), p.Number, main, "Promote it", promotion.Sluice(), "")
	if main != p.HeadSHA { // a rebase onto where it was made is the head itself
		s.fails(err, promotion.ErrHeadMoved)
	}
	if err := s.host.Close(s.Context(), p.Number, "too late"); err == nil {
		s.Fatal("closed what is merged")
	}
}

func retargeted(t *testing.T, s *scene) {
	p := s.proposed("promote")
	main := s.git.Remote("main")
	s.git.Push("elsewhere", "elsewhere.txt", "another base\n")
	s.person.Retarget(t, p.Number, "elsewhere")
	got := s.get(p.Number)
	if got.BaseRef != "elsewhere" || got.State != promotion.PullRequestOpen {
		t.Fatalf("retargeted %+v", got)
	}
	_, err := s.merge(p.Number, p.HeadSHA)
	s.fails(err, promotion.ErrNotMergeable)
	s.same("main", s.git.Remote("main"), main)
	_, err = s.host.Find(t.Context(), "promote")
	s.fails(err, promotion.ErrNotFound) // of those into the base branch
}

func retargetedBack(t *testing.T, s *scene) {
	p := s.proposed("promote")
	s.git.Push("elsewhere", "elsewhere.txt", "another base\n")
	s.person.Retarget(t, p.Number, "elsewhere")
	s.person.Retarget(t, p.Number, "main")
	s.same("base", s.get(p.Number).BaseRef, "main")
	s.same("number opened again", s.open("promote", p.HeadSHA).Number, p.Number)
	s.same("main", s.merged(p.Number, p.HeadSHA), s.git.Remote("main"))
}
