package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// guard is the name of the admission policy that lets Sluice's account write with dry-run only, and of its binding.
const guard = "sluice-writes-only-dry-run"

var (
	admissionPolicies = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
	admissionBindings = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}
)

// guarded tells whether the policy is in force for Sluice's account. What the policy says beyond that is not judged.
func (d Doctor) guarded(ctx context.Context, account string, dryRun Ability) Ability {
	if dryRun.State == No {
		return Ability{Unused, "there is nothing to guard: no dry run can be asked for", ""}
	}
	policy, err := d.Client.Resource(admissionPolicies).Get(ctx, guard, metav1.GetOptions{})
	var binding *unstructured.Unstructured
	if err == nil {
		binding, err = d.Client.Resource(admissionBindings).Get(ctx, guard, metav1.GetOptions{})
	}
	next := "Apply deploy/kubernetes/dry-run.yaml, with Sluice's account in it."
	switch {
	case apierrors.IsNotFound(err):
		return Ability{No, "there is no admission policy " + guard + " with a binding: Sluice's account could write", next}
	case err != nil:
		return Ability{Unknown, firstLine(err), "Let Sluice's account get the policy and its binding, as deploy/kubernetes/dry-run.yaml does."}
	case account == "":
		return Ability{Unknown, "the cluster does not say whom Sluice is to it", "Compare the account in the policy with Sluice's own."}
	}
	if flaw := flawOf(policy, binding, account); flaw != "" {
		return Ability{No, flaw, next}
	}
	return Ability{State: Yes}
}

// flawOf says why a policy does not hold Sluice's account.
func flawOf(policy, binding *unstructured.Unstructured, account string) string {
	conditions, _, _ := unstructured.NestedSlice(policy.Object, "spec", "matchConditions")
	names := func(c any) bool {
		m, _ := c.(map[string]any)
		expression, _ := m["expression"].(string)
		return strings.Contains(expression, `"`+account+`"`)
	}
	failing, _, _ := unstructured.NestedString(policy.Object, "spec", "failurePolicy")
	actions, _, _ := unstructured.NestedStringSlice(binding.Object, "spec", "validationActions")
	bound, _, _ := unstructured.NestedString(binding.Object, "spec", "policyName")
	_, limited, _ := unstructured.NestedMap(binding.Object, "spec", "matchResources")
	switch {
	case !slices.ContainsFunc(conditions, names):
		return fmt.Sprintf("the admission policy %s does not name Sluice's account %s", guard, account)
	case failing != "Fail" || bound != guard || !slices.Contains(actions, "Deny"):
		return fmt.Sprintf("the admission policy %s does not deny", guard)
	case limited && limits(binding):
		return fmt.Sprintf("the binding of the admission policy %s leaves some objects out", guard)
	}
	return ""
}

// limits tells whether a binding's matchResources, which the API server fills with defaults, leave something out.
func limits(binding *unstructured.Unstructured) bool {
	m, _, _ := unstructured.NestedMap(binding.Object, "spec", "matchResources")
	for _, field := range []string{"namespaceSelector", "objectSelector"} {
		if selector, _, _ := unstructured.NestedMap(m, field); len(selector) > 0 {
			return true
		}
	}
	return m["resourceRules"] != nil || m["excludeResourceRules"] != nil
}
