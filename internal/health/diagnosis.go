package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
)

// diagnosis puts into words what is wrong. It holds no counts and no moments, so that it changes only when the matter does.
type diagnosis struct {
	app       application
	objects   Objects
	workloads conclusion
	observed  promotion.Observation
}

// sentence picks the cause over its consequences; empty when all is well.
func (d diagnosis) sentence() string {
	for _, look := range []func() string{d.comparison, d.failedSync, d.failedHook} {
		if said := look(); said != "" {
			return said
		}
	}
	for _, look := range []func() string{
		d.missingConfig, d.pods, d.failedJob, d.deadline, d.degraded, d.missing, d.suspended, d.rolling, d.changedByHand,
		d.services, d.ingresses, d.outdatedConfig, d.unseen,
	} {
		if said := look(); said != "" {
			return said + d.syncIsNoHelp()
		}
	}
	return ""
}

// syncIsNoHelp warns of the next thing that people try: what is Synced is as Git says, and yet does not work.
func (d diagnosis) syncIsNoHelp() string {
	if d.observed.Sync != promotion.Synced || d.observed.Health != promotion.Degraded {
		return ""
	}
	return " The cluster is as Git says: another sync changes nothing."
}

func (d diagnosis) comparison() string {
	why := d.app.incomparable()
	if why == "" {
		return ""
	}
	if _, after, found := strings.Cut(why, "desc = "); found {
		why = after
	}
	return sentence("Argo CD cannot compare with Git", why) + " Until that is mended nothing is known of this Application."
}

func (d diagnosis) failedSync() string {
	if d.observed.Operation != "Failed" && d.observed.Operation != "Error" || d.observed.Sync == promotion.Synced {
		return ""
	}
	refused, applied := d.app.results()
	cause := strings.Join(refused, "; ")
	if cause == "" {
		cause = text(d.app.object, "status", "operationState", "message")
	}
	what := "The sync failed"
	if d.observed.OperationRev != "" {
		what = "The sync to " + d.observed.OperationRev[:7] + " failed"
	}
	said := sentence(what, cause) + remedy(cause)
	if len(refused) > 0 && len(applied) > 0 {
		said += " Applied all the same: " + strings.Join(applied, ", ") + "."
	}
	return said
}

func (d diagnosis) pods() string { return podTrouble(d.objects.Pods) }

func (d diagnosis) deadline() string {
	if len(d.workloads.failed) == 0 {
		return ""
	}
	said := d.workloads.failed[0] + " made no progress within its deadline"
	for _, pod := range present(d.objects.Pods) {
		for _, c := range list(pod.Object, "status", "containerStatuses") {
			if _, runs, _ := unstructured.NestedMap(c, "state", "running"); runs && c["ready"] == false {
				return fmt.Sprintf("%s: container %s of pod %s runs and is not ready. Look at its readiness probe and its log.", said, text(c, "name"), pod.GetName())
			}
		}
	}
	return said + ". Look at its pods and events."
}

func (d diagnosis) degraded() string {
	if d.observed.Health != promotion.Degraded {
		return ""
	}
	why := text(d.app.object, "status", "health", "message")
	for _, r := range list(d.app.object, "status", "resources") {
		if text(r, "health", "status") == "Degraded" {
			why = cmp.Or(why, text(r, "kind")+" "+text(r, "name")+" "+text(r, "health", "message"))
		}
	}
	return sentence("Argo CD says that the Application is degraded", why)
}

func (d diagnosis) missing() string {
	if d.observed.Health != promotion.Missing {
		return ""
	}
	return "Not everything that Git describes is in the cluster. It is made by the next sync."
}

func (d diagnosis) suspended() string {
	if d.observed.Health != promotion.Suspended {
		return ""
	}
	return "A workload is paused. Resume it to let the rollout go on."
}

func (d diagnosis) rolling() string {
	waiting := slices.Concat(d.workloads.rolling, d.workloads.gone)
	if d.observed.Health != promotion.Progressing || len(waiting) == 0 {
		return ""
	}
	return "Rolling out: " + strings.Join(waiting, ", ") + "."
}

// unseen: the Application lists workloads that are not in this cluster, most often because it deploys to another one.
func (d diagnosis) unseen() string {
	seen := map[string]bool{}
	for _, w := range d.objects.Workloads {
		seen[w.GetKind()+" "+w.GetName()] = true
	}
	for _, name := range d.app.resources("") {
		kind, _, _ := strings.Cut(name, " ")
		if !seen[name] && (kind == "Deployment" || kind == "StatefulSet" || kind == "DaemonSet") {
			return name + " was not found in this cluster, so what it runs is unknown. If the Application deploys to another cluster, connect that one."
		}
	}
	return ""
}

// changedByHand: what was applied last is what was compared, and yet live objects differ. A comparison
// that may be older than the operation's end says nothing.
func (d diagnosis) changedByHand() string {
	finished := text(d.app.object, "status", "operationState", "finishedAt")
	compared := d.app.comparedRevision()
	if d.observed.Sync != promotion.OutOfSync || compared == "" || compared != d.observed.Revision || finished == "" ||
		text(d.app.object, "status", "reconciledAt") <= finished {
		return ""
	}
	return fmt.Sprintf("Somebody changed the cluster: %s differs from what %s describes. Sync again to undo it, or bring the change into Git.",
		strings.Join(d.app.resources("OutOfSync"), ", "), compared[:7])
}
