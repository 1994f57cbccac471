package manifest

// HelmSettings say how an application's Helm targets are rendered and where their images are. They stand under `helm` in
// the application's own sluice.yaml; none are needed for the common layouts.
type HelmSettings struct {
	Chart       string      `json:"chart"`        // the chart's folder, relative to the application's
	Values      []string    `json:"values"`       // values files, relative to the overlay's folder; later ones win
	Release     string      `json:"release"`      // the application's name if empty
	Namespace   string      `json:"namespace"`    // "default" if empty
	KubeVersion string      `json:"kube_version"` // of the cluster, such as "1.34.1"
	Images      []HelmImage `json:"images"`
}

// HelmImage says where the parts of an image are in the values, as JSON pointers (RFC 6901). Either Reference, for a place that
// holds the whole reference, or Repository with Tag or Digest or both.
type HelmImage struct {
	Name       string `json:"name"`
	Reference  string `json:"reference"`
	Repository string `json:"repository"`
	Tag        string `json:"tag"`
	Digest     string `json:"digest"`
}
