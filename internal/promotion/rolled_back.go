package promotion

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// rolledBackByHand recognises a rollback that went past Git: an earlier release of ours runs, and main says another. It is
// a sentence, empty when nothing was rolled back.
func (s *Service) rolledBackByHand(ctx context.Context, t Target, d Deployment, differences []Drift) (string, error) {
	main, err := s.Store.LatestRevision(ctx, t.ID)
	if errors.Is(err, ErrNotFound) || err == nil && (main.ReleaseID == 0 || d.ReleaseID == 0 || main.ReleaseID == d.ReleaseID) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	wanted, err := s.Store.Release(ctx, main.ReleaseID)
	if err != nil {
		return "", err
	}
	if d.Number >= wanted.Number {
		return "", nil
	}
	how := rollbackOf(differences)
	if how == "" {
		back, err := s.syncedBack(ctx, t, d, main)
		if err != nil || !back {
			return "", err
		}
		how = fmt.Sprintf("Argo CD was made to sync %s again, as `argocd app rollback` does", short(d.Revision))
	}
	return fmt.Sprintf("%s runs, an earlier release; Git says %s. Rolled back by hand: %s.", d.Version, wanted.Version, how), nil
}

// rollbackOf says by which tool a changed image was put back.
func rollbackOf(differences []Drift) string {
	for _, d := range differences {
		if !strings.HasSuffix(d.Path, ".image") || d.Class == DriftWebhook {
			continue
		}
		switch {
		case d.Manager == "kubectl-rollout" || d.Manager == "kubectl" && d.Operation == "Update": // undo gives no name of its own
			return "`kubectl rollout undo` of " + d.Object
		case strings.HasPrefix(strings.ToLower(d.Manager), "helm"):
			return "`helm rollback` of " + d.Object
		}
		return fmt.Sprintf("the image of %s was set by %s", d.Object, d.Owner)
	}
	return ""
}

// syncedBack tells whether main's revision was applied here before, and no longer is.
func (s *Service) syncedBack(ctx context.Context, t Target, d Deployment, main TargetRevision) (bool, error) {
	if d.Revision == "" {
		return false, nil
	}
	site, err := s.site(t)
	if err != nil {
		return false, err
	}
	if holds, err := site.Repository.Contains(ctx, d.Revision, main.Commit.SHA); err != nil || holds {
		return false, nil //nolint:nilerr // a revision that the mirror does not know says nothing of main's
	}
	if main.PromotionID == 0 {
		return false, nil
	}
	p, err := s.Store.Promotion(ctx, main.PromotionID)
	return err == nil && !p.SyncedAt.IsZero(), err
}
