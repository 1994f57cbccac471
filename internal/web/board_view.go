package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

type boardView struct {
	boardFilter
	Simulated bool
	Faults    []policyView
	ToReview  string
	Overdue   []overdueView
	Needs     needsView
	Columns   []string
	Rows      []rowView
	Count     string
	Empty     string
}

// Filtered tells whether something may be hidden.
func (v boardView) Filtered() bool { return v.Query != "" || v.Busy }

// overdueView is something that has waited for a person for too long.
type overdueView struct {
	What, Page string
	Since      moment
}

type rowView struct {
	Application string
	Cells       [][]cellView // by column
}

type cellView struct {
	Environment string
	Alone       bool // the only environment of its column, which names it already
	Runs        []runView
	Desired     *link // what main says, when something else runs
	Problem     string
	Open        *openView
	URL         string // of the target
	HoldURL     string
	Held        *heldView
	PauseURL    string
	Paused      *pausedView
	Drifting    *mark // nil without open drift
	Automatic   bool  // Argo CD syncs it by itself
	Overrides   []exceptionView
	Owed        []owedView
	Waiting     []link // behind what is open
}

type runView struct {
	Cluster      string // only when there are several
	Release      link
	Number       int
	Digest       shortened
	Since        moment
	Sync, Health mark
	Message      string
	Ended        *endedView // of the container that crashes
	RolledBack   string     // address of the release that runs, when it was rolled back somewhere
}

type openView struct {
	ID       int64
	State    mark
	What     string
	WaitsFor string
}

func newBoardView(facts boardFacts, filter boardFilter, by promotion.Actor, now time.Time) boardView {
	v := boardView{boardFilter: filter, Faults: facts.faults, ToReview: facts.toReview,
		Overdue: each(facts.overdue, func(o promotion.Overdue) overdueView {
			return overdueView{What: o.Message, Page: o.Page, Since: at(o.Since, now)}
		}), Needs: newNeedsView(needs(facts, by))}
	ranks := map[int][]string{}
	for _, row := range facts.rows {
		for _, cell := range row.Cells {
			rank, name := cell.Target.Rank, cell.Target.Environment
			if !slices.Contains(ranks[rank], name) {
				ranks[rank] = append(ranks[rank], name)
			}
			v.Simulated = v.Simulated || slices.ContainsFunc(cell.Deployments, func(d promotion.Deployment) bool { return d.Simulated })
		}
	}
	columns := slices.Sorted(maps.Keys(ranks))
	for _, rank := range columns {
		v.Columns = append(v.Columns, strings.Join(ranks[rank], " · "))
	}
	alone := func(rank int) bool { return len(ranks[rank]) == 1 }
	for _, row := range facts.rows {
		if filter.shows(facts, row) {
			v.Rows = append(v.Rows, newRowView(facts, row, columns, alone, now))
		}
	}
	v.Count = plural(len(v.Rows), "application")
	if len(v.Rows) < len(facts.rows) {
		v.Count = fmt.Sprintf("%d of %s", len(v.Rows), plural(len(facts.rows), "application"))
	}
	v.Empty = "No config repository has an application yet."
	if len(facts.rows) > 0 {
		v.Empty = "Nothing here: every application is quiet, or has another name."
	}
	return v
}

func (f boardFilter) shows(facts boardFacts, row promotion.BoardRow) bool {
	named := strings.Contains(strings.ToLower(row.Application), strings.ToLower(strings.TrimSpace(f.Query)))
	return named && (!f.Busy || slices.ContainsFunc(row.Cells, func(c promotion.BoardCell) bool { return !facts.quiet(c) }))
}

// quiet is a target where nothing happens and nothing is wrong.
func (f boardFacts) quiet(c promotion.BoardCell) bool {
	if c.Open != nil || len(c.Waiting) > 0 || c.Target.RenderProblem != "" || f.held[c.Target.ID] != nil || f.paused[c.Target.ID] != nil || f.drifting[c.Target.ID] > 0 || len(f.overrides[c.Target.ID]) > 0 || len(f.owed[c.Target.ID]) > 0 {
		return false
	}
	return !slices.ContainsFunc(c.Deployments, func(d promotion.Deployment) bool {
		return d.Sync != promotion.Synced || d.Health != promotion.Healthy || d.ReleaseID == 0 || differs(c, d)
	})
}

// differs tells whether main says something else than what runs.
func differs(c promotion.BoardCell, d promotion.Deployment) bool {
	return c.Desired != nil && d.ReleaseID != c.Desired.ID
}

func newRowView(facts boardFacts, row promotion.BoardRow, columns []int, alone func(rank int) bool, now time.Time) rowView {
	v := rowView{Application: row.Application, Cells: make([][]cellView, len(columns))}
	cells := slices.Clone(row.Cells)
	slices.SortStableFunc(cells, func(a, b promotion.BoardCell) int { return cmp.Compare(a.Target.Environment, b.Target.Environment) })
	for _, c := range cells {
		i, _ := slices.BinarySearch(columns, c.Target.Rank)
		cell := facts.cellView(c, now)
		cell.Alone = alone(c.Target.Rank)
		v.Cells[i] = append(v.Cells[i], cell)
	}
	return v
}

func newCellView(c promotion.BoardCell, now time.Time) cellView {
	v := cellView{Environment: c.Target.Environment, Problem: c.Target.RenderProblem, URL: targetURL(c.Target.Application, c.Target.Environment),
		HoldURL: holdURL(c.Target.Application, c.Target.Environment), PauseURL: syncPauseURL(c.Target.Application, c.Target.Environment),
		Automatic: slices.ContainsFunc(c.Deployments, func(d promotion.Deployment) bool { return d.AutomatedSync })}
	other := len(c.Deployments) == 0 && c.Desired != nil
	for _, d := range c.Deployments {
		v.Runs = append(v.Runs, newRunView(d, len(c.Deployments) > 1, now))
		other = other || differs(c, d)
	}
	if other {
		l := releaseLink(c.Desired.ID, c.Desired.Version)
		v.Desired = &l
	}
	if p := c.Open; p != nil {
		v.Open = &openView{ID: p.ID, State: stateMark(p.State()), What: what(*p), WaitsFor: p.WaitsFor}
		for _, r := range v.Runs { // its message is shown already
			v.Open.WaitsFor = strings.TrimSpace(strings.TrimSuffix(v.Open.WaitsFor, r.Message))
		}
	}
	v.Waiting = each(c.Waiting, func(p promotion.Promotion) link { return link{Text: what(p), URL: promotionLink(p.ID).URL} })
	return v
}

func newRunView(d promotion.Deployment, several bool, now time.Time) runView {
	v := runView{Release: running(d.ReleaseID, d.Version, d.Health), Number: d.Number, Digest: shortenAll(d.Images), Since: at(d.Since, now),
		Sync: syncMark(d.Sync), Health: healthMark(d.Health), Message: d.Message}
	if d.RolledBack {
		v.RolledBack = fmt.Sprintf("/releases/%d#rolled-back", d.ReleaseID)
	}
	if several {
		v.Cluster = d.Key.Cluster
	}
	v.Ended = newEndedView(d)
	return v
}
