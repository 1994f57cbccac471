// Package gitrepo mirrors config repositories: bare, fetched incrementally,
// kept open. It reads trees, writes one commit at a time and pushes only that
// commit's objects. There is never a checkout, and the cost of a change follows
// the change, not the size or age of the repository.
package gitrepo
