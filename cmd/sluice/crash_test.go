package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/postgres/embedded"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/demotest"
)

// The test binary runs itself as sluice, so that a test can end the process at a boundary.
const (
	asProgram = "SLUICE_TEST_AS_PROGRAM"
	crashAt   = "SLUICE_TEST_CRASH_AT"
	reviewBy  = "SLUICE_TEST_REVIEW_BY" // who approves every open pull request at the host
	queueIn   = "SLUICE_TEST_QUEUE_IN"  // the environment where what is newer waits
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(dyingAt(os.Getenv(crashAt)), soakingBriefly, reviewedBy(os.Getenv(reviewBy))))
	}
	if err := os.Setenv(asProgram, "1"); err != nil { // for what the tests start
		panic(err)
	}
	os.Exit(m.Run())
}

func dyingAt(boundary string) serverOption {
	return func(s *server) {
		s.checkpoint = func(passed string) {
			if passed == boundary {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // nothing more may happen in this process
			}
		}
	}
}

func soakingBriefly(s *server) {
	s.policies = briefly{s.policies}
}

// reviewedBy has the built-in host tell of reviews, as other hosts do.
func reviewedBy(name string) serverOption {
	return func(s *server) {
		if name == "" {
			return
		}
		s.config.People = append(s.config.People, config.Person{Name: name, Roles: []string{string(promotion.RoleApprover)}})
		s.identify = func(_, login string) (promotion.Actor, bool) {
			return promotion.Actor{Name: login, Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleApprover}}, true
		}
		s.reviewing = func(h promotion.PullRequestHost) promotion.PullRequestHost { return reviewed{h, name} }
	}
}

type reviewed struct {
	promotion.PullRequestHost
	by string
}

func (r reviewed) Reviews(ctx context.Context, number int) ([]promotion.Review, error) {
	p, err := r.Get(ctx, number)
	return []promotion.Review{{Author: r.by, Verdict: promotion.ReviewApproves, Head: p.HeadSHA, At: p.At}}, err
}

// briefly is a policy after which a release soon counts as verified, and of a queue where one is asked for.
type briefly struct{ promotion.Policies }

func (b briefly) Parse(files promotion.PolicyFiles) (promotion.Rules, error) {
	rules, err := b.Policies.Parse(files)
	return brieflyRules{rules}, err
}

type brieflyRules struct{ promotion.Rules }

func (b brieflyRules) For(t promotion.Target) promotion.EnvironmentPolicy {
	p := b.Rules.For(t)
	p.Soak = 100 * time.Millisecond
	p.NewerWaits = t.Environment == os.Getenv(queueIn)
	return p
}

// crash is one demo that is killed again and again.
type crash struct {
	*testing.T
	demo  *demotest.Demo
	count int
}

// TestKilledAnywhere kills the server at every boundary between two steps, as listed by the code, starts
// it again, and expects the promotion to end as it should: one branch, one pull request, one merge, one sync.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	groups := [2][]string{}
	for i, boundary := range promotion.Boundaries() {
		groups[i%2] = append(groups[i%2], boundary)
	}
	for i, boundaries := range groups {
		t.Run(fmt.Sprint("half ", i+1), func(t *testing.T) {
			t.Parallel()
			c := &crash{T: t, demo: demotest.New(t, os.Args[0])}
			c.demo.Run(t)
			for _, boundary := range boundaries {
				step, _, _ := strings.Cut(boundary, ":")
				scenario, ok := scenarios[step]
				if !ok {
					t.Fatalf("no scenario passes boundary %s: write one", boundary)
				}
				scenario(c, boundary)
				if t.Failed() {
					t.Fatalf("after a kill at %s", boundary)
				}
			}
			c.demo.Kill()
			c.onePullRequestEach()
		})
	}
}

// scenarios lead through each step, by its name.
var scenarios = map[string]func(*crash, string){
	"build": (*crash).buildIsPosted, "request": (*crash).stagingIsRequested,
	"propose": (*crash).devGoes, "open": (*crash).devGoes, "report": (*crash).devGoes, "merge": (*crash).devGoes,
	"follow": (*crash).devGoes, "verify": (*crash).devGoes, "clean-up": (*crash).devGoes,
	"sync": (*crash).prodIsSynced, "find-merged": (*crash).prodIsMergedByHand, "find-closed": (*crash).branchIsDeleted,
	"close": (*crash).prodIsCancelled, "lapse": (*crash).mergeLapses, "overtake": (*crash).devIsOvertaken,
	"withdraw": (*crash).overlayIsRemoved, "notice": (*crash).somebodyChangesProd, "review": (*crash).prodIsReviewed,
	"withdraw-merge": (*crash).standingMergeEnds, "move-up": (*crash).nextHasItsTurn,
}

