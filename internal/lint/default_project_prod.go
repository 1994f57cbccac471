package lint

import "github.com/sluicehq/sluice/internal/argocd"

func defaultProjectProd() Rule {
	return Rule{
		Code: "default-project-prod", Level: Error,
		What: "An Application of a production target in the project `default`, or in none.",
		Why:  "Every new project-less Application lands there, and as installed it may deploy anything from any repository to any cluster: it holds nobody back.",
		Mend: "Make an AppProject that allows this repository, this cluster and namespace and the kinds needed, and name it in spec.project.",
		run: eachApplication(func(r *repository, t *target, a argocd.Application) []Finding {
			if !r.isProd(t) || a.Project != "" && a.Project != "default" {
				return nil
			}
			return []Finding{r.aboutApplication(a, a.LineOf("spec", "project"), "a production target is in the project default")}
		}),
	}
}
