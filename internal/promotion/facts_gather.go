package promotion

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sluicehq/sluice/internal/rollback"
)

// gather collects the facts about several steps of one target. What other programs are asked has a deadline; what has not answered
// by then is unread. What Sluice has itself is read before: nobody's silence makes it unknown. The answers are in the order of the steps.
func (s *Service) gather(ctx context.Context, site Site, t Target, head string, policy EnvironmentPolicy, backs []goingBack) ([]gathered, error) {
	deployments, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return nil, fmt.Errorf("read deployments of %s: %w", t.Path, err)
	}
	each(backs, func(i int) {
		b := &backs[i]
		s.render(ctx, site, b, head, policy)
		if b.data == nil {
			data := s.dataFacts(ctx, b.target, b.current, b.candidate)
			b.data = &data
		}
		b.attested = s.attested(ctx, *b)
	})
	ctx, cancel := context.WithTimeout(ctx, s.Patience.check())
	defer cancel()
	var asked sync.WaitGroup // beside registries and clusters
	var depends declared
	asked.Go(func() { depends = s.declaredFacts(ctx, t, policy.Dependencies) })
	asked.Go(func() {
		var steps []*DataFacts
		for _, b := range backs {
			steps = append(steps, b.data)
		}
		s.compareDatabase(ctx, t, steps)
	})
	answers := s.ask(ctx, deployments, backs)
	asked.Wait()
	all := make([]gathered, len(backs))
	each(backs, func(i int) {
		backs[i].declared = depends
		all[i] = s.factsOf(ctx, backs[i], policy, answers[backs[i].back.room()])
	})
	return all, nil
}

// ask puts the questions of all steps together into as few as can be: one for those whose pods ask for the same room.
func (s *Service) ask(ctx context.Context, deployments []Deployment, backs []goingBack) map[string]ClusterFacts {
	questions := map[string][]Needs{}
	for _, b := range backs {
		room := b.back.room()
		for _, n := range []*Needs{b.back, b.old} { // what it goes to first: of a workload in both, that one's room is asked for
			if n != nil {
				questions[room] = append(questions[room], *n)
			}
		}
	}
	rooms := slices.Sorted(maps.Keys(questions))
	facts := make([]ClusterFacts, len(rooms))
	each(rooms, func(i int) { facts[i] = s.askClusters(ctx, deployments, mergedNeeds(questions[rooms[i]])) })
	answers := map[string]ClusterFacts{"": {Unread: []string{"what it needs of the cluster is not known"}}}
	for i, room := range rooms {
		answers[room] = facts[i]
	}
	return answers
}

// factsOf puts together what is known of one step.
func (s *Service) factsOf(ctx context.Context, b goingBack, policy EnvironmentPolicy, c ClusterFacts) gathered {
	var g gathered
	g.Unread = append(g.Unread, c.Unread...)
	s.artifactFacts(ctx, b, policy, c.Platforms, &g)
	configFacts(b, c, &g)
	trafficFacts(b, c, &g)
	dependencyFacts(b, c, policy, &g)
	g.Modes = policy.checkModes()
	g.Data = b.data.Data
	g.Data.NewData = b.attested.newData(g.Data.NewData)
	g.Unread, g.Notes = append(g.Unread, b.data.Unread...), append(g.Notes, b.data.Notes...)
	b.attested.tell(&g)
	g.Unread, g.Notes = append(g.Unread, b.declared.unread...), append(g.Notes, b.declared.notes...)
	switch {
	case b.data.Unchecked:
		g.Unchecked = append(g.Unchecked, rollback.DataCompatible)
	case b.data.Problem != "":
		g.Unread = append(g.Unread, b.data.Problem)
	}
	if len(s.Readers) == 0 {
		g.Unchecked = append(g.Unchecked, rollback.ConfigCompatible, rollback.TrafficSwitchable)
	}
	g.Unchecked, g.Unread, g.Notes = distinct(g.Unchecked), distinct(g.Unread), distinct(g.Notes)
	return g
}

// each calls fn for every index, some at once.
func each[T any](list []T, fn func(i int)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, factsAtOnce)
	for i := range list {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			fn(i)
		})
	}
	running.Wait()
}