// arm restarts the server so that it dies at the boundary.
func (c *crash) arm(boundary string) {
	c.demo.Kill()
	c.demo.Run(c.T, crashAt+"="+boundary)
}

// die waits for the end and starts the server anew, without a crash to come.
func (c *crash) die(boundary string) {
	c.Helper()
	if !demotest.Await(60*time.Second, c.demo.Ended) {
		c.Fatalf("the server did not reach %s", boundary)
	}
	c.demo.Run(c.T, crashAt+"=")
}

func (c *crash) image() (version, body string) {
	c.Helper()
	c.count++
	version = fmt.Sprintf("3.%d.0", c.count)
	repository, digest := c.demo.Image(c.T, "web", version)
	return version, demotest.Build("web", version, repository, digest)
}

// post posts a build; release and dev promotion are in the answer.
func (c *crash) post(body string) (release, dev float64) {
	c.Helper()
	status, answer := c.demo.Ask(c.T, "ci", http.MethodPost, "/api/v1/builds", body)
	if status != http.StatusCreated && status != http.StatusOK {
		c.Fatalf("post a build: %d %v", status, answer)
	}
	return first(answer["releases"]), first(answer["promotions"])
}

func first(list any) float64 {
	items, _ := list.([]any)
	if len(items) == 0 {
		return 0
	}
	id, _ := items[0].(map[string]any)["id"].(float64)
	return id
}

// try posts what may be answered by a dying server.
func (c *crash) try(who, path, body string) {
	c.Helper()
	_, _, _ = c.demo.Try(c.demo.Token(c.T, who), http.MethodPost, path, body) // the process may end in the middle
}

func (c *crash) promote(release float64, environment string) float64 {
	c.Helper()
	status, answer := c.demo.Ask(c.T, "release-manager", http.MethodPost, "/api/v1/promotions",
		fmt.Sprintf(`{"application":"web","environment":%q,"release":%.0f,"reason":"crash test"}`, environment, release))
	if status != http.StatusCreated {
		c.Fatalf("promote to %s: %d %v", environment, status, answer)
	}
	return answer["id"].(float64)
}

func (c *crash) ends(id float64, states ...string) map[string]any {
	c.Helper()
	return c.demo.AwaitState(c.T, id, states...)
}

func (c *crash) buildIsPosted(boundary string) {
	_, body := c.image()
	c.arm(boundary)
	c.try("ci", "/api/v1/builds", body)
	c.die(boundary)
	release, dev := c.post(body) // CI tries again
	again, same := c.post(body)
	if release != again || dev != same {
		c.Errorf("posting again gave release %v and promotion %v, then %v and %v", release, dev, again, same)
	}
	c.ends(dev, "verified")
	c.finished(dev)
}

func (c *crash) devGoes(boundary string) {
	_, body := c.image()
	c.arm(boundary)
	c.try("ci", "/api/v1/builds", body)
	c.die(boundary)
	_, dev := c.post(body)
	c.ends(dev, "verified")
	c.finished(dev)
}

func (c *crash) stagingIsRequested(boundary string) {
	_, body := c.image()
	release, dev := c.post(body)
	c.ends(dev, "verified")
	c.arm(boundary)
	c.try("release-manager", "/api/v1/promotions", fmt.Sprintf(`{"application":"web","environment":"staging","release":%.0f}`, release))
	c.die(boundary)
	staging := c.latest("staging")
	c.ends(staging, "verified")
	c.finished(staging)
}

// openProd brings a new release to an open pull request for prod.
func (c *crash) openProd() float64 {
	c.Helper()
	_, body := c.image()
	release, dev := c.post(body)
	c.ends(dev, "verified")
	c.ends(c.promote(release, "staging"), "verified")
	prod := c.promote(release, "prod")
	c.ends(prod, "open")
	return prod
}

func (c *crash) act(who string, id float64, action, body string) {
	c.Helper()
	status, answer := c.demo.Ask(c.T, who, http.MethodPost, fmt.Sprintf("/api/v1/promotions/%.0f/%s", id, action), body)
	if status >= 300 {
		c.Fatalf("%s: %d %v", action, status, answer)
	}
}

