package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/api"
)

// moment is a flag for a time: RFC 3339, or how long from now.
type moment api.Time

func (m *moment) Set(value string) (err error) {
	ahead, relative := strings.CutPrefix(value, "+")
	if !relative {
		if m.Time, err = time.Parse(time.RFC3339, value); err != nil {
			return fmt.Errorf("%q is neither an RFC 3339 time such as 2026-03-01T02:30:00Z nor a time from now such as +2h30m", value)
		}
		return nil
	}
	d, err := time.ParseDuration(ahead)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is no time from now such as +2h30m", value)
	}
	m.Time = time.Now().Add(d).UTC().Truncate(time.Second)
	return nil
}

func (m *moment) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Format(time.RFC3339)
}

// Type is what the help text calls it.
func (m *moment) Type() string { return "TIME" }
