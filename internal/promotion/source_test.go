package promotion_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestSourceName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ repository, server, path string }{
		{"shop/web", "", "shop/web"},
		{"web", "", "web"},
		{"", "", ""},
		{"github.com/shop/web", "github.com", "shop/web"},
		{"GitHub.com/Shop/Web.git", "github.com", "Shop/Web"},
		{"https://github.com/shop/web.git", "github.com", "shop/web"},
		{"https://github.com/shop/web/", "github.com", "shop/web"},
		{"https://ci:a-secret@github.com/shop/web", "github.com", "shop/web"},
		{"ssh://git@git.example.com:2222/shop/web.git", "git.example.com:2222", "shop/web"},
		{"git@github.com:shop/web.git", "github.com", "shop/web"},
		{"git.example.com:3000/group/shop/web", "git.example.com:3000", "group/shop/web"},
	} {
		if server, path := promotion.SourceName(c.repository); server != c.server || path != c.path {
			t.Errorf("%q is %q on %q, want %q on %q", c.repository, path, server, c.path, c.server)
		}
	}
}
