package web

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// policyView is the policy of a config repository: the one in force, and what is wrong with main's.
type policyView struct {
	Repository string
	Head       shortened // of main, where the faults are
	Faults     []faultView
	InForce    bool // there is one
	Commit     shortened
	Since      moment
}

type faultView struct{ Place, Message string }

func (w *Web) policyView(ctx context.Context, r promotion.RepositoryStatus, now time.Time) (policyView, error) {
	v := policyView{Repository: r.Name, Head: shorten(r.Head), Faults: each(r.PolicyFaults, newFaultView)}
	in, err := w.store.PolicyInForce(ctx, r.Name)
	if errors.Is(err, promotion.ErrNotFound) {
		return v, nil
	} else if err != nil {
		return v, err
	}
	v.InForce, v.Commit, v.Since = true, shorten(in.Commit), at(in.Since, now)
	return v, nil
}

func newFaultView(f promotion.PolicyFault) faultView {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return faultView{Place: place, Message: f.Message}
}

// brokenPolicies are those of config repositories whose main cannot be read. They hold no relative times: the board's
// facts change only with what happens.
func (w *Web) brokenPolicies(ctx context.Context) ([]policyView, error) {
	repositories, err := w.store.Repositories(ctx)
	if err != nil {
		return nil, err
	}
	var broken []policyView
	for _, r := range repositories {
		if len(r.PolicyFaults) == 0 {
			continue
		}
		v, err := w.policyView(ctx, r, time.Time{})
		if err != nil {
			return nil, err
		}
		broken = append(broken, v)
	}
	return broken, nil
}
