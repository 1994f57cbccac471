package lint

import "github.com/sluicehq/sluice/internal/argocd"

func automatedProd() Rule {
	return Rule{
		Code: "automated-prod", Level: Error,
		What: "An Application of a production target that Argo CD syncs by itself, where policy says that Sluice starts the sync.",
		Why:  "The sync is the second lock: with it open, whatever reaches the branch goes to production at once, past approvals and sync windows. With prune, what is missing in Git is deleted at once too.",
		Mend: "Remove spec.syncPolicy.automated from the Application, or set its `enabled` to false; or say in sluice.yaml that the sync of this environment is not Sluice's.",
		run: eachApplication(func(r *repository, t *target, a argocd.Application) []Finding {
			if !r.policy(t).SyncBySluice || !a.SyncPolicy.IsAutomated() {
				return nil
			}
			message := "the target is synced without being asked"
			if a.SyncPolicy.Automated.Prune {
				message += ", and prunes"
			}
			return []Finding{r.aboutApplication(a, a.LineOf("spec", "syncPolicy", "automated"), message)}
		}),
	}
}
