// Package gittree reads, rewrites, compares and merges Git trees in an object
// store, without a checkout. The cost of every call follows what differs, not
// the size of the tree or the age of the repository.
package gittree
