package realkube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define makes Argo CD's kinds known, with whatever fields. As in Argo CD's own, status is no subresource.
func (c *ControlPlane) define(ctx context.Context) error {
	var err error
	if c.Client, err = dynamic.NewForConfig(c.Config); err != nil {
		return err
	}
	for plural, kind := range map[string]string{"applications": "Application", "appprojects": "AppProject"} {
		if err := c.Define(ctx, "argoproj.io", "v1alpha1", plural, kind); err != nil {
			return err
		}
	}
	return nil
}

// Define makes a namespaced kind known and waits until it is served.
func (c *ControlPlane) Define(ctx context.Context, group, version, plural, kind string) error {
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	definition := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + "." + group},
		"spec": map[string]any{"group": group, "scope": "Namespaced", "names": map[string]any{"plural": plural, "kind": kind},
			"versions": []any{map[string]any{"name": version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": open}}}}}}
	if _, err := c.Client.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("define %s: %w", kind, err)
	}
	resource := schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
	return c.eventually(ctx, kind+" is served", func() bool {
		_, err := c.Client.Resource(resource).List(ctx, metav1.ListOptions{})
		return err == nil
	})
}
