package fakegithub

import (
	"testing"
	"time"
)

// Person presses GitHub's buttons.
type Person struct {
	s *Server
}

// Person is somebody with write access.
func (s *Server) Person() Person { return Person{s} }

// Name is their login.
func (Person) Name() string { return "pat" }

// with looks after the pull request, as every call does, before something is done to it.
func (p Person) with(number int, do func(*pull)) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.look()
	pr := p.s.pulls[number-1]
	do(pr)
	pr.at = time.Now()
}

// Close closes without merging.
func (p Person) Close(_ testing.TB, number int) {
	p.with(number, func(pr *pull) { p.s.end(pr, "", p.Name()) })
}

// Reopen opens a closed one again, at its branch's head.
func (p Person) Reopen(_ testing.TB, number int) {
	p.with(number, func(pr *pull) {
		pr.open, pr.closedBy, pr.closed = true, "", time.Time{}
		pr.head = p.s.git.branch(pr.branch)
		p.s.git.must("update-ref", pr.ref(), pr.head)
	})
}

// Retitle sets the title.
func (p Person) Retitle(_ testing.TB, number int, title string) {
	p.with(number, func(pr *pull) { pr.title = title })
}

// SetDraft makes it a draft, or ready.
func (p Person) SetDraft(_ testing.TB, number int, draft bool) {
	p.with(number, func(pr *pull) { pr.draft = draft })
}

// Merge merges by merge, squash or rebase.
func (p Person) Merge(_ testing.TB, number int, method string) {
	p.with(number, func(pr *pull) { p.s.end(pr, p.s.git.merge(pr.base, pr.head, method, "Merge it"), p.Name()) })
}

// Retarget changes the base branch.
func (p Person) Retarget(_ testing.TB, number int, base string) {
	p.with(number, func(pr *pull) { pr.base = base })
}

// Enqueue has the merge queue merge it, which makes the merge commit by itself.
func (p Person) Enqueue(number int) (merge string) {
	p.with(number, func(pr *pull) {
		merge = p.s.git.merge(pr.base, pr.head, "merge", "Merge pull request from the queue")
		p.s.end(pr, merge, p.Name())
	})
	return merge
}

// Open has a person open a pull request of a pushed branch.
func (s *Server) Open(person, branch string) (number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(&pull{author: person, branch: branch, head: s.git.branch(branch), base: Main, title: "From " + person}).number
}

// Fork opens a pull request of somebody's fork, whose head is a commit that the repository has.
func (s *Server) Fork(owner, branch, head string) (number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(&pull{author: owner, fork: owner, branch: branch, head: head, base: Main, title: "From a fork"}).number
}
