package web_test

import "github.com/sluicehq/sluice/internal/promotion"

var checkoutUS = promotion.DeploymentKey{Cluster: "us-1", Namespace: "argocd", Name: "checkout-prod-us"}

func sampleDriftLooks() []promotion.DriftLook {
	return []promotion.DriftLook{
		{DeploymentID: 4, Deployment: checkoutUS, Target: target(4, "checkout", "prod-us", 50), LookedAt: before(40), Revision: mergeSHA, SelfHeal: true,
			Unchecked: []string{"Secret checkout/db could not be read"}, Rollback: "1.0.0 runs, an earlier release; Git says 1.1.0. Rolled back by hand: `kubectl rollout undo` of Deployment.apps checkout/checkout."},
		{DeploymentID: 6, Deployment: promotion.DeploymentKey{Cluster: "eu-1", Namespace: "argocd", Name: "search-prod-eu"}, Target: target(6, "search", "prod-eu", 50),
			LookedAt: before(4000), Revision: source, Problem: "read Deployment.apps search/search in cluster eu-1: the request took too long", ProblemSince: before(3000)},
		{DeploymentID: 1, Deployment: promotion.DeploymentKey{Cluster: "eu-1", Namespace: "argocd", Name: "checkout-dev"}, Target: target(1, "checkout", "dev", 10),
			LookedAt: before(20), Revision: source},
	}
}

func sampleDrift() []promotion.Drift {
	of := func(d promotion.Drift) promotion.Drift {
		d.Deployment, d.Target, d.Object = checkoutUS, target(4, "checkout", "prod-us", 50), "Deployment.apps checkout/checkout"
		d.FirstSeen, d.LastSeen, d.Times = before(600), before(40), max(d.Times, 1)
		return d
	}
	gone := of(promotion.Drift{ID: 3, Path: "", Want: "ConfigMap flags", Class: promotion.DriftDeleted, Owner: "nobody is named as its owner"})
	gone.Object, gone.ResolvedAt = "ConfigMap checkout/flags", before(100)
	return []promotion.Drift{
		of(promotion.Drift{ID: 7, Path: "spec.template.spec.containers[web].image", Want: "registry.example.com/checkout@sha256:aa", Have: "registry.example.com/checkout:<b>hot</b>",
			Class: promotion.DriftHuman, Owner: "kubectl set", Manager: "kubectl-set", OwnedAt: before(610),
			Written: []promotion.LiveWrite{{Verb: "patch", User: "ada@example.com", Agent: "kubectl/v1.36.0", Source: "10.0.0.7", At: before(610)}}}),
		of(promotion.Drift{ID: 8, Path: "spec.minReadySeconds", Want: "5", Have: "30", Class: promotion.DriftHuman, Owner: "kubectl edit", OwnedAt: before(600)}),
		of(promotion.Drift{ID: 9, Path: "spec.template.spec.containers[web].env[DB_PASSWORD].value", Want: "(hidden)", Have: "(hidden)", Class: promotion.DriftHuman, Owner: "kubectl edit"}),
		of(promotion.Drift{ID: 6, Path: "spec.replicas", Want: "2", Have: "5", Class: promotion.DriftAutoscaler, Owner: "a HorizontalPodAutoscaler", Times: 4}),
		of(promotion.Drift{ID: 5, Path: "spec.template.spec.containers[web].command", Want: `["serve"]`, Have: `["sh"]`, Class: promotion.DriftHuman, Owner: "kubectl edit",
			Written: []promotion.LiveWrite{{Verb: "patch", User: "bob", At: before(620)}, {Verb: "update", User: "<ada>", Agent: "k9s", At: before(660)}},
			Excuse:  "hidden by ignoreDifferences: /spec/template", Finding: "the rule /spec/template hides a change of a command from Argo CD: narrow it"}),
		gone,
	}
}
