package realkube

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// The resources that the kubelet is about.
var (
	nodes = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	pods  = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// Fate is what becomes of a container. The zero Fate runs and is ready.
type Fate struct {
	ImageID string // what was pulled: repository@sha256:…; the image as asked for when empty
	Pull    string // why the image cannot be pulled, as a container runtime says it
	Exit    int    // the code with which it ends right after each start
	OOM     bool   // it is killed because of its memory; Exit has to be 137
	Unready bool   // its readiness probe fails
}

// Kubelet plays every node: what is bound to one starts there.
type Kubelet struct {
	client dynamic.Interface
	store  cache.Store
	queue  workqueue.TypedRateLimitingInterface[string]

	mu    sync.Mutex
	fates map[string]func(image string) Fate // by namespace
	next  int                                // number of the last address that a pod was given
}

// StartKubelet makes a node, node-1, and plays the nodes until ctx ends.
func (c *ControlPlane) StartKubelet(ctx context.Context) (*Kubelet, error) {
	k := &Kubelet{client: c.Client, fates: map[string]func(string) Fate{},
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](20*time.Millisecond, time.Second))}
	if err := k.addNode(ctx, "node-1"); err != nil {
		return nil, err
	}
	informer := dynamicinformer.NewDynamicSharedInformerFactory(c.Client, 0).ForResource(pods).Informer()
	k.store = informer.GetStore()
	look := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			k.queue.Add(key)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, now any) { look(now) }})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, k.queue.ShutDown)
	go informer.RunWithContext(ctx)
	go func() {
		for k.work(ctx) {
		}
	}()
	return k, nil
}

// In says what becomes of the containers in a namespace from now on, also of those that are there.
func (k *Kubelet) In(namespace string, fate func(image string) Fate) {
	k.mu.Lock()
	k.fates[namespace] = fate
	k.mu.Unlock()
	for _, key := range k.store.ListKeys() {
		k.queue.Add(key)
	}
}

func (k *Kubelet) fate(namespace, image string) Fate {
	k.mu.Lock()
	defer k.mu.Unlock()
	if decide, known := k.fates[namespace]; known {
		return decide(image)
	}
	return Fate{}
}

func (k *Kubelet) addNode(ctx context.Context, name string) error {
	size := map[string]any{"cpu": "4", "memory": "8Gi", "pods": "200", "ephemeral-storage": "100Gi"}
	node := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}},
		"status": map[string]any{"capacity": size, "allocatable": size, "nodeInfo": map[string]any{"operatingSystem": "linux", "architecture": "arm64"},
			"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "KubeletReady"}}}}}
	if _, err := k.client.Resource(nodes).Create(ctx, node, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make a node: %w", err)
	}
	return nil
}

// work plays one pod; false when the queue is shut down. What fails is tried again.
func (k *Kubelet) work(ctx context.Context) bool {
	key, stopped := k.queue.Get()
	if stopped {
		return false
	}
	defer k.queue.Done(key)
	obj, there, _ := k.store.GetByKey(key) //nolint:errcheck // it never fails
	pod, isPod := obj.(*unstructured.Unstructured)
	if !there || !isPod {
		return true
	}
	if err := k.play(ctx, pod.DeepCopy()); err != nil {
		k.queue.AddRateLimited(key)
		return true
	}
	k.queue.Forget(key)
	return true
}

// play moves a pod to where its fate wants it.
func (k *Kubelet) play(ctx context.Context, pod *unstructured.Unstructured) error {
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName") //nolint:errcheck // a string, or not there
	if node == "" {
		return nil
	}
	at := k.client.Resource(pods).Namespace(pod.GetNamespace())
	if pod.GetDeletionTimestamp() != nil {
		err := at.Delete(ctx, pod.GetName(), metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	changed, err := k.decide(pod)
	if err != nil || !changed {
		return err
	}
	_, err = at.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
