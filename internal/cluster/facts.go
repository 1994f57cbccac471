package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// The resources that are asked for when somebody wants to go back. None of them is watched.
var (
	nodesResource   = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	quotas          = schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}
	budgets         = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	externalSecrets = schema.GroupVersionResource{Group: "external-secrets.io", Version: "v1", Resource: "externalsecrets"}
	sealedSecrets   = schema.GroupVersionResource{Group: "bitnami.com", Version: "v1alpha1", Resource: "sealedsecrets"}
	referred        = map[string]schema.GroupVersionResource{
		"ConfigMap":             {Version: "v1", Resource: "configmaps"},
		"Secret":                {Version: "v1", Resource: "secrets"},
		"ServiceAccount":        {Version: "v1", Resource: "serviceaccounts"},
		"PersistentVolumeClaim": {Version: "v1", Resource: "persistentvolumeclaims"},
	}
)

// Bounds of one look.
const (
	askedAtOnce = 8
	factTimeout = 5 * time.Second // of one question
)

var _ promotion.ClusterReader = (*Cluster)(nil)

// look is one gathering of facts in one namespace.
type look struct {
	*Cluster
	namespace string
	mu        sync.Mutex // guards facts
	facts     promotion.ClusterFacts
	slots     chan struct{}
	asking    sync.WaitGroup
}

// Facts implements promotion.ClusterReader. Of Secrets nothing but the names of their keys is kept.
func (c *Cluster) Facts(ctx context.Context, d promotion.DeploymentKey, n promotion.Needs) promotion.ClusterFacts {
	l := &look{Cluster: c, slots: make(chan struct{}, askedAtOnce), facts: promotion.ClusterFacts{
		Refs: map[promotion.ObjectRef]rollback.State{}, APIs: map[string]rollback.State{}, Workloads: map[string]promotion.LiveWorkload{},
		Evictions: map[string]promotion.Evictions{}, ExternalSecrets: map[string]rollback.ExternalSecret{}, SealedSecrets: map[string]rollback.SealedSecret{}}}
	var err error
	if l.namespace, err = c.destination(d); err != nil {
		l.facts.Unread = []string{err.Error()}
		return l.facts
	}
	l.ask(ctx, func(ctx context.Context) { l.askNodes(ctx, n.Workloads) })
	l.ask(ctx, func(ctx context.Context) { l.askBudgets(ctx, n.Workloads) })
	for _, refs := range byObject(n.Refs) {
		l.ask(ctx, func(ctx context.Context) { l.askRefs(ctx, refs) })
	}
	for version, kinds := range byVersion(n.APIs) {
		l.ask(ctx, func(ctx context.Context) { l.askAPIs(ctx, version, kinds) })
	}
	for _, name := range n.ExternalSecrets {
		l.ask(ctx, func(ctx context.Context) { l.askExternalSecret(ctx, name) })
	}
	for _, name := range n.SealedSecrets {
		l.ask(ctx, func(ctx context.Context) { l.askSealedSecret(ctx, name) })
	}
	l.asking.Wait()
	slices.Sort(l.facts.Unread)
	l.facts.Unread = slices.Compact(l.facts.Unread)
	return l.facts
}

// destination is the namespace that an Application deploys to.
func (c *Cluster) destination(d promotion.DeploymentKey) (string, error) {
	obj, exists, err := c.informers[Applications].GetStore().GetByKey(cache.NewObjectName(d.Namespace, d.Name).String())
	app, ok := obj.(*unstructured.Unstructured)
	if err != nil || !exists || !ok {
		return "", fmt.Errorf("cluster %s: the Argo CD Application %s/%s is not there, so nothing says where it deploys to", c.Name, d.Namespace, d.Name)
	}
	namespace, _, _ := unstructured.NestedString(app.Object, "spec", "destination", "namespace")
	if namespace == "" {
		return "", fmt.Errorf("cluster %s: the Argo CD Application %s/%s names no namespace to deploy to", c.Name, d.Namespace, d.Name)
	}
	return namespace, nil
}

// ask runs one question beside others, with its own deadline.
func (l *look) ask(ctx context.Context, question func(context.Context)) {
	l.slots <- struct{}{}
	l.asking.Go(func() {
		defer func() { <-l.slots }()
		ctx, cancel := context.WithTimeout(ctx, factTimeout)
		defer cancel()
		question(ctx)
	})
}

// unread notes why something is not known.
func (l *look) unread(what string, err error) {
	why := err.Error()
	switch {
	case apierrors.IsForbidden(err):
		why = "Sluice may not read it there; let its service account get and list this"
	case apierrors.IsUnauthorized(err):
		why = "the cluster does not accept Sluice's credentials"
	case errors.Is(err, context.DeadlineExceeded):
		why = "it gave no answer in time"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts.Unread = append(l.facts.Unread, fmt.Sprintf("cluster %s: %s could not be read: %s", l.Name, what, why))
}

func byObject(refs []promotion.ObjectRef) map[string][]promotion.ObjectRef {
	objects := map[string][]promotion.ObjectRef{}
	for _, r := range refs {
		objects[r.Kind+"/"+r.Name] = append(objects[r.Kind+"/"+r.Name], r)
	}
	return objects
}

// askRefs looks for one object and the keys of it that are referred to.
func (l *look) askRefs(ctx context.Context, refs []promotion.ObjectRef) {
	kind, name := refs[0].Kind, refs[0].Name
	object, err := l.Client.Resource(referred[kind]).Namespace(l.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		l.unread(fmt.Sprintf("%s %s in namespace %s", kind, name, l.namespace), err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range refs {
		switch {
		case err != nil:
			l.facts.Refs[r] = rollback.ObjectAbsent
		case r.Key == "" || hasKey(object, r.Key):
			l.facts.Refs[r] = rollback.Present
		default:
			l.facts.Refs[r] = rollback.KeyAbsent
		}
	}
}

func hasKey(o *unstructured.Unstructured, key string) bool {
	for _, field := range []string{"data", "binaryData"} {
		values, _ := o.Object[field].(map[string]any)
		if _, ok := values[key]; ok {
			return true
		}
	}
	return false
}

func byVersion(apis []string) map[string][]string {
	versions := map[string][]string{}
	for _, api := range apis {
		if i := strings.LastIndexByte(api, '/'); i > 0 {
			versions[api[:i]] = append(versions[api[:i]], api[i+1:])
		}
	}
	return versions
}

// askAPIs asks which kinds the cluster serves in one API version.
func (l *look) askAPIs(ctx context.Context, version string, kinds []string) {
	if l.Served == nil {
		l.unread("what it serves", fmt.Errorf("nothing is connected that says so"))
		return
	}
	served, err := l.Served(ctx, version)
	if err != nil {
		l.unread("what it serves of "+version, err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, kind := range kinds {
		l.facts.APIs[version+"/"+kind] = rollback.No
		if slices.Contains(served, kind) {
			l.facts.APIs[version+"/"+kind] = rollback.Yes
		}
	}
}
