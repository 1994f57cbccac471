package main

import (
	"context"
	"fmt"
	"os/user"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/jobs"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/promotion"
)

func newTokenCommand() *cobra.Command {
	token := &cobra.Command{Use: "token", Short: "Make and revoke API tokens"}
	token.AddCommand(newTokenCreateCommand(), newTokenRevokeCommand())
	return token
}

func newTokenCreateCommand() *cobra.Command {
	var file, name string
	var named []string
	var days int
	create := &cobra.Command{
		Use:   "create",
		Short: "Make a token, print it once and store its hash; an earlier token of that name ends",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			roles := make([]promotion.Role, len(named))
			for i, role := range named {
				roles[i] = promotion.Role(role)
				if !slices.Contains(promotion.Roles(), roles[i]) {
					return &exitError{Code: 2, Err: fmt.Errorf("--role %q: choose of %v", role, promotion.Roles())}
				}
			}
			return withStore(cmd.Context(), file, func(ctx context.Context, store *postgres.Store) error {
				secret, hash := auth.NewToken()
				made := promotion.NewToken{Name: name, Hash: hash, Roles: roles, Expires: now().AddDate(0, 0, days)}
				if err := (&promotion.Service{Store: store, Now: time.Now}).CreateToken(ctx, operator(), made); err != nil {
					return err
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), secret)
				return err
			})
		},
	}
	configFlag(create, &file)
	create.Flags().StringVar(&name, "name", "", "who or what uses the token, as the audit shows it")
	create.Flags().StringSliceVar(&named, "role", nil, "viewer, ci, release-manager, approver, break-glass or admin; several with commas")
	create.Flags().IntVar(&days, "days", 90, "how long it is valid")
	_ = create.MarkFlagRequired("name")
	_ = create.MarkFlagRequired("role")
	return create
}

func newTokenRevokeCommand() *cobra.Command {
	var file string
	revoke := &cobra.Command{
		Use:   "revoke NAME",
		Short: "End a token at once; what was approved with it and is not merged yet no longer counts",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd.Context(), file, func(ctx context.Context, store *postgres.Store) error {
				return (&promotion.Service{Store: store, Now: time.Now}).RevokeToken(ctx, operator(), args[0])
			})
		},
	}
	configFlag(revoke, &file)
	return revoke
}

// operator is who runs the command where the database's password is: the account of the machine, as far as it tells.
func operator() promotion.Actor {
	name := "an account without a name"
	if account, err := user.Current(); err == nil && account.Username != "" {
		name = account.Username
	}
	return promotion.Actor{Name: name + " (command line)", Kind: promotion.System, Roles: []promotion.Role{promotion.RoleAdmin}}
}

// withStore runs fn on the database of a configuration file; work that it enqueues is done by whichever server runs.
func withStore(ctx context.Context, file string, fn func(context.Context, *postgres.Store) error) error {
	c, err := config.Read(file)
	if err != nil {
		return &exitError{Code: 2, Err: err}
	}
	pool, err := pgxpool.New(ctx, c.Database.URL)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer pool.Close()
	queue, err := jobs.Enqueuer(pool)
	if err != nil {
		return err
	}
	return fn(ctx, postgres.NewStore(pool, queue.InsertTx))
}