func (c *crash) prodIsSynced(boundary string) {
	prod := c.openProd()
	c.act("approver", prod, "approvals", `{"decision":"approve"}`)
	c.arm(boundary)
	c.try("release-manager", fmt.Sprintf("/api/v1/promotions/%.0f/merge", prod), "")
	c.die(boundary)
	merge := c.ends(prod, "verified")["pull_request"].(map[string]any)["merge_sha"].(string)
	c.finished(prod)
	if n := c.syncs("web-prod", merge); n != 1 {
		c.Errorf("%s was synced %d times", merge, n)
	}
}

func (c *crash) prodIsMergedByHand(boundary string) {
	prod := c.openProd()
	c.arm(boundary)
	clone := c.clone()
	c.git(clone, "merge", "--quiet", "--no-ff", "-m", "by hand", "origin/"+c.branch(prod, "prod"))
	c.push(clone, "HEAD:main")
	c.die(boundary)
	c.ends(prod, "merged")
	c.act("approver", prod, "approvals", `{"decision":"approve"}`) // nobody had: the sync waits for it
	c.ends(prod, "verified")
	c.finished(prod)
}

func (c *crash) branchIsDeleted(boundary string) {
	prod := c.openProd()
	c.arm(boundary)
	c.push(c.clone(), ":"+c.branch(prod, "prod"))
	c.die(boundary)
	c.ends(prod, "cancelled")
	c.finished(prod)
}

// overlayIsRemoved adds an environment beside prod and takes it away while a promotion to it is open.
func (c *crash) overlayIsRemoved(boundary string) {
	_, body := c.image()
	release, dev := c.post(body)
	c.ends(dev, "verified")
	c.ends(c.promote(release, "staging"), "verified")
	clone := c.clone()
	spare := fmt.Sprintf("prod-%d", c.count)
	c.git(clone, "checkout", "--quiet", "-B", "main", "origin/main")
	if err := os.CopyFS(filepath.Join(clone, "apps/web/overlays", spare), os.DirFS(filepath.Join(clone, "apps/web/overlays/prod"))); err != nil {
		c.Fatal(err)
	}
	c.git(clone, "add", "--all")
	c.git(clone, "commit", "--quiet", "-m", "a spare")
	c.push(clone, "main")
	var id float64
	demotest.Await(30*time.Second, func() bool {
		status, answer := c.demo.Ask(c.T, "release-manager", http.MethodPost, "/api/v1/promotions",
			fmt.Sprintf(`{"application":"web","environment":%q,"release":%.0f,"reason":"crash test"}`, spare, release))
		id, _ = answer["id"].(float64)
		return status == http.StatusCreated
	})
	c.ends(id, "open")
	c.arm(boundary)
	c.git(clone, "rm", "--quiet", "-r", "apps/web/overlays/"+spare)
	c.git(clone, "commit", "--quiet", "-m", "no spare")
	c.push(clone, "main")
	c.die(boundary)
	c.ends(id, "cancelled")
	c.finished(id)
}

// somebodyChangesProd opens a pull request that no promotion made.
func (c *crash) somebodyChangesProd(boundary string) {
	before := c.latest("prod")
	clone := c.clone()
	branch := fmt.Sprintf("replicas-%d", c.count)
	c.count++
	c.git(clone, "checkout", "--quiet", "-b", branch, "origin/main")
	file := filepath.Join(clone, "apps/web/overlays/prod/kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "count: 4", fmt.Sprintf("count: %d", 10+c.count), 1)), 0o600); err != nil {
		c.Fatal(err)
	}
	c.git(clone, "commit", "--quiet", "-a", "-m", "more replicas")
	c.push(clone, branch)
	c.arm(boundary)
	form := url.Values{"branch": {branch}, "title": {"More replicas"}}
	r, err := http.NewRequest(http.MethodPost, c.demo.URL+"/git/shop-config/pulls/new", strings.NewReader(form.Encode()))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.demo.Token(c.T, "release-manager"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if answer, err := http.DefaultClient.Do(r); err == nil {
		_ = answer.Body.Close()
	}
	c.die(boundary)
	var id float64
	demotest.Await(60*time.Second, func() bool { id = c.latest("prod"); return id != before })
	c.ends(id, "open")
	c.push(clone, ":"+branch)
	c.ends(id, "cancelled")
}

// prodIsReviewed is approved by a review at the host.
func (c *crash) prodIsReviewed(boundary string) {
	prod := c.openProd()
	c.demo.Kill()
	c.demo.Run(c.T, crashAt+"="+boundary, reviewBy+"=amir")
	if !demotest.Await(60*time.Second, c.demo.Ended) {
		c.Fatalf("the server did not reach %s", boundary)
	}
	c.demo.Run(c.T, crashAt+"=", reviewBy+"=amir")
	merged := demotest.Await(60*time.Second, func() bool {
		status, _, err := c.demo.Try(c.demo.Token(c.T, "release-manager"), http.MethodPost, fmt.Sprintf("/api/v1/promotions/%.0f/merge", prod), "")
		return err == nil && status == http.StatusOK
	})
	if !merged {
		c.Errorf("promotion %.0f is not approved by the review", prod)
	}
	c.ends(prod, "verified")
	c.finished(prod)
	c.demo.Kill()
	c.demo.Run(c.T, crashAt+"=")
}

// push pushes to a server that may die before it has answered. A server that was started anew has other tokens.
func (c *crash) push(clone, refs string) {
	c.Helper()
	cmd := exec.Command("git", "push", "--quiet", c.remote(), refs)
	cmd.Dir = clone
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		c.Logf("git push: %v: %s", err, out)
	}
}

