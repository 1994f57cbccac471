package lint

import "fmt"

func respectIgnoreDifferences() Rule {
	const option = "RespectIgnoreDifferences=true"
	return Rule{
		Code: "respect-ignore-differences", Level: Error,
		What: "An Application that ignores /spec/replicas of an autoscaled workload without the sync option " + option + ".",
		Why:  "Ignoring a difference only hides it from the comparison. A sync for any other reason still applies the number in Git and throws away what the autoscaler set.",
		Mend: "Add " + option + " to spec.syncPolicy.syncOptions of the Application.",
		run: eachTarget(func(r *repository, t *target) []Finding {
			var found []Finding
			for _, s := range scaled(t) {
				applications, _ := ignoring(t, s.workload.ID)
				for _, a := range applications {
					if !a.SyncPolicy.HasOption(option) {
						found = append(found, r.aboutApplication(a.Application, a.LineOf("spec", "syncPolicy", "syncOptions"),
							fmt.Sprintf("the replicas of %s %s are ignored, but a sync still sets them", s.workload.Kind, s.workload.Name)))
					}
				}
			}
			return found
		}),
	}
}
