package simulation

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// nodeName is the one node that every pod runs on.
const nodeName = "simulated-1"

// ensureNode puts the node there, once.
func (s *Simulation) ensureNode(ctx context.Context) error {
	node := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": nodeName, "labels": map[string]any{"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}},
		"status": map[string]any{
			"allocatable": map[string]any{"cpu": "64", "memory": "256Gi", "pods": "250"},
			"nodeInfo":    map[string]any{"operatingSystem": "linux", "architecture": "amd64"},
		},
	}}
	_, err := s.create(ctx, node)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// served are the kinds of the API versions that the simulated cluster takes.
var served = map[string][]string{
	"v1": {"ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodTemplate",
		"ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"},
	"apps/v1":                      {"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"batch/v1":                     {"CronJob", "Job"},
	"autoscaling/v2":               {"HorizontalPodAutoscaler"},
	"networking.k8s.io/v1":         {"Ingress", "IngressClass", "NetworkPolicy"},
	"policy/v1":                    {"PodDisruptionBudget"},
	"rbac.authorization.k8s.io/v1": {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"},
	"argoproj.io/v1alpha1":         {"AppProject", "Application", "ApplicationSet"},
}

// Served lists the kinds that the cluster serves in an API version, as discovery does.
func (s *Simulation) Served(_ context.Context, apiVersion string) ([]string, error) {
	return slices.Clone(served[apiVersion]), nil
}