// askClusters asks every cluster that runs the target at once.
func (s *Service) askClusters(ctx context.Context, deployments []Deployment, n Needs) ClusterFacts {
	if len(deployments) == 0 {
		return ClusterFacts{Unread: []string{"no cluster is known to run the target"}}
	}
	answers := make([]ClusterFacts, len(deployments))
	each(deployments, func(i int) { answers[i] = s.askCluster(ctx, deployments[i].Key, n) })
	one := answers[0]
	for _, a := range answers[1:] {
		one = inBoth(one, a)
	}
	return one
}

// askCluster does not wait longer than its deadline, whatever the reader does.
func (s *Service) askCluster(ctx context.Context, d DeploymentKey, n Needs) ClusterFacts {
	reader := s.Readers[d.Cluster]
	if reader == nil {
		return ClusterFacts{Unread: []string{fmt.Sprintf("this server reads nothing of cluster %s", d.Cluster)}}
	}
	ctx, cancel := context.WithTimeout(ctx, s.Patience.source())
	defer cancel()
	facts, _ := awaited(ctx, func() ClusterFacts { return reader.Facts(ctx, d, n) })
	if ctx.Err() != nil {
		facts.Unread = append(facts.Unread, fmt.Sprintf("cluster %s gave no answer in time", d.Cluster))
	}
	return facts
}

// awaited is an answer, or none once ctx has ended: ask may not heed it.
func awaited[T any](ctx context.Context, ask func() T) (answer T, ok bool) {
	answered := make(chan T, 1)
	go func() { answered <- ask() }()
	select {
	case answer = <-answered:
		return answer, true
	case <-ctx.Done():
		return answer, false
	}
}

// inBoth is what holds in both of two clusters, the worse of what differs.
func inBoth(a, b ClusterFacts) ClusterFacts {
	one := ClusterFacts{Unread: append(append([]string{}, a.Unread...), b.Unread...),
		Refs: bothOf(a.Refs, b.Refs, func(x, y rollback.State) rollback.State {
			return worst([]rollback.State{rollback.ObjectAbsent, rollback.KeyAbsent, rollback.Unread, rollback.Present}, x, y)
		}),
		APIs:      bothOf(a.APIs, b.APIs, func(x, y rollback.State) rollback.State { return worst(saysNo, x, y) }),
		Workloads: bothOf(a.Workloads, b.Workloads, worseWorkload),
		Evictions: bothOf(a.Evictions, b.Evictions, fewerEvictions),
		ExternalSecrets: bothOf(a.ExternalSecrets, b.ExternalSecrets, func(x, y rollback.ExternalSecret) rollback.ExternalSecret {
			x.StoreReady = worst(saysNo, x.StoreReady, y.StoreReady)
			x.RemoteKey = worst([]rollback.State{rollback.Absent, rollback.Unread, rollback.Present}, x.RemoteKey, y.RemoteKey)
			return x
		}),
		SealedSecrets: bothOf(a.SealedSecrets, b.SealedSecrets, func(x, y rollback.SealedSecret) rollback.SealedSecret {
			x.Decryptable = worst(saysNo, x.Decryptable, y.Decryptable)
			return x
		}),
	}
	if a.Platforms != nil && b.Platforms != nil {
		one.Platforms = distinct(append(append([]string{}, a.Platforms...), b.Platforms...))
	}
	return one
}

func fewerEvictions(a, b Evictions) Evictions {
	if a.Allowed != nil && (b.Allowed == nil || *b.Allowed < *a.Allowed) {
		return b
	}
	return a
}

func worseWorkload(a, b LiveWorkload) LiveWorkload {
	one := a
	one.Present = a.Present || b.Present
	one.Room = worst(saysNo, a.Room, b.Room)
	one.Switches = slices.Concat(a.Switches, b.Switches)
	one.Replicas = fewest(a.Replicas, b.Replicas, false)
	if a.Present && b.Present && fmt.Sprint(a.Selector) != fmt.Sprint(b.Selector) {
		one.Selector = nil
	} else if !a.Present {
		one.Selector = b.Selector
	}
	return one
}

// bothOf keeps what was read in both.
func bothOf[K comparable, V any](a, b map[K]V, worse func(V, V) V) map[K]V {
	both := map[K]V{}
	for key, value := range a {
		if other, ok := b[key]; ok {
			both[key] = worse(value, other)
		}
	}
	return both
}
