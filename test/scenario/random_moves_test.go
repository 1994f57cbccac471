package scenario_test

import (
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// move is something that can happen; it says what became of it.
type move struct {
	name string
	do   func() string
}

func (w *walker) moves() []move {
	service, ctx := w.service, w.Context()
	prod := promotion.HoldRequest{Application: "web", Environment: "prod", Reason: "we look at something"}
	open := "p.decision = 'requested' AND p.pull_request <> 'merged'"
	return []move{
		{"a release reaches staging", w.newRelease},
		{"a release reaches staging", w.newRelease},
		{"promote", w.promoteSome},
		{"promote", w.promoteSome},
		{"approve", w.approveSome},
		{"approve", w.approveSome},
		{"approve", w.approveSome},
		{"approve", w.approveSome},
		{"reject", func() string {
			id := w.one(open)
			_, err := service.Decide(ctx, ada, promotion.DecideRequest{PromotionID: id, Decision: "reject", Comment: "no"})
			return w.outcome(id, err)
		}},
		{"cancel", func() string {
			id := w.one(open)
			_, err := service.Cancel(ctx, rita, id, "never mind")
			return w.outcome(id, err)
		}},
		{"merge", w.mergeSome},
		{"merge", w.mergeSome},
		{"merge", w.mergeSome},
		{"merge", w.mergeSome},
		{"merge when the gates pass", w.mergeSomeLater},
		{"merge when the gates pass", w.mergeSomeLater},
		{"all that a merge needs", w.mergeProperly},
		{"all that a merge needs", w.mergeProperly},
		{"all that a merge needs", w.mergeProperly},
		{"all goes well", w.goesWell},
		{"all goes well", w.goesWell},
		{"all goes well", w.goesWell},
		{"merge by git", w.mergeByGit},
		{"merge at the host", w.mergeAtHost},
		{"push to Sluice's branch", func() string {
			branch := pick(w, w.texts("SELECT branch FROM promotions WHERE pull_request = 'open' AND kind <> 'change' ORDER BY id"))
			if branch == "" || w.clone().Remote(branch) == "" {
				return "there is none"
			}
			w.clone().Git("fetch", "--quiet", "origin")
			w.clone().Commit(branch, "origin/"+branch, overlay("web", "prod"), w.replicas())
			w.clone().Git("push", "--quiet", "origin", branch)
			return branch
		}},
		{"push to main", func() string {
			sha := w.clone().Push("main", overlay("web", "prod"), w.replicas())
			w.byHand = append(w.byHand, sha)
			return sha
		}},
		{"open a pull request", func() string {
			branch := fmt.Sprintf("change-%d", w.next())
			head := w.clone().Push(branch, overlay("web", "prod"), w.replicas())
			pr, err := w.host.Open(ctx, repository, promotion.NewPullRequest{Branch: branch, Head: head, Title: "More", Body: "by hand"}, otto)
			w.must(err)
			w.pulls = append(w.pulls, pull{pr.Number, branch})
			return branch
		}},
		{"push to a pull request", func() string {
			p := pick(w, w.pulls)
			if p.branch == "" || w.clone().Remote(p.branch) == "" {
				return "there is none"
			}
			return p.branch + " " + w.clone().Push(p.branch, overlay("web", "prod"), w.replicas())
		}},
		{"close a pull request", func() string {
			p := pick(w, w.pulls)
			if p.branch == "" {
				return "there is none"
			}
			return w.outcome(p.branch, w.host.Close(ctx, repository, p.number, "no", otto))
		}},
		{"freeze", func() string {
			now := w.clock.now()
			f, err := service.Freeze(ctx, rita, promotion.Freeze{Kind: promotion.KindFreeze, Reason: "the big sale", Owner: "ops",
				Environments: []string{"prod"}, StartsAt: now, EndsAt: now.Add(20 * time.Minute)})
			return w.outcome(f.ID, err)
		}},
		{"thaw", func() string {
			var id int64
			_, _ = fmt.Sscan(pick(w, w.texts("SELECT id::text FROM freezes WHERE ended_at IS NULL ORDER BY id")), &id)
			return w.outcome(id, service.Thaw(ctx, rita, id))
		}},
		{"hold", func() string { return w.outcome("prod", service.Hold(ctx, rita, prod)) }},
		{"resume", func() string { return w.outcome("prod", service.Resume(ctx, rita, prod)) }},
		{"resume", func() string { return w.outcome("prod", service.Resume(ctx, rita, prod)) }},
		{"a little time passes", func() string { return w.later(time.Duration(w.random.IntN(300)) * time.Second) }},
		{"much time passes", func() string { return w.later(time.Duration(w.random.IntN(60)) * time.Minute) }},
		{"break the glass", func() string {
			gate := pick(w, []string{promotion.GateApprovals, promotion.GateEvidence, promotion.GateSyncWindow, promotion.GateHold})
			_, err := service.Override(ctx, gil, promotion.OverrideRequest{Application: "web", Environment: "prod", Gates: []string{gate},
				Reason: "prod is down", ExpiresAt: w.clock.now().Add(10 * time.Minute)})
			return w.outcome(gate, err)
		}},
		{"evidence", w.postEvidence},
		{"evidence", w.postEvidence},
		{"an approver comes or goes", w.comesOrGoes},
		{"policy", w.changePolicy},
		{"hotfix", w.hotfix},
		{"hotfix", w.hotfix},
		{"hotfix", w.hotfix},
		{"pay what is owed", w.pay},
		{"waive what is owed", w.waive},
		{"promote all", w.promoteAll},
		{"restore", w.restoreSome},
		{"the cluster applies", w.clusterApplies},
		{"the cluster applies", w.clusterApplies},
		{"the cluster is degraded", func() string { w.sees("web", "prod", health(promotion.Degraded, "crashes")); return "" }},
		{"the cluster is healthy", func() string { w.sees("web", "prod", healthy); return "" }},
		{"the sync fails", func() string {
			if n := len(w.cluster.syncs); n > 0 {
				w.sees("web", "prod", syncFailed(w.cluster.syncs[n-1].Revision, "no such namespace"))
			}
			return ""
		}},
		{"retry", func() string {
			id := w.one("p.failure <> ''")
			_, err := service.Retry(ctx, rita, id)
			return w.outcome(id, err)
		}},
		{"restart", func() string { w.restarts(); w.lookAtEverything(); return "" }},
		{"look", func() string { w.lookAtEverything(); return "" }},
	}
}

// replicas is prod's overlay on main with a number of replicas that it never had.
func (w *walker) replicas() string {
	text := w.file(overlay("web", "prod"))
	return replicaCount.ReplaceAllString(text, fmt.Sprintf("count: %d", 100+w.next()))
}

func (w *walker) later(d time.Duration) string {
	w.pass(d)
	return d.String()
}

func (w *walker) newRelease() string {
	w.settle()
	w.sees("web", "prod")
	r := w.released(fmt.Sprintf("2.%d.0", w.next()), "web")
	return w.toStaging(r, true)
}

// toStaging brings a release to staging, and has it verified there when it is well for long enough.
func (w *walker) toStaging(r promotion.Release, well bool) string {
	p, err := w.asks(r, "staging")
	if err != nil {
		return w.outcome(r.Version, err)
	}
	w.settle()
	if p = w.promotion(p.ID); p.MergeSHA == "" {
		return r.Version + " is not merged: " + p.WaitsFor
	}
	w.sees("web", "staging", synced(p.MergeSHA), healthy, w.running(r))
	if well {
		w.pass(soak)
	}
	return r.Version
}

func (w *walker) promoteSome() string {
	var id int64
	_, _ = fmt.Sscan(pick(w, w.texts(`SELECT p.release_id::text FROM promotions p JOIN targets t ON t.id = p.target_id
		WHERE t.environment = 'staging' AND p.verified_at IS NOT NULL ORDER BY p.id DESC LIMIT 3`)), &id)
	if id == 0 {
		return "nothing is verified in staging"
	}
	_, err := w.asks(w.release(id), "prod")
	return w.outcome(id, err)
}

func (w *walker) approveSome() string {
	by := pick(w, []promotion.Actor{rita, ada, ada, gil, otto, vera})
	id := w.one("p.pull_request IN ('open', 'merged') AND p.verified_at IS NULL")
	_, err := w.service.Decide(w.Context(), by, promotion.DecideRequest{PromotionID: id, Decision: "approve"})
	return w.outcome(fmt.Sprint(id, " by ", by.Name), err)
}

// comesOrGoes has an approver lose every role, or have them back.
func (w *walker) comesOrGoes() string {
	by, now := pick(w, []promotion.Actor{ada, gil}), w.clock.now()
	if w.people[by.Name] == nil {
		w.people[by.Name] = by.Roles
		w.execute("UPDATE scenario.absences SET until = $2 WHERE name = $1 AND until IS NULL", by.Name, now)
		return by.Name + " comes"
	}
	delete(w.people, by.Name)
	w.execute("INSERT INTO scenario.absences VALUES ($1, $2)", by.Name, now)
	return by.Name + " goes"
}

func (w *walker) mergeSome() string {
	id := w.one("p.decision = 'requested' AND p.pull_request = 'open'")
	_, err := w.service.Merge(w.Context(), rita, id)
	return w.outcome(id, err)
}

// mergeSomeLater asks for a merge when the gates pass, or takes it back.
func (w *walker) mergeSomeLater() string {
	id := w.one("p.decision = 'requested' AND p.pull_request = 'open'")
	if id != 0 && w.promotion(id).StandingMerge.By != "" {
		_, err := w.service.WithdrawMergeWhenPassing(w.Context(), ada, id)
		return w.outcome(fmt.Sprint(id, " withdrawn"), err)
	}
	_, err := w.service.MergeWhenPassing(w.Context(), rita, id, "")
	return w.outcome(id, err)
}

// mergeProperly does what people do for one promotion when nothing comes between: the walk seldom strings it together.
func (w *walker) mergeProperly() string {
	id := w.one("p.decision = 'requested' AND p.pull_request = 'open'")
	if id == 0 {
		return w.promoteSome()
	}
	return w.mergeNow(id)
}

// mergeNow gives a promotion its evidence and its approvals, and merges it.
func (w *walker) mergeNow(id int64) string {
	if version := w.promotion(id).Release.Version; version != "" {
		_, err := w.service.PostEvidence(w.Context(), ci, promotion.EvidenceRequest{Application: "web", Release: version,
			Evidence: promotion.Evidence{Name: "load-test", Source: "suite", Verdict: "pass"}})
		w.outcome(version, err)
	}
	for _, by := range []promotion.Actor{ada, gil} {
		_, err := w.service.Decide(w.Context(), by, promotion.DecideRequest{PromotionID: id, Decision: "approve"})
		w.outcome(id, err)
	}
	_, err := w.service.Merge(w.Context(), rita, id)
	return w.outcome(id, err)
}

func (w *walker) mergeByGit() string {
	branch := pick(w, w.texts("SELECT branch FROM promotions WHERE pull_request = 'open' ORDER BY id"))
	if branch == "" || w.clone().Remote(branch) == "" {
		return "there is none"
	}
	c := w.clone()
	c.Git("fetch", "--quiet", "origin")
	c.Git("checkout", "--quiet", "-B", "main", "origin/main")
	if _, err := c.Try("merge", "--quiet", "--no-ff", "-m", "by hand", "origin/"+branch); err != nil {
		c.Git("merge", "--abort")
		return branch + " conflicts"
	}
	c.Git("push", "--quiet", "origin", "main")
	w.byHand = append(w.byHand, c.Git("rev-parse", "HEAD"))
	return branch
}

func (w *walker) mergeAtHost() string {
	id := w.one("p.pull_request = 'open'")
	if id == 0 {
		return "there is none"
	}
	pr := w.pullRequest(id)
	sha, err := w.host.Repository(repository).Merge(w.Context(), pr.Number, pr.HeadSHA, "by hand", otto, "")
	if err != nil {
		return "refused: " + err.Error()
	}
	w.byHand = append(w.byHand, sha)
	return fmt.Sprint(id)
}

func (w *walker) postEvidence() string {
	version := pick(w, w.texts("SELECT version FROM releases WHERE origin = 'build' ORDER BY id DESC LIMIT 3"))
	verdict := pick(w, []string{"pass", "pass", "pass", "fail"})
	_, err := w.service.PostEvidence(w.Context(), ci, promotion.EvidenceRequest{Application: "web", Release: version,
		Evidence: promotion.Evidence{Name: "load-test", Source: "suite", Verdict: verdict}})
	return w.outcome(version+" "+verdict, err)
}

func (w *walker) restoreSome() string {
	commit := pick(w, w.texts(`SELECT r.commit FROM target_revisions r JOIN targets t ON t.id = r.target_id
		JOIN applications a ON a.id = t.application_id WHERE t.environment = 'prod' AND a.name = 'web' ORDER BY r.id`))
	_, err := w.service.Restore(w.Context(), rita, restoring("prod", commit))
	return w.outcome(commit, err)
}

// clusterApplies has the cluster do what Sluice asked for last.
func (w *walker) clusterApplies() string {
	n := len(w.cluster.syncs)
	if n == 0 {
		return "nothing was asked for"
	}
	s := w.cluster.syncs[n-1]
	p := w.promotion(s.PromotionID)
	changes := []change{synced(s.Revision), healthy}
	if p.Release.ID != 0 {
		changes = append(changes, w.running(p.Release))
	}
	w.sees("web", "prod", changes...)
	return fmt.Sprint(p.ID)
}
