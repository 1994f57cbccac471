package promotion_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestSameRepository(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{"https://git.example.com/shop/config.git", "https://git.example.com/shop/config", true},
		{"https://git.example.com/shop/config", "git@git.example.com:shop/config.git", true},
		{"ssh://git@git.example.com:22/shop/config.git", "https://token@GIT.example.com/Shop/config/", true},
		{"https://git.example.com/shop/config", "https://git.example.com/shop/config-2", false},
		{"https://git.example.com/shop/config", "https://other.example.com/shop/config", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if got := promotion.SameRepository(tt.a, tt.b); got != tt.want {
			t.Errorf("SameRepository(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestRepositoryOf(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"registry.example.com:5000/shop/web:1.2": "registry.example.com:5000/shop/web",
		"registry.example.com:5000/shop/web":     "registry.example.com:5000/shop/web",
		"shop/web@sha256:abc":                    "shop/web",
		"shop/web:1.2@sha256:abc":                "shop/web",
		"web":                                    "web",
	} {
		if got := promotion.RepositoryOf(ref); got != want {
			t.Errorf("RepositoryOf(%q) = %q, want %q", ref, got, want)
		}
	}
}
