package main

import (
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/notification"
	"github.com/sluicehq/sluice/internal/promotion"
)

// destinations are those of the configuration.
func destinations(c config.Notifications) []promotion.Destination {
	var all []promotion.Destination
	for _, d := range c.Destinations {
		o := notification.Options{URL: d.Address}
		if d.SecretFile != "" {
			o.Secret = d.Secret
		}
		to := promotion.Destination{Name: d.Name, Messenger: notification.New(o)}
		for _, k := range d.Kinds {
			to.Kinds = append(to.Kinds, promotion.NotificationKind(k))
		}
		all = append(all, to)
	}
	return all
}

func reminders(c config.Notifications) promotion.Reminders {
	r := c.Reminders
	return promotion.Reminders{Override: r.Override.Duration, Violation: r.Violation.Duration, Drift: r.Drift.Duration, Every: r.Every.Duration}
}

// knownKinds refuses a configuration whose notifications would never come.
func knownKinds(c config.Notifications) error {
	for i, d := range c.Destinations {
		for _, k := range d.Kinds {
			if known := promotion.NotificationKinds(); !slices.Contains(known, promotion.NotificationKind(k)) {
				return fmt.Errorf("configuration: notifications.destinations[%d].kinds: %q is none of %v", i, k, known)
			}
		}
	}
	return nil
}
