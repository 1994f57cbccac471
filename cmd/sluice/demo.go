package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/postgres/embedded"
	"github.com/sluicehq/sluice/internal/promotion"
)

// demoRepository is the name of the example's config repository.
const demoRepository = "shop-config"

// demoFlags are the demo command's flags.
type demoFlags struct {
	addr, data, cache string
	reset, story      bool
}

func newDemoCommand(options ...serverOption) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run everything at once with a living example: Postgres, PR host, registry and a simulated cluster",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd, f, options)
		},
	}
	cmd.Flags().StringVar(&f.addr, "addr", "127.0.0.1:8080", "host:port to answer on")
	cmd.PersistentFlags().StringVar(&f.data, "data", ".sluice", "folder in which everything is kept")
	cmd.Flags().StringVar(&f.cache, "cache", "", "folder for a fetched Postgres, where the machine has none (default: the user's cache folder)")
	cmd.Flags().BoolVar(&f.reset, "reset", false, "start over with nothing")
	cmd.Flags().BoolVar(&f.story, "story", true, "play releases of the example application checkout")
	cmd.AddCommand(newDemoImageCommand(&f.data))
	return cmd
}

func runDemo(cmd *cobra.Command, f demoFlags, options []serverOption) error {
	ctx := cmd.Context()
	data, err := filepath.Abs(f.data)
	if err != nil {
		return err
	}
	if f.reset {
		if err := os.RemoveAll(data); err != nil {
			return fmt.Errorf("start over: %w", err)
		}
	}
	if err := os.MkdirAll(data, 0o755); err != nil {
		return fmt.Errorf("make the demo's folder: %w", err)
	}
	database, err := startDatabase(ctx, data, f.cache)
	if err != nil {
		return err
	}
	defer func() { _ = database.Stop(context.WithoutCancel(ctx)) }()
	c := config.Config{Listen: f.addr, Data: data, Database: config.Database{URL: database.URL("sluice")},
		Repositories: []config.ConfigRepository{{Name: demoRepository, Host: config.BuiltIn}}}
	s := newServer(c, options)
	s.demo = true
	if err := s.listen(); err != nil {
		return err
	}
	s.config.PublicURL = "http://" + s.listener.Addr().String()
	d := &example{server: s, story: f.story, out: cmd.OutOrStdout()}
	return d.run(ctx)
}

// startDatabase starts the private Postgres with Sluice's database in it.
func startDatabase(ctx context.Context, data, cache string) (*embedded.Server, error) {
	log, err := os.OpenFile(filepath.Join(data, "postgres.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open Postgres' log: %w", err)
	}
	database, err := embedded.Start(ctx, embedded.Options{Data: filepath.Join(data, "postgres"), Cache: cache, Log: log})
	if err != nil {
		return nil, err
	}
	if err := database.CreateDatabase(ctx, "sluice", ""); err != nil && !errors.Is(err, embedded.ErrDatabaseExists) {
		return nil, errors.Join(err, database.Stop(ctx))
	}
	return database, nil
}

// personas are who one may be in the demo; each has a token of its own as well.
var personas = []struct {
	token string
	roles []promotion.Role
}{
	{"ci", []promotion.Role{promotion.RoleCI}},
	{"release-manager", []promotion.Role{promotion.RoleReleaseManager}},
	{"approver", []promotion.Role{promotion.RoleApprover}},
	{"break-glass", []promotion.Role{promotion.RoleBreakGlass}},
	{"admin", []promotion.Role{promotion.RoleAdmin}},
	{"viewer", []promotion.Role{promotion.RoleViewer}},
}

func now() time.Time { return time.Now() }
