package promotion

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// Pushed has what a push can have changed looked at: of a promotion's branch that promotion, of any other the
// config repository. Refs are full, such as refs/heads/main.
func (s *Service) Pushed(ctx context.Context, repository string, refs []string) error {
	return s.Store.Tx(ctx, func(tx Tx) error { return s.lookAtRefs(ctx, tx, repository, refs) })
}

func (s *Service) lookAtRefs(ctx context.Context, tx Tx, repository string, refs []string) error {
	for _, ref := range refs {
		work := Work{Kind: WorkLook, Repository: repository}
		p, err := promotionOf(ctx, tx, ref)
		switch {
		case err == nil && p.Target.Repository == repository:
			work = Work{Kind: WorkAdvance, PromotionID: p.ID}
		case err != nil && !errors.Is(err, ErrNotFound):
			return err
		}
		if err := tx.Enqueue(ctx, work); err != nil {
			return err
		}
	}
	return nil
}

// promotionOf is the promotion whose branch a ref is; ErrNotFound.
func promotionOf(ctx context.Context, known Reader, ref string) (Promotion, error) {
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	id, err := strconv.ParseInt(branch[strings.LastIndexByte(branch, '/')+1:], 10, 64)
	if !ok || err != nil {
		return Promotion{}, ErrNotFound
	}
	p, err := known.Promotion(ctx, id)
	if err == nil && branchName(p) != branch {
		err = ErrNotFound
	}
	return p, err
}
