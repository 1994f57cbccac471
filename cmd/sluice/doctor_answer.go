package main

import (
	"time"

	"github.com/sluicehq/sluice/internal/cluster"
)

// doctorTimeout is how long one question to a cluster may take.
const doctorTimeout = 10 * time.Second

// The command's JSON.
type (
	clusterAnswer struct {
		Cluster string         `json:"cluster"`
		Problem string         `json:"problem,omitempty"`
		Server  string         `json:"server_version,omitempty"`
		Account string         `json:"account,omitempty"`
		Healthy bool           `json:"healthy"`
		Engines []engineAnswer `json:"engines"`
		Rights  []rightAnswer  `json:"rights"`
		DryRun  abilityAnswer  `json:"dry_run"`
		Guarded abilityAnswer  `json:"guarded"`
	}
	engineAnswer struct {
		Name     string   `json:"name"`
		Group    string   `json:"group"`
		Versions []string `json:"versions"`
	}
	abilityAnswer struct {
		State string `json:"state"`
		Why   string `json:"why,omitempty"`
		Next  string `json:"next,omitempty"`
	}
	rightAnswer struct {
		Verb     string `json:"verb"`
		Group    string `json:"group"`
		Resource string `json:"resource"`
		For      string `json:"for"`
		Needed   bool   `json:"needed"`
		abilityAnswer
	}
)

func doctorAnswer(reports []cluster.Report) []clusterAnswer {
	all := []clusterAnswer{}
	for _, r := range reports {
		a := clusterAnswer{Cluster: r.Cluster, Problem: r.Problem, Server: r.Server, Account: r.Account, Healthy: r.Healthy(),
			Engines: []engineAnswer{}, Rights: []rightAnswer{}, DryRun: abilityAnswerOf(r.DryRun), Guarded: abilityAnswerOf(r.Guarded)}
		for _, e := range r.Engines {
			a.Engines = append(a.Engines, engineAnswer{e.Name, e.Group, append([]string{}, e.Versions...)})
		}
		for _, w := range r.Rights {
			a.Rights = append(a.Rights, rightAnswer{w.Verb, w.Group, w.Resource, w.For, w.Needed, abilityAnswerOf(w.Ability)})
		}
		all = append(all, a)
	}
	return all
}

func abilityAnswerOf(a cluster.Ability) abilityAnswer {
	return abilityAnswer{string(a.State), a.Why, a.Next}
}
