package main

import (
	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/migrations"
)

func newMigrateCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to date (serve does so too when it starts)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Read(file)
			if err != nil {
				return &exitError{Code: 2, Err: err}
			}
			return postgres.Migrate(cmd.Context(), c.Database.URL, migrations.Files)
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "config", "", "the server's configuration file")
	_ = cmd.MarkFlagRequired("config")
}
