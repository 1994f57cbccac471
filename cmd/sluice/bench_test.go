package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/demo"
	"github.com/sluicehq/sluice/internal/postgres/embedded"
	"github.com/sluicehq/sluice/internal/postgres/embedded/binaries"
	"github.com/sluicehq/sluice/test/demotest"
)

// How hard and how long the two sides of a comparison are driven.
const (
	benchClients = 16
	benchTime    = 10 * time.Second
)

// BenchmarkBuildsThroughTheDoor posts different builds of three applications, and compares with what pgbench
// inserts into one table of the same PostgreSQL, with the same durability, in the same run.
func BenchmarkBuildsThroughTheDoor(b *testing.B) {
	d, database := durableServer(b)
	inserts := pgbenchInserts(b, database)
	token := d.Token(b, "ci")
	for b.Loop() {
		var posted, version atomic.Int64
		var group sync.WaitGroup
		until := time.Now().Add(benchTime)
		for range benchClients {
			group.Go(func() {
				for time.Now().Before(until) {
					n := version.Add(1)
					application := []string{"web", "checkout", "order-service"}[n%3]
					body := demotest.Build(application, fmt.Sprintf("9.%d.0", n), "registry.example.com/shop/"+application, fmt.Sprintf("sha256:%064x", n))
					status, answer, err := d.Try(token, http.MethodPost, "/api/v1/builds", body)
					if err != nil || status != http.StatusCreated {
						b.Errorf("post: %d %v %v", status, answer, err)
						return
					}
					posted.Add(1)
				}
			})
		}
		group.Wait()
		builds := float64(posted.Load()) / benchTime.Seconds()
		b.ReportMetric(builds, "builds/s")
		b.ReportMetric(inserts, "pgbench-inserts/s")
		b.ReportMetric(builds/inserts, "ratio")
	}
}

// BenchmarkPostToOpenPullRequest measures from CI's post until the pull request is open, as the audit says.
func BenchmarkPostToOpenPullRequest(b *testing.B) {
	d := demotest.New(b, os.Args[0])
	d.Run(b)
	var taken []time.Duration
	for n := 0; b.Loop(); n++ {
		for i := range 10 {
			version := fmt.Sprintf("8.%d.%d", n, i)
			repository, digest := d.Image(b, "web", version)
			_, answer := d.Ask(b, "ci", http.MethodPost, "/api/v1/builds", demotest.Build("web", version, repository, digest))
			id := first(answer["promotions"])
			d.AwaitState(b, id, "verified")
			taken = append(taken, openedAfter(b, d, id))
		}
	}
	slices.Sort(taken)
	b.ReportMetric(float64(taken[len(taken)/2].Milliseconds()), "ms-median")
	b.ReportMetric(float64(taken[len(taken)-1].Milliseconds()), "ms-max")
}

func openedAfter(b *testing.B, d *demotest.Demo, id float64) time.Duration {
	b.Helper()
	_, list := d.Ask(b, "viewer", http.MethodGet, fmt.Sprintf("/api/v1/audit-events?promotion=%.0f", id), "")
	var requested, opened time.Time
	items, _ := list["items"].([]any)
	for _, item := range items {
		e, _ := item.(map[string]any)
		at, err := time.Parse(time.RFC3339, fmt.Sprint(e["at"]))
		if err != nil {
			b.Fatal(err)
		}
		switch e["action"] {
		case "promotion.requested":
			requested = at
		case "promotion.opened":
			opened = at
		}
	}
	if requested.IsZero() || opened.IsZero() {
		b.Fatalf("the audit of promotion %.0f lacks the events: %v", id, items)
	}
	return opened.Sub(requested)
}

// durableServer is a server on a PostgreSQL that writes through to the disk, with the example repository.
func durableServer(b *testing.B) (*serveProcess, *embedded.Server) {
	b.Helper()
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	database, err := embedded.Start(ctx, embedded.Options{Data: filepath.Join(dir, "postgres")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = database.Stop(ctx) })
	for _, name := range []string{"sluice", "pgbench"} {
		if err := database.CreateDatabase(ctx, name, ""); err != nil {
			b.Fatal(err)
		}
	}
	d := newServeProcess(b, database.URL("sluice"), dir, "")
	d.Run(b)
	d.Tokens = makeTokens(b, d.config)
	files, err := demo.Files(ctx, "registry.example.com", func(_ context.Context, i demo.Image) (string, error) {
		return fmt.Sprintf("sha256:%064d", len(i.Name)), nil
	})
	if err != nil {
		b.Fatal(err)
	}
	d.pushFiles(b, files)
	if !demotest.Await(30*time.Second, func() bool {
		_, list := d.Ask(b, "viewer", http.MethodGet, "/api/v1/applications", "")
		items, _ := list["items"].([]any)
		return len(items) == 3
	}) {
		b.Fatal("the example repository was not read in 30 s")
	}
	return d, database
}

var tps = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

func pgbenchInserts(b *testing.B, database *embedded.Server) float64 {
	b.Helper()
	programs, err := binaries.Find(context.Background(), 0)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	script := filepath.Join(dir, "insert.sql")
	if err := os.WriteFile(script, []byte("INSERT INTO posts (body) VALUES (repeat('x', 400));\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	url := database.URL("pgbench")
	run := func(program string, args ...string) string {
		out, err := exec.Command(programs.Path(program), args...).CombinedOutput()
		if err != nil {
			b.Fatalf("%s, which comes with PostgreSQL's own packages: %v\n%s", program, err, out)
		}
		return string(out)
	}
	run("psql", url, "-c", "CREATE TABLE posts (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL)")
	out := run("pgbench", "--no-vacuum", "--client", strconv.Itoa(benchClients), "--jobs", "2",
		"--time", strconv.Itoa(int(benchTime.Seconds())), "--file", script, url)
	found := tps.FindStringSubmatch(out)
	if found == nil {
		b.Fatalf("pgbench printed no rate:\n%s", out)
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return rate
}
