package manifest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// ID identifies a Kubernetes object. Group is empty for the core group,
// Namespace for objects that name none.
type ID struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String gives Kind.group namespace/name, leaving out what is empty.
func (id ID) String() string {
	s := id.Kind
	if id.Group != "" {
		s += "." + id.Group
	}
	if id.Namespace != "" {
		return s + " " + id.Namespace + "/" + id.Name
	}
	return s + " " + id.Name
}

func (id ID) compare(other ID) int {
	return cmp.Or(
		strings.Compare(id.Group, other.Group),
		strings.Compare(id.Kind, other.Kind),
		strings.Compare(id.Namespace, other.Namespace),
		strings.Compare(id.Name, other.Name),
	)
}

// Object is one rendered object. Content is the whole object as decoded JSON,
// with int64 and float64 numbers, as client-go's unstructured objects want it.
type Object struct {
	ID
	Version string
	Content map[string]any
}

func newObject(content map[string]any) Object {
	metadata, _ := content["metadata"].(map[string]any)
	apiVersion := text(content["apiVersion"])
	group, version, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group, version = "", apiVersion
	}
	return Object{
		ID: ID{
			Group:     group,
			Kind:      text(content["kind"]),
			Namespace: text(metadata["namespace"]),
			Name:      text(metadata["name"]),
		},
		Version: version,
		Content: content,
	}
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// Rendered is what an overlay renders to: its objects, sorted by identity, so
// that the order of files and bases has no meaning.
type Rendered struct {
	Objects []Object
}

func newRendered(objects []Object) Rendered {
	slices.SortStableFunc(objects, func(a, b Object) int {
		return cmp.Or(a.ID.compare(b.ID), strings.Compare(a.Version, b.Version))
	})
	return Rendered{Objects: objects}
}

// Hash is the SHA-256, in hex, of the objects as canonical JSON: sorted keys,
// one object a line. Equal hashes mean that a cluster is asked for the same.
func (r Rendered) Hash() string {
	sum := sha256.New()
	for _, object := range r.Objects {
		sum.Write(canonical(object.Content))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// canonical ends in a line feed. Decoded JSON can always be encoded again.
func canonical(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("manifest: rendered object is not JSON: %v", err))
	}
	return out.Bytes()
}

// YAML gives the objects as a stream of documents, Secrets in plain text: use
// Redact first where people or logs see it.
func (r Rendered) YAML() []byte {
	var out bytes.Buffer
	for i, object := range r.Objects {
		if i > 0 {
			out.WriteString("---\n")
		}
		document, err := yaml.JSONToYAML(canonical(object.Content))
		if err != nil {
			panic(fmt.Sprintf("manifest: rendered object is not YAML: %v", err))
		}
		out.Write(document)
	}
	return out.Bytes()
}
