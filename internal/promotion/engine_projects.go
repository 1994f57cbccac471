package promotion

import (
	"context"
	"fmt"
	"time"
)

// ProjectReader lists the GitOps engine's own projects in a cluster, as JSON.
type ProjectReader interface {
	Projects(ctx context.Context) ([][]byte, error)
}

// ProjectWindows is what the engine's project of a deployment lets sync when.
type ProjectWindows struct {
	Project string
	Decide  func(at time.Time) WindowDecision // nil: no window is about it
}

// DeploymentWindows is what the engine's project says of a deployment, beside the policy.
type DeploymentWindows struct {
	Deployment DeploymentKey
	Project    string
	Now        WindowDecision
	Problem    string     // why it is not known
	Differs    []Interval // where, within the range asked for, the policy says otherwise
}

// projectWindows asks a deployment's cluster. A cluster that has no reader has no windows.
func (s *Service) projectWindows(ctx context.Context, d Deployment, listed map[string]projects) (ProjectWindows, error) {
	reader := s.Projects[d.Key.Cluster]
	if reader == nil || len(d.EngineObject) == 0 {
		return ProjectWindows{}, nil
	}
	answer, asked := listed[d.Key.Cluster]
	if !asked {
		asking, stop := context.WithTimeout(ctx, projectsTime)
		answer.all, answer.err = reader.Projects(asking)
		stop()
		listed[d.Key.Cluster] = answer
	}
	if answer.err != nil {
		return ProjectWindows{}, answer.err
	}
	return s.Engine.SyncWindows(d.EngineObject, answer.all, !d.AutomatedSync)
}

// projectsTime is how long a cluster may take to list its projects.
const projectsTime = 5 * time.Second

// projects is what a cluster answered.
type projects struct {
	all [][]byte
	err error
}

// projectWindow asks whether the engine would run the sync now. One that it held back would wait there, and start by itself later,
// past every gate: so it is not started.
func (s *Service) projectWindow(ctx context.Context, f *situation) GateResult {
	result := pass("no window of an Argo CD project holds it")
	listed := map[string]projects{}
	for _, d := range f.deployments {
		if d.AutomatedSync {
			continue
		}
		w, err := s.projectWindows(ctx, d, listed)
		if err != nil {
			return until(f.now.Add(time.Minute), block("whether Argo CD would hold the sync of %s is not known: %v", d.Key.Name, err))
		}
		if w.Decide == nil {
			continue
		}
		now := w.Decide(f.now)
		if !now.Open {
			return until(now.Next, wait("Argo CD's project %s would hold the sync of %s: %s.%s", w.Project, d.Key.Name, now.Reason, opens(now.Next))).
				with(map[string]any{"project": w.Project, "window": now.By})
		}
		result.Until = earliest(result.Until, now.Next)
	}
	return result
}

// projectsOpen refuses while the engine would hold a sync of one of the deployments.
func (s *Service) projectsOpen(ctx context.Context, deployments []Deployment) error {
	f := &situation{deployments: deployments, now: s.Now()}
	if g := s.projectWindow(ctx, f); g.Verdict != Pass {
		return &Error{Kind: Refused, Code: "project-window-closed", Message: g.Reason}
	}
	return nil
}

// besides is what the engine's projects say of a target's deployments, where they say anything.
func (s *Service) besides(ctx context.Context, deployments []Deployment, targetID int64, listed map[string]projects, policy func(time.Time) WindowDecision,
	from, to time.Time) []DeploymentWindows {
	var all []DeploymentWindows
	for _, d := range deployments {
		if d.TargetID != targetID {
			continue
		}
		w, err := s.projectWindows(ctx, d, listed)
		switch {
		case err != nil:
			all = append(all, DeploymentWindows{Deployment: d.Key, Project: w.Project, Problem: err.Error()})
		case w.Decide != nil:
			all = append(all, DeploymentWindows{Deployment: d.Key, Project: w.Project, Now: w.Decide(s.Now()), Differs: differs(policy, w.Decide, from, to)})
		}
	}
	return all
}

// differs walks from edge to edge of both.
func differs(policy, project func(time.Time) WindowDecision, from, to time.Time) []Interval {
	var all []Interval
	for at := from; at.Before(to); {
		ours, theirs := policy(at), project(at)
		end := earliest(earliest(to, ours.Next), theirs.Next)
		if ours.Open != theirs.Open {
			reason := fmt.Sprintf("the policy is closed (%s), the project is open (%s)", ours.Reason, theirs.Reason)
			if ours.Open {
				reason = fmt.Sprintf("the policy is open (%s), the project is closed (%s)", ours.Reason, theirs.Reason)
			}
			all = append(all, Interval{From: at, To: end, By: theirs.By, Reason: reason})
		}
		at = end
	}
	return all
}
