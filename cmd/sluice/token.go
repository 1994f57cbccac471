package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/promotion"
)

func newTokenCommand() *cobra.Command {
	token := &cobra.Command{Use: "token", Short: "Make API tokens"}
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
			c, err := config.Read(file)
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			pool, err := pgxpool.New(cmd.Context(), c.Database.URL)
			if err != nil {
				return fmt.Errorf("connect to the database: %w", err)
			}
			defer pool.Close()
			now := time.Now()
			secret, hash := auth.NewToken()
			store := postgres.NewStore(pool, nil)
			if err := store.SaveToken(cmd.Context(), name, hash, roles, now, now.AddDate(0, 0, days)); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), secret)
			return err
		},
	}
	configFlag(create, &file)
	create.Flags().StringVar(&name, "name", "", "who or what uses the token, as the audit shows it")
	create.Flags().StringSliceVar(&named, "role", nil, "viewer, ci, release-manager, approver, break-glass or admin; several with commas")
	create.Flags().IntVar(&days, "days", 90, "how long it is valid")
	_ = create.MarkFlagRequired("name")
	_ = create.MarkFlagRequired("role")
	token.AddCommand(create)
	return token
}
