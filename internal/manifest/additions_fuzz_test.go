package manifest_test

import (
	"errors"
	"testing"

	"github.com/sluicehq/sluice/internal/manifest"
)

// FuzzAdditions renders with whatever an Application may say: an image, a Helm
// parameter. It is rendered or refused.
func FuzzAdditions(f *testing.F) {
	f.Add("web=registry.example.com/web:v1@"+newDigest, "a.b[2].c", "x,y")
	f.Add("web", `a\.b`, "{x,{y}}")
	f.Add("=:@", "a[0][1]", "null")
	kustomization, helm := shop(withBase+webEntry), chart()
	f.Fuzz(func(t *testing.T, image, name, value string) {
		_, err := manifest.RenderWith(kustomization, prod, manifest.Additions{Kustomize: manifest.KustomizeAdditions{Images: []string{image}}})
		var refusal *manifest.Refusal
		if err != nil && !errors.As(err, &refusal) {
			t.Errorf("image %q: %v is no refusal", image, err)
		}
		_, err = manifest.RenderWith(helm, "charts/web", manifest.Additions{Helm: manifest.HelmAdditions{
			ValueFiles:     []string{"prod/one.yaml"},
			Parameters:     []manifest.HelmParameter{{Name: name, Value: value}, {Name: name, Value: value, Text: true}},
			FileParameters: []manifest.HelmFileParameter{{Name: name, File: value}},
		}})
		if err != nil && !errors.As(err, &refusal) {
			t.Errorf("parameter %q=%q: %v is no refusal", name, value, err)
		}
	})
}
