package promotion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// PolicyInForce names the policy that holds for a config repository: the last one on main that could be read.
type PolicyInForce struct {
	ID     int64
	Commit string // at which it was read
	Since  time.Time
}

// compiled is a policy as parsed. A stored policy never changes.
type compiled struct {
	PolicyInForce
	rules Rules
}

// rulesOf is the policy in force of a config repository. Without any there is no deciding: an error that says what is wrong.
func (s *Service) rulesOf(ctx context.Context, known Reader, repository string) (compiled, error) {
	in, err := known.PolicyInForce(ctx, repository)
	if errors.Is(err, ErrNotFound) {
		return compiled{}, conflict("no-policy", "no policy of config repository %s could be read yet: mend its sluice.yaml, or remove it for the defaults", repository)
	} else if err != nil {
		return compiled{}, fmt.Errorf("read which policy holds for %s: %w", repository, err)
	}
	if c, ok := s.parsed.Load(repository); ok && c.(compiled).ID == in.ID {
		return c.(compiled), nil
	}
	files, err := known.PolicyFiles(ctx, in.ID)
	if err != nil {
		return compiled{}, fmt.Errorf("read the policy of config repository %s: %w", repository, err)
	}
	rules, err := s.Policies.Parse(files)
	if err != nil {
		return compiled{}, conflict("no-policy", "the policy of config repository %s at %s no longer holds: %v", repository, short(in.Commit), err)
	}
	c := compiled{in, rules}
	s.parsed.Store(repository, c)
	return c, nil
}

// PolicyFor is what holds for a target now.
func (s *Service) PolicyFor(ctx context.Context, t Target) (EnvironmentPolicy, error) {
	c, err := s.rulesOf(ctx, s.Store, t.Repository)
	if err != nil {
		return EnvironmentPolicy{}, err
	}
	return c.rules.For(t), nil
}

// readPolicy reads main's policy. What is wrong with it is kept with the repository, and the policy before stays in force.
func (v *visit) readPolicy(ctx context.Context) error {
	files, err := v.Policies.Collect(v.tree)
	if err == nil {
		v.rules, err = v.Policies.Parse(files)
	}
	var faults PolicyFaults
	switch {
	case err == nil:
		v.policy = files
		return nil
	case errors.As(err, &faults):
		v.status.PolicyFaults = faults
	default:
		v.status.PolicyFaults = PolicyFaults{{Message: err.Error()}}
	}
	before, err := v.rulesOf(ctx, v.Store, v.status.Name)
	if isRefusal(err) {
		v.rules, err = v.Policies.Parse(nil) // to find the targets by; nothing is decided by it
		return err
	}
	v.rules = before.rules
	return err
}

// savePolicy puts main's policy in force if it differs from the one before, and tells of a broken one once.
func (v *visit) savePolicy(ctx context.Context, tx Tx) error {
	if len(v.status.PolicyFaults) > 0 {
		return v.tellOfFaults(ctx, tx)
	}
	in, err := tx.PolicyInForce(ctx, v.status.Name)
	switch {
	case errors.Is(err, ErrNotFound):
	case err != nil:
		return err
	default:
		files, err := tx.PolicyFiles(ctx, in.ID)
		if err != nil || maps.Equal(files, v.policy) {
			return err
		}
	}
	if err := tx.SavePolicy(ctx, v.status.Name, v.status.Head, v.policy, v.status.LookedAt); err != nil {
		return err
	}
	message := fmt.Sprintf("the policy of %s at %s is in force", v.status.Name, short(v.status.Head))
	if len(v.policy) == 0 {
		message = fmt.Sprintf("%s has no policy file at %s: the defaults are in force", v.status.Name, short(v.status.Head))
	}
	e := v.event(ctx, Sluice(), "policy.changed", message)
	e.Object, e.After = "repository/"+v.status.Name, map[string]any{"commit": v.status.Head, "files": slices.Sorted(maps.Keys(v.policy))}
	return tx.Audit(ctx, e)
}

func (v *visit) tellOfFaults(ctx context.Context, tx Tx) error {
	if slices.Equal(v.status.PolicyFaults, v.faults) {
		return nil
	}
	e := v.event(ctx, Sluice(), "policy.refused", fmt.Sprintf("the policy of %s at %s cannot be read, so the one before stays in force: %v",
		v.status.Name, short(v.status.Head), v.status.PolicyFaults))
	e.Object, e.After = "repository/"+v.status.Name, map[string]any{"commit": v.status.Head, "faults": v.status.PolicyFaults}
	return errors.Join(tx.Audit(ctx, e), v.notify(ctx, tx, Notification{Kind: NotifyPolicy, Object: e.Object, Occasion: v.status.Head,
		Message: e.Message, Page: "/set-up"}))
}
