package promotion_test

import (
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestWhoMayBeBehindADifference(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	write := func(user, verb string, after time.Duration) promotion.LiveWrite {
		return promotion.LiveWrite{User: user, Verb: verb, At: noon.Add(after)}
	}
	edited := promotion.Drift{Class: promotion.DriftHuman, OwnedAt: noon, FirstSeen: noon.Add(40 * time.Second)}
	scaled := promotion.Drift{Class: promotion.DriftHuman, FirstSeen: noon}
	deleted := promotion.Drift{Class: promotion.DriftDeleted, FirstSeen: noon}
	for name, test := range map[string]struct {
		drift  promotion.Drift
		writes []promotion.LiveWrite
		want   string
	}{
		"nothing was audited":                          {edited, nil, ""},
		"in the second that the owner is dated":        {edited, []promotion.LiveWrite{write("ada", "patch", 800*time.Millisecond)}, "ada"},
		"it took a while to be written":                {edited, []promotion.LiveWrite{write("ada", "patch", -20*time.Second)}, "ada"},
		"long before":                                  {edited, []promotion.LiveWrite{write("ada", "patch", -3*time.Minute)}, ""},
		"after it":                                     {edited, []promotion.LiveWrite{write("ada", "patch", 2*time.Second)}, ""},
		"one person several times":                     {edited, []promotion.LiveWrite{write("ada", "patch", -time.Minute), write("ada", "patch", 0)}, "ada"},
		"two people":                                   {edited, []promotion.LiveWrite{write("ada", "patch", -time.Minute), write("bob", "update", 0)}, "bob ada"},
		"who deleted it before did not edit it":        {edited, []promotion.LiveWrite{write("ada", "delete", -time.Second)}, ""},
		"nothing dates it":                             {scaled, []promotion.LiveWrite{write("ada", "patch", -4*time.Minute)}, "ada"},
		"nothing dates it, and the clocks differ":      {scaled, []promotion.LiveWrite{write("ada", "patch", 20*time.Second)}, "ada"},
		"nothing dates it, and it was long ago":        {scaled, []promotion.LiveWrite{write("ada", "patch", -6*time.Minute)}, ""},
		"deleted":                                      {deleted, []promotion.LiveWrite{write("ada", "delete", -time.Minute), write("bob", "patch", -30*time.Second)}, "ada"},
		"an autoscaler is no person's program":         {promotion.Drift{Class: promotion.DriftAutoscaler, OwnedAt: noon}, []promotion.LiveWrite{write("ada", "patch", 0)}, ""},
		"what a webhook added to somebody's write":     {promotion.Drift{Class: promotion.DriftWebhook, OwnedAt: noon}, []promotion.LiveWrite{write("ada", "patch", 0)}, ""},
		"a delivery tool that a person started":        {promotion.Drift{Class: promotion.DriftDelivery, OwnedAt: noon}, []promotion.LiveWrite{write("ada", "patch", 0)}, "ada"},
		"a program that nobody knows, and who used it": {promotion.Drift{Class: promotion.DriftUnknown, OwnedAt: noon}, []promotion.LiveWrite{write("ada", "patch", 0)}, "ada"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for i, w := range test.drift.Behind(test.writes) {
				if i > 0 {
					got += " "
				}
				got += w.User
			}
			if got != test.want {
				t.Errorf("behind it: %q, want %q", got, test.want)
			}
		})
	}
}
