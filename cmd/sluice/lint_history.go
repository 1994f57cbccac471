package main

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/sluicehq/sluice/internal/gittree"
	"github.com/sluicehq/sluice/internal/lint"
)

// firstParentHistory is the first-parent history of HEAD, oldest commit first,
// from the one after since on.
func firstParentHistory(repo, since string) (iter.Seq2[lint.Change, error], error) {
	r, err := git.PlainOpenWithOptions(repo, &git.PlainOpenOptions{EnableDotGitCommonDir: true})
	if err != nil {
		return nil, fmt.Errorf("%s: --history needs the root of a Git repository: %w", repo, err)
	}
	head, err := r.Head()
	if err != nil {
		return nil, fmt.Errorf("%s has no commit to look at: %w", repo, err)
	}
	stop := plumbing.ZeroHash
	if since != "" {
		hash, err := r.ResolveRevision(plumbing.Revision(since))
		if err != nil {
			return nil, fmt.Errorf("--since %s: %w", since, err)
		}
		stop = *hash
	}
	commits, err := commitsAfter(r.Storer, head.Hash(), stop)
	if err != nil {
		return nil, err
	}
	return func(yield func(lint.Change, error) bool) {
		for _, c := range slices.Backward(commits) {
			change, err := changeOf(r.Storer, c)
			if !yield(change, err) || err != nil {
				return
			}
		}
	}, nil
}

// commitsAfter lists the commits from one back to stop, which is not among
// them; the zero hash stops at the first of all.
func commitsAfter(objects storer.EncodedObjectStorer, from, stop plumbing.Hash) ([]*object.Commit, error) {
	var commits []*object.Commit
	stopped := false
	err := gittree.FirstParents(objects, from, func(c *object.Commit) (bool, error) {
		if stopped = c.Hash == stop; stopped {
			return false, nil
		}
		commits = append(commits, c)
		return true, nil
	})
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return nil, fmt.Errorf("the history is not all here (a shallow clone?); fetch it with git fetch --unshallow: %w", err)
	case err != nil:
		return nil, err
	case !stopped && !stop.IsZero():
		return nil, fmt.Errorf("--since: commit %s is not on the first-parent history of HEAD", stop)
	}
	return commits, nil
}

// changeOf compares a commit with its first parent.
func changeOf(objects storer.EncodedObjectStorer, c *object.Commit) (lint.Change, error) {
	change := lint.Change{
		Commit: lint.Commit{Hash: c.Hash.String(), Author: c.Author.Name, When: c.Author.When},
		After:  gittree.New(objects, c.TreeHash),
	}
	before := plumbing.ZeroHash
	if len(c.ParentHashes) > 0 {
		parent, err := object.GetCommit(objects, c.ParentHashes[0])
		if err != nil {
			return change, fmt.Errorf("read commit %s: %w", c.ParentHashes[0], err)
		}
		before = parent.TreeHash
	}
	change.Before = gittree.New(objects, before)
	files, err := gittree.Changed(objects, before, c.TreeHash)
	change.Files = files
	return change, err
}
