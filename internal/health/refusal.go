package health

import (
	"fmt"
	"regexp"
)

// remedies are what an API server or Argo CD says when it refuses an object, with what is to be done about it. The first that
// matches counts: a quota and an admission policy forbid, too.
var remedies = []struct {
	said *regexp.Regexp
	do   string // what was found takes the places of $1, $2…
}{
	{regexp.MustCompile(`exceeded quota: ([^,\s]+)`), "Quota $1 of the namespace is used up: raise it, or ask for less."},
	{regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'`), "Admission policy $1 of the cluster refuses it: change the manifest, or the policy."},
	{regexp.MustCompile(`admission webhook "([^"]+)" denied the request`), "Admission webhook $1 refuses it: change the manifest, or what the webhook demands."},
	{regexp.MustCompile(`failed calling webhook "([^"]+)"`), "Admission webhook $1 does not answer: mend it, then sync again. Nothing is known to be wrong with the manifest."},
	{regexp.MustCompile(`User "([^"]+)" cannot (\w+) resource "([^"]+)"`), "Argo CD's account $1 lacks the right to $2 $3: give it to the account, or take the object out of Git."},
	{regexp.MustCompile(`could not find version "([^"]+)" of (\S+) for requested resource \S+\. Version "([^"]+)"`), "The cluster serves $2 in version $3 and not in $1: change the manifest's apiVersion."},
	{regexp.MustCompile(`Make sure the "([^"]+)" CRD is installed`), "Install the definition of $1 in the cluster first, then sync again."},
	{regexp.MustCompile(`namespaces "([^"]+)" not found`), "Create namespace $1, or give the Application the sync option CreateNamespace=true."},
	{regexp.MustCompile(`field is immutable`), "It cannot be changed in place: go back to the value before, or delete the object and let a sync make it anew."},
	{regexp.MustCompile(`Apply failed with \d+ conflicts?: conflicts? with "([^"]+)"`), "$1 owns what the sync wants to set: let one of the two have it."},
}

// remedy is what is to be done about a refusal, empty when it says so itself or nothing is known.
func remedy(refusal string) string {
	for _, r := range remedies {
		if found := r.said.FindStringSubmatchIndex(refusal); found != nil {
			return " " + string(r.said.ExpandString(nil, r.do, refusal, found))
		}
	}
	return ""
}

// wrapping is what kubectl, which Argo CD applies with, puts before the API server's own words.
var wrapping = regexp.MustCompile(`(?s)(error when applying patch:.*)?error when (creating|patching|replacing|applying) "[^"]*": `)

func unwrapped(refusal string) string { return wrapping.ReplaceAllString(refusal, "") }

// pullRemedies tell apart why an image cannot be pulled.
var pullRemedies = []struct {
	said *regexp.Regexp
	do   string
}{
	{regexp.MustCompile(`(?i)\b401\b|\b403\b|unauthori[sz]ed|authorization failed|access denied|no basic auth credentials|authentication required|denied:`),
		"The registry wants other credentials: check the pull secret of the pod's service account."},
	{regexp.MustCompile(`(?i)no such host|i/o timeout|connection refused|connection reset|deadline exceeded|no route to host|network is unreachable|TLS handshake|x509|server misbehaving|\b50[0234]\b|too ?many ?requests`),
		"The node does not reach the registry: check the network and the registry itself."},
	{regexp.MustCompile(`(?i)not found|manifest unknown|name unknown|does not exist|no match for platform`),
		"The registry does not have it for this node: check repository, tag or digest, and platform."},
}

// pullTrouble says why an image cannot be pulled and what to do.
func pullTrouble(pod, image, message string) string {
	cause := pullCause(message)
	do := "Check that the registry has it and that the pull secret is valid."
	for _, r := range pullRemedies {
		if r.said.MatchString(cause) {
			do = r.do
			break
		}
	}
	return sentence(fmt.Sprintf("Pod %s cannot pull image %s", pod, image), cause) + " " + do
}

// schedulingRemedies tell apart why a pod finds no node.
var schedulingRemedies = []struct {
	said *regexp.Regexp
	do   string
}{
	{regexp.MustCompile(`(?i)persistentvolumeclaim|volume node affinity|unbound immediate`), "Check its volumes: their claims have to be there and bound."},
	{regexp.MustCompile(`Insufficient|Too many pods`), "Lower its requests or add nodes."},
	{regexp.MustCompile(`node\.kubernetes\.io/(not-ready|unreachable)`), "Nodes are not ready: look at them (kubectl get nodes)."},
	{regexp.MustCompile(`untolerated taint`), "Let it tolerate the taint, or add nodes without it."},
	{regexp.MustCompile(`affinity|selector|topology spread`), "Check its node selector and affinity against the nodes' labels."},
}

func schedulingRemedy(message string) string {
	for _, r := range schedulingRemedies {
		if r.said.MatchString(message) {
			return " " + r.do
		}
	}
	return " Look at its events (kubectl describe pod)."
}