func (c *crash) prodIsCancelled(boundary string) {
	prod := c.openProd()
	c.arm(boundary)
	c.try("release-manager", fmt.Sprintf("/api/v1/promotions/%.0f/cancel", prod), `{"reason":"crash test"}`)
	c.die(boundary)
	c.ends(prod, "cancelled")
	c.finished(prod)
}

// mergeLapses: the wish to merge was stored, and while no server ran the approval it rested on went.
func (c *crash) mergeLapses(boundary string) {
	prod := c.openProd()
	c.demo.Kill()
	c.sql("UPDATE promotions SET merge_asked_by = 'rita', merge_asked_at = now() WHERE id = $1", int64(prod))
	c.demo.Run(c.T, crashAt+"="+boundary)
	c.die(boundary)
	p := c.ends(prod, "open")
	if !demotest.Await(30*time.Second, func() bool { return c.asked(prod) == "" }) {
		c.Errorf("the wish to merge did not lapse: %v", p)
	}
	c.act("release-manager", prod, "cancel", `{"reason":"crash test"}`)
	c.ends(prod, "cancelled")
	c.finished(prod)
}

// standingMergeEnds: somebody had asked for the merge when the gates pass, and the promotion is cancelled.
func (c *crash) standingMergeEnds(boundary string) {
	prod := c.openProd()
	c.act("release-manager", prod, "standing-merge", "")
	c.arm(boundary)
	c.try("release-manager", fmt.Sprintf("/api/v1/promotions/%.0f/cancel", prod), `{"reason":"crash test"}`)
	c.die(boundary)
	if !demotest.Await(30*time.Second, func() bool { return c.ends(prod, "cancelled")["standing_merge"] == nil }) {
		c.Errorf("promotion %.0f is cancelled, and its merge still stands", prod)
	}
	c.finished(prod)
}

// nextHasItsTurn: a promotion waits in the queue, and the one before it is cancelled.
func (c *crash) nextHasItsTurn(boundary string) {
	prod := c.openProd()
	_, body := c.image()
	release, dev := c.post(body)
	c.ends(dev, "verified")
	c.ends(c.promote(release, "staging"), "verified")
	c.demo.Kill()
	c.demo.Run(c.T, crashAt+"="+boundary, queueIn+"=prod")
	next := c.promote(release, "prod")
	if behind := c.ends(next, "requested")["behind"]; behind != prod {
		c.Errorf("promotion %.0f waits behind %v, want %.0f", next, behind, prod)
	}
	c.try("release-manager", fmt.Sprintf("/api/v1/promotions/%.0f/cancel", prod), `{"reason":"crash test"}`)
	c.die(boundary)
	c.ends(prod, "cancelled")
	c.finished(prod)
	c.ends(next, "open")
	c.act("release-manager", next, "cancel", `{"reason":"crash test"}`)
	c.ends(next, "cancelled")
	c.finished(next)
}

func (c *crash) devIsOvertaken(boundary string) {
	_, older := c.image()
	_, newer := c.image()
	c.arm(boundary)
	_, dev := c.post(older)
	c.demo.AwaitState(c.T, dev, "merged", "syncing")
	c.try("ci", "/api/v1/builds", newer)
	c.die(boundary)
	_, next := c.post(newer)
	c.ends(next, "verified")
	c.ends(dev, "superseded")
	c.finished(dev)
	c.finished(next)
}

// latest is the newest promotion of web to an environment.
func (c *crash) latest(environment string) float64 {
	c.Helper()
	_, answer := c.demo.Ask(c.T, "viewer", http.MethodGet, "/api/v1/promotions?application=web&environment="+environment, "")
	return first(answer["items"])
}

