// Package simulation is the demo's cluster: client-go's fake dynamic client, moved by stand-ins for
// Argo CD's application controller and for the Deployment controller with its nodes. The stand-ins
// use dynamic.Interface only. State is kept in a file, since the demo may be killed at any moment.
package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// The kinds that the simulation keeps, in the order in which they are loaded.
var kinds = []struct {
	gvr  schema.GroupVersionResource
	kind string
}{
	{schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}, "Application"},
	{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "ConfigMap"},
	{schema.GroupVersionResource{Version: "v1", Resource: "services"}, "Service"},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, "Deployment"},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}, "StatefulSet"},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}, "DaemonSet"},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}, "ReplicaSet"},
	{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "Pod"},
}

func resource(kind string) (schema.GroupVersionResource, bool) {
	for _, k := range kinds {
		if k.kind == kind {
			return k.gvr, true
		}
	}
	return schema.GroupVersionResource{}, false
}

// Application is an Argo CD Application to be there.
type Application struct {
	Name, Namespace, RepoURL, Path string
	DestinationNamespace           string
	Automated                      bool
}

// Image is what a node finds out when it pulls an image.
type Image struct {
	ID      string // repository@sha256:… of the platform's manifest
	Crashes bool   // its program ends right after it starts
}

// Options say what is simulated.
type Options struct {
	File         string // where the state is kept
	Head         func(context.Context) (string, error)
	Render       func(ctx context.Context, revision, path string) ([]*unstructured.Unstructured, error)
	Pull         func(ctx context.Context, image string) (Image, error)
	Applications func(context.Context) ([]Application, error) // asked at each step, as an ApplicationSet does
	Now          func() time.Time
}

// Simulation is the simulated cluster.
type Simulation struct {
	Options
	client *fake.FakeDynamicClient
	saved  []byte
}

// Open loads the cluster's state, or starts with an empty cluster.
func Open(o Options) (*Simulation, error) {
	lists := map[schema.GroupVersionResource]string{}
	for _, k := range kinds {
		lists[k.gvr] = k.kind + "List"
	}
	s := &Simulation{Options: o, client: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)}
	s.keepVersions()
	text, err := os.ReadFile(o.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("read the simulated cluster: %w", err)
	}
	var objects []*unstructured.Unstructured
	if err := json.Unmarshal(text, &objects); err != nil {
		return nil, fmt.Errorf("simulated cluster in %s: %w; remove the file to start over", o.File, err)
	}
	for _, object := range objects {
		gvr, _ := resource(object.GetKind())
		if err := s.client.Tracker().Create(gvr, object, object.GetNamespace()); err != nil {
			return nil, fmt.Errorf("load %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	s.saved = text
	return s, nil
}

// keepVersions gives the fake client what it lacks: resource versions that guard updates, as an API server has.
func (s *Simulation) keepVersions() {
	s.client.PrependReactor("update", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		update, ok := action.(clienttesting.UpdateAction)
		object, isObject := update.GetObject().(*unstructured.Unstructured)
		if !ok || !isObject {
			return false, nil, nil
		}
		current, err := s.client.Tracker().Get(action.GetResource(), action.GetNamespace(), object.GetName())
		if err != nil {
			return false, nil, nil // the tracker says it better
		}
		have := current.(*unstructured.Unstructured).GetResourceVersion()
		if given := object.GetResourceVersion(); given != "" && given != have {
			return true, nil, apierrors.NewConflict(action.GetResource().GroupResource(), object.GetName(),
				fmt.Errorf("resource version is %s, not %s", have, given))
		}
		version, _ := strconv.Atoi(have)
		object.SetResourceVersion(strconv.Itoa(version + 1))
		return false, nil, nil
	})
}

// Client is the cluster's API.
func (s *Simulation) Client() dynamic.Interface { return s.client }

// Run takes a step each interval until ctx ends. A step that fails is reported and the next one tries again.
func (s *Simulation) Run(ctx context.Context, interval time.Duration, report func(error)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := s.Step(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Step moves everything by one step and saves what changed.
func (s *Simulation) Step(ctx context.Context) error {
	if err := s.ensureApplications(ctx); err != nil {
		return fmt.Errorf("the simulated ApplicationSet: %w", err)
	}
	if err := s.stepWorkloads(ctx); err != nil {
		return fmt.Errorf("the simulated Deployment controller: %w", err)
	}
	if err := s.stepApplications(ctx); err != nil {
		return fmt.Errorf("the simulated Argo CD: %w", err)
	}
	return s.save(ctx)
}

func (s *Simulation) save(ctx context.Context) error {
	var objects []unstructured.Unstructured
	for _, k := range kinds {
		list, err := s.list(ctx, k.kind)
		if err != nil {
			return err
		}
		objects = append(objects, list...)
	}
	text, err := json.Marshal(objects)
	if err != nil {
		return fmt.Errorf("save the simulated cluster: %w", err)
	}
	if bytes.Equal(text, s.saved) {
		return nil
	}
	if err := replaceFile(s.File, text); err != nil {
		return fmt.Errorf("save the simulated cluster: %w", err)
	}
	s.saved = text
	return nil
}

func replaceFile(name string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), ".cluster-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}

func (s *Simulation) list(ctx context.Context, kind string) ([]unstructured.Unstructured, error) {
	gvr, _ := resource(kind)
	list, err := s.client.Resource(gvr).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", gvr.Resource, err)
	}
	return list.Items, nil
}

func (s *Simulation) update(ctx context.Context, o *unstructured.Unstructured) error {
	gvr, _ := resource(o.GetKind())
	_, err := s.client.Resource(gvr).Namespace(o.GetNamespace()).Update(ctx, o, metav1.UpdateOptions{})
	return err
}

func (s *Simulation) create(ctx context.Context, o *unstructured.Unstructured) error {
	gvr, _ := resource(o.GetKind())
	o.SetResourceVersion("1")
	o.SetCreationTimestamp(metav1.NewTime(s.Now().UTC().Truncate(time.Second)))
	_, err := s.client.Resource(gvr).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{})
	return err
}

func (s *Simulation) remove(ctx context.Context, o *unstructured.Unstructured) error {
	gvr, _ := resource(o.GetKind())
	return s.client.Resource(gvr).Namespace(o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{})
}

func (s *Simulation) stamp() string { return s.Now().UTC().Format(time.RFC3339) }
