package web

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// zoneChoice is the zone in which times are shown and read, and those that it is chosen from.
type zoneChoice struct {
	place   *time.Location
	windows []string // zones of the windows
	Options []option
	Problem string
}

// chooseZone takes the zone that was asked for. Without one it is that of the windows, when they share one, or else UTC.
func (w *Web) chooseZone(ctx context.Context, asked string) (zoneChoice, error) {
	windows, err := w.useCases.WindowZones(ctx)
	if err != nil {
		return zoneChoice{}, err
	}
	z := zoneChoice{place: time.UTC, windows: windows}
	if asked == "" && len(windows) == 1 {
		asked = windows[0]
	}
	if asked != "" {
		place, err := time.LoadLocation(asked)
		if err != nil || asked == "Local" {
			z.Problem = fmt.Sprintf("%q is no time zone: name one such as Europe/Berlin", asked)
		} else {
			z.place = place
		}
	}
	names := []string{"UTC"}
	for _, name := range append(windows, z.place.String()) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	z.Options = each(names, func(name string) option { return option{Value: name, Text: name, Chosen: name == z.place.String()} })
	return z, nil
}

// Name is what the zone is called.
func (z zoneChoice) Name() string { return z.place.String() }

const momentForm = "2006-01-02T15:04" // of datetime-local

// parse reads a time of day on a date in the zone. One that clocks skip there is refused.
func (z zoneChoice) parse(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{momentForm, momentForm + ":05", "2006-01-02 15:04"} {
		t, err := time.ParseInLocation(form, text, z.place)
		switch {
		case err != nil:
			continue
		case t.Format(form) != text:
			return t, fmt.Errorf("there is no %s in %s: clocks are put forward over it. Choose another time", text, z.Name())
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is no time: write one such as 2026-03-01T02:30", text)
}

// clock gives a moment on the clocks of the zone, and on those of windows kept in other zones.
func (z zoneChoice) clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	const form = "Mon 2 Jan 15:04"
	text := t.In(z.place).Format(form)
	for _, name := range z.windows {
		if place, err := time.LoadLocation(name); err == nil && name != z.Name() {
			text += fmt.Sprintf(" (%s in %s)", t.In(place).Format(form), name)
		}
	}
	return text
}
