package promotion

import (
	"context"
	"errors"
	"time"
)

// Limited is an error of a host that answers no more calls until RetryAt. What needs it sleeps until then.
type Limited interface {
	error
	RetryAt() time.Time
}

// noteLimit keeps until when the host of a repository answers nothing, so that people see why nothing happens. It returns the error.
func (s *Service) noteLimit(ctx context.Context, repository string, err error) error {
	var limit Limited
	if !errors.As(err, &limit) {
		return err
	}
	return errors.Join(err, s.Store.Tx(ctx, func(tx Tx) error { return tx.SaveLimit(ctx, repository, limit.RetryAt()) }))
}

// noteLimitOf does so for the repository of a promotion.
func (s *Service) noteLimitOf(ctx context.Context, promotionID int64, err error) error {
	var limit Limited
	if !errors.As(err, &limit) {
		return err
	}
	p, unread := s.Store.Promotion(ctx, promotionID)
	if unread != nil {
		return errors.Join(err, unread)
	}
	return s.noteLimit(ctx, p.Target.Repository, err)
}
