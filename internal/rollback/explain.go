package rollback

import (
	"fmt"
	"strings"
)

// Explain puts a reason, or a refused acceptance, into words. A reason it does not
// know comes back as it is.
func Explain(reason string) string {
	code, subject, _ := strings.Cut(reason, ":")
	text, known := explanations[code]
	switch {
	case !known:
		return reason
	case strings.Contains(text, "%s") && subject == "":
		return fmt.Sprintf(text, "(not named)")
	case strings.Contains(text, "%s"):
		return fmt.Sprintf(text, subject)
	}
	return text
}

// explanations by code; %s stands for the subject.
var explanations = map[string]string{
	"image-manifest-absent":  "The registry no longer has the old image.",
	"image-manifest-unread":  "The registry did not say whether it has the old image.",
	"image-layers-missing":   "The registry lacks layers of the old image.",
	"image-layers-unread":    "Whether the registry has every layer of the old image could not be read.",
	"image-platform-missing": "The old image does not exist for %s, which nodes of this workload need.",
	"platforms-unread":       "The platforms of the old image, or of the nodes, could not be read.",
	"chart-version-absent":   "The chart repository no longer has the old chart version.",
	"chart-unread":           "Whether the old chart version still exists could not be read.",

	"old-manifests-missing": "The old manifests were not recorded in full.",
	"config-object-absent":  "The old version needs %s, which does not exist.",
	"config-key-absent":     "The old version needs %s: the object exists, its key does not.",
	"config-ref-unread":     "Whether %s exists could not be read.",
	"api-not-served":        "The cluster no longer serves %s, which the old manifests use.",
	"api-unread":            "Whether the cluster serves %s could not be read.",

	"migration-list-unread":        "The migrations between the two versions could not be listed.",
	"schema-half-applied":          "A migration has stopped half-way.",
	"schema-state-unread":          "The state of the schema could not be read.",
	"migration-breaking":           "The old version cannot work after migration %s.",
	"migration-unknown":            "Whether the old version can work after migration %s, a person must say.",
	"migration-not-reversible":     "Migration %s cannot be taken back.",
	"migration-reversible-unknown": "Whether migration %s can be taken back, a person must say.",
	"new-data-unreadable":          "The old version cannot read what the current one writes.",
	"new-data-unattested":          "Nobody has said whether the old version can read what the current one writes.",

	"service-selector-mismatch":   "The Service does not select the old pods.",
	"service-selector-unread":     "Whether the Service selects the old pods could not be read.",
	"no-replicas":                 "No replicas are wanted: nothing would serve.",
	"replicas-unread":             "The number of replicas wanted could not be read.",
	"rollout-held":                "Rollout %s is paused by hand: nothing switches until somebody resumes it.",
	"old-stack-unread":            "Whether the old stack still runs could not be read.",
	"deployment-selector-changed": "The Deployment's selector has changed, and it cannot be changed in place.",
	"deployment-selector-unread":  "Whether the Deployment's selector has changed could not be read.",
	"readiness-probe-absent":      "The old pods have no readiness probe: nothing tells when they can serve.",
	"readiness-probe-unread":      "Whether the old pods have a readiness probe could not be read.",
	"recreate-downtime":           "The strategy Recreate stops every pod before the old ones start.",
	"strategy-unread":             "The rollout strategy could not be read.",
	"no-room-for-surge":           "Quota or nodes have no room for the pods that must start first.",
	"surge-room-unread":           "Whether there is room for the pods that must start first could not be read.",
	"pdb-blocks-eviction":         "The disruption budget allows no eviction, and the switch evicts pods.",
	"pdb-unread":                  "Whether a disruption budget stands in the way of the switch is not known.",

	"secret-store-not-ready":        "The secret store of %s is not ready.",
	"secret-store-unread":           "Whether the secret store of %s is ready could not be read.",
	"remote-key-absent":             "The secret store no longer has the key that %s needs.",
	"remote-key-unread":             "Whether the secret store has the key that %s needs could not be read.",
	"sealed-secret-undecryptable":   "The sealed secret %s can no longer be decrypted.",
	"sealed-secret-unread":          "Whether the sealed secret %s can be decrypted could not be read.",
	"dependency-not-healthy":        "%s, which it depends on, is not healthy.",
	"dependency-unread":             "Whether %s, which it depends on, is healthy could not be found out.",
	"dependency-metric-broken":      "The metric %s, which it depends on, does not keep to its limit.",
	"dependency-metric-unread":      "Whether the metric %s, which it depends on, keeps to its limit could not be found out.",
	"messages-incompatible":         "The old version cannot handle messages that are queued.",
	"messages-unattested":           "Nobody has said whether the old version can handle queued messages.",
	"cache-incompatible":            "The old version cannot read cached values.",
	"cache-unattested":              "Nobody has said whether the old version can read cached values.",
	"external-effects-irreversible": "The current version has done things outside that cannot be undone.",
	"external-effects-unattested":   "Nobody has said what the current version has done outside.",

	"acceptance-same-person":    "It takes a second person to accept %s.",
	"acceptance-without-reason": "The acceptance of %s gives no reason.",
	"acceptance-of-a-no":        "%s is known to be so: it cannot be accepted.",
	"acceptance-names-nothing":  "%s is not an unknown of this rollback.",
}

// ExplainUnchecked says why a predicate is unchecked, and how it would not be. It is not configured, which is not the same as unknown.
func ExplainUnchecked(name string) string {
	switch name {
	case DataCompatible:
		return "Data is unchecked: no build posted migrations, and the policy says nothing of a database."
	case DependencyRecoverable:
		return "Dependency is unchecked: the policy does not say in attest whether messages, caches and side effects have to be attested. " +
			"What is known to be wrong with its secrets and with what it depends on counts all the same."
	case ConfigCompatible:
		return "Configuration is unchecked: no cluster is connected."
	case TrafficSwitchable:
		return "Traffic is unchecked: no cluster is connected."
	}
	return name + " is unchecked: nothing is connected for it."
}
