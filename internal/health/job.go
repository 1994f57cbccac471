package health

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// failedHook is what an operation's failed hook says. Argo CD also gives ordinary objects a hookPhase: a hook is what has a hookType.
func (d diagnosis) failedHook() string {
	if d.observed.Operation != "Failed" && d.observed.Operation != "Error" {
		return ""
	}
	for _, r := range d.app.operationResults() {
		if text(r, "hookType") == "" || !hasFailed(r) {
			continue
		}
		name := text(r, "kind") + " " + text(r, "name")
		said := sentence(fmt.Sprintf("The %s hook %s failed", text(r, "hookType"), name), cmp.Or(d.whyJobFailed(name), text(r, "message")))
		return said + howToRead(text(r, "kind"), text(r, "name")) + " What the hook did before it failed stays done."
	}
	return ""
}

// failedJob is a Job that the Application deploys and that ended without success.
func (d diagnosis) failedJob() string {
	for _, job := range d.objects.Jobs {
		if why, failed := jobFailure(job); failed {
			return sentence(fmt.Sprintf("Job %s failed", job.GetName()), why) + howToRead("Job", job.GetName()) +
				" A Job that has ended is not run again: delete it, then sync."
		}
	}
	return ""
}

func (d diagnosis) whyJobFailed(name string) string {
	for _, job := range d.objects.Jobs {
		if why, failed := jobFailure(job); failed && "Job "+job.GetName() == name {
			return why
		}
	}
	return ""
}

func jobFailure(job *unstructured.Unstructured) (why string, failed bool) {
	for _, c := range list(job.Object, "status", "conditions") {
		if text(c, "type") == "Failed" && text(c, "status") == "True" {
			return cmp.Or(text(c, "message"), text(c, "reason")), true
		}
	}
	return "", false
}

func howToRead(kind, name string) string {
	if kind != "Job" {
		return ""
	}
	return fmt.Sprintf(" Read its log (kubectl logs job/%s).", name)
}