// asked tells who wishes the merge, from the audit: a lapsed wish is its newest event.
func (c *crash) asked(id float64) string {
	_, answer := c.demo.Ask(c.T, "viewer", http.MethodGet, fmt.Sprintf("/api/v1/audit-events?promotion=%.0f", id), "")
	items, _ := answer["items"].([]any)
	for _, e := range items {
		if e.(map[string]any)["action"] == "promotion.merge-lapsed" {
			return ""
		}
	}
	return "rita"
}

func (c *crash) branch(id float64, environment string) string {
	return fmt.Sprintf("sluice/web/%s/%.0f", environment, id)
}

func (c *crash) clone() string {
	c.Helper()
	dir := filepath.Join(c.TempDir(), "clone")
	c.git(c.TempDir(), "clone", "--quiet", c.remote(), dir)
	return dir
}

func (c *crash) remote() string {
	c.Helper()
	return strings.Replace(c.demo.URL, "://", "://rita:"+c.demo.Token(c.T, "release-manager")+"@", 1) + "/git/shop-config.git"
}

func (c *crash) git(dir string, args ...string) string {
	c.Helper()
	return runGit(c.T, dir, args...)
}

func runGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Rita", "GIT_AUTHOR_EMAIL=rita@example.com",
		"GIT_COMMITTER_NAME=Rita", "GIT_COMMITTER_EMAIL=rita@example.com", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

// finished waits until nothing of the promotion is left to do: its branch is gone, and main holds its change at most once.
func (c *crash) finished(id float64) {
	c.Helper()
	remote := c.demo.URL + "/git/shop-config.git"
	gone := demotest.Await(30*time.Second, func() bool {
		return !strings.Contains(c.git(".", "ls-remote", "--heads", remote), fmt.Sprintf("/%.0f\n", id))
	})
	if !gone {
		c.Errorf("the branch of promotion %.0f is still there", id)
	}
	log := c.git(c.clone(), "log", "--no-merges", "--format=%(trailers:key=Sluice-Promotion,valueonly)", "origin/main")
	if n := slices.Collect(strings.Lines(log)); count(n, fmt.Sprintf("%.0f\n", id)) > 1 {
		c.Errorf("main holds the change of promotion %.0f %d times", id, count(n, fmt.Sprintf("%.0f\n", id)))
	}
}

func count(lines []string, line string) int {
	n := 0
	for _, l := range lines {
		if l == line {
			n++
		}
	}
	return n
}

// syncs counts how often an Application was synced to a revision, as its history says.
func (c *crash) syncs(application, revision string) int {
	c.Helper()
	text, err := os.ReadFile(filepath.Join(c.demo.Data, "cluster.json"))
	if err != nil {
		c.Fatal(err)
	}
	var objects []map[string]any
	if err := json.Unmarshal(text, &objects); err != nil {
		c.Fatal(err)
	}
	n := 0
	for _, o := range objects {
		if o["kind"] != "Application" || o["metadata"].(map[string]any)["name"] != application {
			continue
		}
		history, _ := o["status"].(map[string]any)["history"].([]any)
		for _, h := range history {
			if h.(map[string]any)["revision"] == revision {
				n++
			}
		}
	}
	return n
}

// sql runs a statement on the killed demo's database.
func (c *crash) sql(statement string, args ...any) {
	c.Helper()
	c.database(func(conn *pgx.Conn) error {
		_, err := conn.Exec(context.Background(), statement, args...)
		return err
	})
}

func (c *crash) database(fn func(*pgx.Conn) error) {
	c.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := embedded.Start(ctx, embedded.Options{Data: filepath.Join(c.demo.Data, "postgres")})
	if err != nil {
		c.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, server.URL("sluice"))
	if err == nil {
		err = errors.Join(fn(conn), conn.Close(ctx))
	}
	if err := errors.Join(err, server.Stop(ctx)); err != nil {
		c.Fatal(err)
	}
}

// onePullRequestEach: whatever happened, no promotion has two pull requests, and none is left open.
func (c *crash) onePullRequestEach() {
	c.Helper()
	var doubled, open int
	c.database(func(conn *pgx.Conn) error {
		return conn.QueryRow(context.Background(), `SELECT
			(SELECT count(*) FROM (SELECT branch FROM prhost.pull_requests GROUP BY branch HAVING count(*) > 1) d),
			(SELECT count(*) FROM prhost.pull_requests WHERE state = 'open')`).Scan(&doubled, &open)
	})
	if doubled != 0 || open != 0 {
		c.Errorf("%d promotions have two pull requests, %d pull requests are left open", doubled, open)
	}
}
