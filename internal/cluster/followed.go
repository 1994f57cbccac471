package cluster

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sluicehq/sluice/internal/promotion"
)

var _ promotion.LiveObjects = (*Cluster)(nil)

// byResource is the index of Applications by the addresses of what they consist of.
const byResource = "consists-of"

func consistsOf(obj any) ([]string, error) {
	app := objectOf(obj)
	if app == nil {
		return nil, nil
	}
	var addresses []string
	for _, r := range resourcesOf(app) {
		addresses = append(addresses, r.address())
	}
	slices.Sort(addresses)
	return slices.Compact(addresses), nil
}

// address is where the API has it. The plural is guessed from the kind, as it is right for what Kubernetes itself has and for most others.
func (d deployed) address() string {
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: d.group, Version: d.version, Kind: d.kind})
	return strings.Join([]string{d.group, plural.Resource, d.namespace, d.name}, "/")
}

// Followed implements promotion.LiveObjects by what Argo CD lists as resources.
func (c *Cluster) Followed(r promotion.LiveRef) (string, error) {
	applications := c.informers[Applications]
	if !applications.HasSynced() {
		return "", errors.New("its Argo CD Applications are not seen yet")
	}
	address := strings.Join([]string{r.Group, r.Resource, r.Namespace, r.Name}, "/")
	found, err := applications.GetIndexer().ByIndex(byResource, address)
	if err != nil || len(found) == 0 {
		return "", err
	}
	for _, d := range resourcesOf(objectOf(found[0])) {
		if d.address() == address {
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(schema.GroupVersionKind{Group: d.group, Version: d.version, Kind: d.kind})
			o.SetNamespace(d.namespace)
			o.SetName(d.name)
			return nameOfObject(o), nil
		}
	}
	return "", nil
}
