package drift

import "strings"

func (o Owner) isEngine() bool { return strings.HasPrefix(o.Manager, "argocd-") }

// Class says what kind of program this is. Names of managers are chosen by programs and prove nothing.
func (o Owner) Class() Class {
	name := strings.ToLower(o.Manager)
	switch {
	case name == "":
		return Unknown
	case o.isEngine():
		return Webhook // the engine's own write was altered on its way
	case anyOf(name, strings.Contains, "autoscaler", "keda", "vpa-"), o.Sub == "scale" && name == "kube-controller-manager":
		return Autoscaler
	case name == "kubectl-client-side-apply", name == "kubectl" && o.Operation == "Apply",
		anyOf(name, strings.HasPrefix, "helm", "terraform", "hashicorp", "pulumi", "kustomize-controller", "flux", "ansible", "openapi-generator", "werf", "skaffold"):
		return Delivery
	case anyOf(name, strings.HasPrefix, "kubectl", "oc", "k9s", "lens", "openlens", "freelens", "mozilla", "dashboard", "headlamp", "node-fetch", "curl", "rancher"):
		return Human
	case anyOf(name, strings.HasPrefix, "kube-", "kubelet", "cloud-controller"), anyOf(name, strings.Contains, "controller", "operator", "manager", "injector"):
		return Controller
	}
	return Unknown
}

// IsUndo tells whether `kubectl rollout undo` wrote. Unlike kubectl's other commands it gives no name of its own, so that the API server
// takes the program's.
func (o Owner) IsUndo() bool { return o.Manager == "kubectl" && o.Operation == "Update" && o.Sub == "" }

func anyOf(name string, matches func(s, part string) bool, parts ...string) bool {
	for _, part := range parts {
		if matches(name, part) {
			return true
		}
	}
	return false
}

// Says names the writer for people.
func (o Owner) Says() string {
	switch {
	case o.Manager == "":
		return "nobody is named as its owner"
	case o.Manager == "kubectl" && o.Sub == "scale":
		return "kubectl scale"
	case strings.HasPrefix(o.Manager, "kubectl-"):
		return "kubectl " + strings.TrimPrefix(o.Manager, "kubectl-")
	case o.Sub == "scale" && o.Manager == "kube-controller-manager":
		return "a HorizontalPodAutoscaler"
	case o.IsUndo():
		return "kubectl rollout undo"
	case o.Manager == "kubectl":
		return "kubectl " + strings.ToLower(o.Operation)
	}
	return o.Manager
}
