package promotion

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// NewToken is an API token to be stored: the hash of its secret, never the secret.
type NewToken struct {
	Name    string // who or what uses it
	Hash    []byte
	Roles   []Role
	Expires time.Time
}

// CreateToken stores an API token in place of an earlier one of that name, and records with which roles. What was approved under the
// name rests on the new roles from now on.
func (s *Service) CreateToken(ctx context.Context, by Actor, t NewToken) error {
	if err := allow(by, "make tokens", RoleAdmin); err != nil {
		return err
	}
	now := s.Now()
	if !t.Expires.After(now) {
		return invalid("malformed-expiry", "expires", "token %s would have expired before it is made: give it at least a day", t.Name)
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		before, _, err := tx.TokenRoles(ctx, t.Name, now)
		if err != nil {
			return fmt.Errorf("read the roles of token %s: %w", t.Name, err)
		}
		if err := tx.SaveToken(ctx, t, now); err != nil {
			return fmt.Errorf("store token %s: %w", t.Name, err)
		}
		roles := make([]string, len(t.Roles))
		for i, r := range t.Roles {
			roles[i] = string(r)
		}
		e := s.event(ctx, by, "token.created", fmt.Sprintf("token %s made with the roles %s, valid until %s",
			t.Name, strings.Join(roles, ", "), t.Expires.UTC().Format(time.RFC3339)))
		e.Object = "token/" + t.Name
		e.After = map[string]any{"roles": t.Roles, "expires": t.Expires.UTC()}
		if len(before) > 0 {
			e.Before = map[string]any{"roles": before}
		}
		if err := tx.Audit(ctx, e); err != nil {
			return err
		}
		return advanceUnfinished(ctx, tx)
	})
}

// RevokeToken ends an API token at once. What was approved with it and is not merged yet no longer counts. Revoking it again is no error.
func (s *Service) RevokeToken(ctx context.Context, by Actor, name string) error {
	if err := allow(by, "revoke tokens", RoleAdmin); err != nil {
		return err
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		revoked, err := tx.RevokeToken(ctx, name, s.Now())
		if err != nil {
			return unknown(err, "unknown-token", "there is no token named %s", name)
		}
		if !revoked {
			return nil
		}
		e := s.event(ctx, by, "token.revoked", fmt.Sprintf("token %s revoked", name))
		e.Object = "token/" + name
		if err := tx.Audit(ctx, e); err != nil {
			return err
		}
		return advanceUnfinished(ctx, tx)
	})
}
