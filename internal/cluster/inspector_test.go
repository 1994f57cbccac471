package cluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

const inspected = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-prod, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/shop/config.git, path: overlays/prod, targetRevision: main}
  destination: {namespace: shop}
status:
  resources:
  - {group: apps, version: v1, kind: StatefulSet, namespace: shop, name: db}
  - {group: apps, version: v1, kind: StatefulSet, namespace: shop, name: old}
  - {group: apps, version: v1, kind: StatefulSet, namespace: shop, name: gone}
  - {version: v1, kind: Secret, namespace: shop, name: s}
`

const liveDB = `
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
  namespace: shop
  managedFields:
  - {manager: argocd-controller, operation: Update, time: "2026-12-01T09:00:00Z", fieldsV1: {"f:spec": {"f:serviceName": {}}}}
  - {manager: kubectl, operation: Update, subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}
spec: {replicas: 3, serviceName: db, selector: {matchLabels: {app: db}}}
`

const liveOld = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: old, namespace: shop}\nspec: {serviceName: old}\n"

func objectOf(t *testing.T, text string) map[string]any {
	t.Helper()
	json, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(json); err != nil {
		t.Fatal(err)
	}
	return o.Object
}

func wanted(t *testing.T, texts ...string) promotion.Desired {
	t.Helper()
	want := promotion.Desired{Namespace: "shop"}
	for _, text := range texts {
		want.Objects = append(want.Objects, objectOf(t, text))
	}
	return want
}

const (
	wantedDB     = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 1, serviceName: db, selector: {matchLabels: {app: db}}}\n"
	wantedSecret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {key: open sesame}\n"
	wantedMap    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: b}\n"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	client := apiServer(t, inspected, liveDB, liveOld)
	secret := &unstructured.Unstructured{Object: objectOf(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\ndata: {key: c2VjcmV0}\n")}
	at := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("shop")
	if _, err := at.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	found, err := cluster.Inspector{Name: "prod-eu", Client: client}.Differences(t.Context(), webProdKey, wanted(t, wantedDB, wantedSecret, wantedMap))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range found.Differences {
		got = append(got, strings.Join([]string{d.Object, d.Path, d.Want, d.Have, string(d.Class), d.Owner}, "|"))
	}
	want := []string{
		"StatefulSet.apps shop/db|spec.replicas|1|3|human|kubectl scale",
		"Secret shop/s|data.key|(hidden)|(hidden)|unknown|nobody is named as its owner",
		"ConfigMap shop/m||ConfigMap m||deleted|nobody is named as its owner",
		"StatefulSet.apps shop/old|||StatefulSet old|extra|nobody is named as its owner",
	}
	if !slices.Equal(got, want) {
		t.Errorf("differences\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, d := range found.Differences { // of what can be adopted, and of nothing that is hidden
		steps, live := "", ""
		if d.Path == "spec.replicas" {
			steps, live = "f:spec f:replicas", "3"
		}
		if strings.Join(d.Steps, " ") != steps || d.Live != live {
			t.Errorf("%s %s: live %q at %q", d.Object, d.Path, d.Live, d.Steps)
		}
	}
	if len(found.Unread)+len(found.Unchecked) > 0 {
		t.Errorf("unread %q, unchecked %q", found.Unread, found.Unchecked)
	}
}

// answering has an API server answer some calls with an error.
type answering struct {
	dynamic.Interface
	get, apply func(resource, name string) error
}

type answeringResource struct {
	dynamic.ResourceInterface
	answering
	resource string
}

type answeringAll struct {
	dynamic.NamespaceableResourceInterface
	answering
	resource string
}

func (a answering) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return answeringAll{a.Interface.Resource(r), a, r.Resource}
}

func (a answeringAll) Namespace(n string) dynamic.ResourceInterface {
	return answeringResource{a.NamespaceableResourceInterface.Namespace(n), a.answering, a.resource}
}

func (a answeringResource) Get(ctx context.Context, name string, o metav1.GetOptions, sub ...string) (*unstructured.Unstructured, error) {
	if a.get != nil {
		if err := a.get(a.resource, name); err != nil {
			return nil, err
		}
	}
	return a.ResourceInterface.Get(ctx, name, o, sub...)
}

func (a answeringResource) Apply(ctx context.Context, name string, o *unstructured.Unstructured, options metav1.ApplyOptions, sub ...string) (*unstructured.Unstructured, error) {
	if a.apply != nil {
		if err := a.apply(a.resource, name); err != nil {
			return nil, err
		}
	}
	return a.ResourceInterface.Apply(ctx, name, o, options, sub...)
}

func rbac(verb, resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "x",
		errors.New(`User "system:serviceaccount:sluice:sluice" cannot `+verb+` resource "`+resource+`" in API group "" in the namespace "shop"`))
}

func TestDifferencesThatCannotBeKnown(t *testing.T) {
	t.Parallel()
	client := apiServer(t, inspected, liveDB)
	want := wanted(t, wantedDB, wantedMap)
	t.Run("what may not be read is unread and no deletion", func(t *testing.T) {
		t.Parallel()
		i := cluster.Inspector{Client: answering{Interface: client, get: func(resource, _ string) error {
			if resource == "configmaps" {
				return rbac("get", resource)
			}
			return nil
		}}}
		found, err := i.Differences(t.Context(), webProdKey, want)
		if err != nil || !slices.Contains(found.Unread, "ConfigMap shop/m") || len(found.Differences) != 1 {
			t.Errorf("found %+v, error %v", found, err)
		}
	})
	t.Run("a cluster that does not answer is unknown", func(t *testing.T) {
		t.Parallel()
		i := cluster.Inspector{Client: answering{Interface: client, get: func(resource, _ string) error {
			if resource == "statefulsets" {
				return apierrors.NewTimeoutError("the request took too long", 1)
			}
			return nil
		}}}
		if found, err := i.Differences(t.Context(), webProdKey, want); err == nil {
			t.Errorf("found %+v", found)
		}
	})
	t.Run("no dry run is less to go by", func(t *testing.T) {
		t.Parallel()
		i := cluster.Inspector{Client: answering{Interface: client, apply: func(resource, _ string) error { return rbac("patch", resource) }}}
		found, err := i.Differences(t.Context(), webProdKey, want)
		if err != nil || len(found.Differences) != 2 || len(found.Unchecked) != 1 || !strings.Contains(found.Unchecked[0], "no dry run may be asked for") {
			t.Errorf("found %+v, error %v", found, err)
		}
	})
	t.Run("no Application", func(t *testing.T) {
		t.Parallel()
		if _, err := (cluster.Inspector{Client: apiServer(t)}).Differences(t.Context(), webProdKey, want); !errors.Is(err, promotion.ErrNotFound) {
			t.Errorf("error %v", err)
		}
	})
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "m", nil)
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop")
	for name, c := range map[string]struct {
		err               error
		more              []string
		passed            int
		refused, unlooked string // what of the ConfigMap is said
		unknown           bool
	}{
		"taken":                    {passed: 2},
		"invalid":                  {err: invalid, passed: 1, refused: `ConfigMap shop/m: ConfigMap "m" is invalid`},
		"a webhook denies it":      {err: apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "m", errors.New(`admission webhook "w" denied the request`)), passed: 1, refused: `admission webhook "w" denied`},
		"the namespace is missing": {err: missing, passed: 1, refused: `namespaces "shop" not found`},
		"a field that the kind has not": {err: apierrors.NewInternalError(errors.New("failed to create typed patch object (shop/m; /v1, Kind=ConfigMap): .date: field not declared in schema")),
			passed: 1, refused: ".date: field not declared in schema"},
		"a webhook does not answer":      {err: apierrors.NewInternalError(errors.New(`failed calling webhook "w": connection refused`)), passed: 1, refused: `failed calling webhook "w"`},
		"the namespace comes with it":    {err: missing, more: []string{namespace}, passed: 2, unlooked: "is made by the same sync"},
		"a webhook without dry runs":     {err: apierrors.NewBadRequest(`admission webhook "w" does not support dry run`), passed: 1, unlooked: "does not support dry run"},
		"Sluice may not ask":             {err: rbac("patch", "configmaps"), passed: 1, unlooked: "Sluice's account may not ask"},
		"the API server answers nothing": {err: apierrors.NewTimeoutError("too long", 1), unknown: true},
		"the token has expired":          {err: apierrors.NewUnauthorized("Unauthorized"), unknown: true},
		"a hook with a generated name":   {more: []string{"apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: migrate-}\n"}, passed: 2, unlooked: "its name is made at the sync"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := apiServer(t, inspected)
			i := cluster.Inspector{Name: "prod-eu", Client: answering{Interface: client, apply: func(resource, _ string) error {
				if resource == "configmaps" {
					return c.err
				}
				return nil
			}}}
			got, err := i.DryRun(t.Context(), webProdKey, wanted(t, append([]string{wantedDB, wantedMap}, c.more...)...))
			if c.unknown != (err != nil) {
				t.Fatalf("got %+v, error %v", got, err)
			}
			if c.unknown {
				return
			}
			says := func(all []string, what string) bool {
				return what == "" && len(all) == 0 || what != "" && len(all) == 1 && strings.Contains(all[0], what)
			}
			if got.Passed != c.passed || !says(got.Refused, c.refused) || !says(got.Unchecked, c.unlooked) {
				t.Errorf("got %+v", got)
			}
			if left, err := client.Resource(cluster.StatefulSets).List(t.Context(), metav1.ListOptions{}); err != nil || len(left.Items) > 0 {
				t.Errorf("a dry run left %v, error %v", left, err)
			}
		})
	}
}

func TestDryRunMeetsWhatIsThere(t *testing.T) {
	t.Parallel()
	client := apiServer(t, inspected, liveDB)
	other := strings.ReplaceAll(wantedDB, "app: db", "app: other")
	got, err := cluster.Inspector{Client: client}.DryRun(t.Context(), webProdKey, wanted(t, other))
	if err != nil || len(got.Refused) != 1 || !strings.Contains(got.Refused[0], "immutable") {
		t.Errorf("got %+v, error %v", got, err)
	}
}
