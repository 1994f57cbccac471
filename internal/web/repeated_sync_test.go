package web_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// A sync that is repeated is warned of where everything is as Git says and does not work, and nowhere else.
func TestARepeatedSyncIsWarnedOf(t *testing.T) {
	t.Parallel()
	const warning = "search-dev in dev-1 is synced and degraded: it is as Git says, so a repeated sync will not help"
	for name, test := range map[string]struct {
		sync    promotion.SyncStatus
		health  promotion.HealthStatus
		applied bool
		warned  bool
	}{
		"synced and degraded":             {promotion.Synced, promotion.Degraded, true, true},
		"another revision is degraded":    {promotion.Synced, promotion.Degraded, false, false},
		"out of sync and degraded":        {promotion.OutOfSync, promotion.Degraded, true, false},
		"synced and on its way":           {promotion.Synced, promotion.Progressing, true, false},
		"nobody knows what becomes of it": {promotion.SyncUnknown, promotion.HealthUnknown, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, true)
			for _, row := range d.rows {
				for _, cell := range row.Cells {
					for i := range cell.Deployments {
						o := &cell.Deployments[i]
						if o.Application != "search" || o.Environment != "dev" {
							continue
						}
						o.Sync, o.Health = test.sync, test.health
						if !test.applied {
							o.Revision = strings.Repeat("b", 40)
						}
					}
				}
			}
			page := d.get(rita, "/promotions/14").Body.String()
			if got := strings.Contains(page, warning); got != test.warned {
				t.Errorf("warned: %v", got)
			}
		})
	}
}
