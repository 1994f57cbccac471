package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

type setUpView struct {
	Repositories []repositoryView
	Clusters     []clusterView
	Databases    []databaseView
	Idle         []string // targets without deployment
	Strays       []string // deployments without target
	Problems     []cellView
	Undelivered  []undeliveredView
	Unchecked    []string
}

// undeliveredView is a notification that has not arrived.
type undeliveredView struct {
	Destination, What, Problem, Attempts string
	At, TriedAt                          moment
}

type repositoryView struct {
	Name       string
	URL        link
	BaseBranch string
	Head       shortened
	Problem    string
	Limited    *moment // until when its host answers no calls
	LookedAt   moment
	Pulls      string // address of the built-in host's list
	Policy     policyView
	Engine     []faultView
}

type clusterView struct {
	Name        string
	Deployments string
	Simulated   bool
	At          moment

	count int
	last  time.Time
}

// databaseView is an application's database, as the configuration names it: where it is stays there.
type databaseView struct {
	Name     string
	Mark     mark
	ReadAt   *moment // nil: it was never read
	Problem  string
	LookedAt moment
}

func newDatabaseView(l promotion.DatabaseLook, now time.Time) databaseView {
	v := databaseView{Name: l.Application + " in " + l.Environment, Problem: l.Problem, LookedAt: at(l.At, now)}
	if !l.ReadAt.IsZero() {
		v.ReadAt = new(at(l.ReadAt, now))
	}
	switch {
	case l.At.IsZero():
		v.Mark = mark{Shape: "dash", Tone: "off", Word: "not asked yet", Title: "it is asked when a rollback verdict has migrations to compare"}
	case l.Problem != "":
		v.Mark = mark{Shape: "unknown", Tone: "warn", Word: "not read"}
	default:
		v.Mark = mark{Shape: "check", Tone: "good", Word: "read"}
	}
	return v
}

// undeliveredShown bounds the list of notifications that have not arrived.
const undeliveredShown = 50

// unchecked is what no gate looks at yet, and so never counts as checked.
func unchecked() []string {
	return []string{
		"server dry run: what a webhook without dry runs decides, and what needs a namespace or a definition that the same sync makes; the gate names it",
		"rollback safety: what was asked of no registry, cluster or database is unknown and said so; message formats, caches and other side effects are as somebody attests, where the policy asks for that",
		"evidence: what was posted counts as whoever posted it says",
		"branch protection: what the host says it enforces; Sluice does not try it out",
		"provenance: the source commit of a build is what CI said; no signature is verified",
	}
}

func (w *Web) showSetUp(c echo.Context) error {
	ctx := c.Request().Context()
	repositories, err := w.store.Repositories(ctx)
	if err != nil {
		return err
	}
	targets, err := w.store.Targets(ctx)
	if err != nil {
		return err
	}
	deployments, err := w.store.Deployments(ctx, "", "")
	if err != nil {
		return err
	}
	v := setUpView{Clusters: clusters(deployments, w.now()), Unchecked: unchecked()}
	undelivered, err := w.store.Deliveries(ctx, true, undeliveredShown)
	if err != nil {
		return err
	}
	v.Undelivered = each(undelivered, func(d promotion.Delivery) undeliveredView {
		return undeliveredView{Destination: d.Destination, What: d.Notification.Message, Problem: d.Problem, Attempts: plural(d.Attempts, "attempt"),
			At: at(d.Notification.At, w.now()), TriedAt: at(d.TriedAt, w.now())}
	})
	databases, err := w.useCases.ApplicationDatabases(ctx)
	if err != nil {
		return err
	}
	v.Databases = each(databases, func(l promotion.DatabaseLook) databaseView { return newDatabaseView(l, w.now()) })
	for _, r := range repositories {
		view := repositoryView{Name: r.Name, URL: outside(r.URL, r.URL), BaseBranch: r.BaseBranch, Head: shorten(r.Head), Problem: r.Problem,
			LookedAt: at(r.LookedAt, w.now())}
		if until := r.LimitedUntil; until.After(w.now()) {
			view.Limited = new(at(until, w.now()))
		}
		if w.pullRequests != nil {
			view.Pulls = pullsURL(r.Name)
		}
		if view.Policy, err = w.policyView(ctx, r, w.now()); err != nil {
			return err
		}
		view.Engine = each(r.EngineFaults, func(f promotion.EngineFault) faultView {
			return newFaultView(promotion.PolicyFault{File: f.File, Line: f.Line, Message: f.Message})
		})
		v.Repositories = append(v.Repositories, view)
	}
	for _, t := range targets {
		if !slices.ContainsFunc(deployments, func(d promotion.Deployment) bool { return d.TargetID == t.ID }) {
			v.Idle = append(v.Idle, fmt.Sprintf("%s in %s (%s)", t.Application, t.Environment, t.Path))
		}
		if t.RenderProblem != "" {
			v.Problems = append(v.Problems, cellView{Environment: t.Application + " in " + t.Environment, Problem: t.RenderProblem})
		}
	}
	for _, d := range deployments {
		if d.TargetID == 0 {
			v.Strays = append(v.Strays, fmt.Sprintf("%s in %s: deploys %s of %s", d.Key.Name, d.Key.Cluster, d.Path, d.RepositoryURL))
		}
	}
	return w.show(c, http.StatusOK, "set-up", page{Title: "Set-up", Body: v})
}

func clusters(deployments []promotion.Deployment, now time.Time) []clusterView {
	byName := map[string]*clusterView{}
	for _, d := range deployments {
		v := byName[d.Key.Cluster]
		if v == nil {
			v = &clusterView{Name: d.Key.Cluster}
			byName[v.Name] = v
		}
		v.count++
		v.Simulated = v.Simulated || d.Simulated
		if d.ObservedAt.After(v.last) {
			v.last = d.ObservedAt
		}
	}
	var views []clusterView
	for _, v := range byName {
		v.Deployments, v.At = plural(v.count, "deployment"), at(v.last, now)
		views = append(views, *v)
	}
	slices.SortFunc(views, func(a, b clusterView) int { return cmp.Compare(a.Name, b.Name) })
	return views
}
