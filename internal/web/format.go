package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// moment is a time for people: relative, with the absolute one at hand. Empty for no time.
type moment struct{ Stamp, Absolute, Relative string }

func at(t, now time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	t = t.UTC()
	return moment{Stamp: t.Format(time.RFC3339), Absolute: t.Format("2006-01-02 15:04:05 UTC"), Relative: relative(now.Sub(t))}
}

func relative(d time.Duration) string {
	form := "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf(form, fmt.Sprintf("%d s", d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d min", d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d h", d/time.Hour))
	}
	return fmt.Sprintf(form, fmt.Sprintf("%d days", d/(24*time.Hour)))
}

// shortened is a digest or commit: short, with the whole at hand.
type shortened struct{ Short, Whole string }

func shorten(s string) shortened {
	_, digest, ok := strings.Cut(s, "@")
	if !ok {
		digest = s[strings.LastIndexByte(s, '/')+1:]
	}
	digest = strings.TrimPrefix(digest, "sha256:")
	if len(digest) >= 40 {
		digest = digest[:8]
	}
	return shortened{Short: digest, Whole: s}
}

// shortenAll shows the first of several references and has all at hand.
func shortenAll(refs []string) shortened {
	if len(refs) == 0 {
		return shortened{}
	}
	s := shortened{Short: shorten(refs[0]).Short, Whole: strings.Join(refs, "\n")}
	if n := len(refs) - 1; n > 0 {
		s.Short += fmt.Sprintf(" +%d", n)
	}
	return s
}

// link is a text that leads somewhere, or plain text when URL is empty.
type link struct{ Text, URL string }

// outside is a link that somebody else's data asks for: only to the web, whatever it says.
func outside(text, url string) link {
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "/") {
		url = ""
	}
	return link{Text: text, URL: url}
}

func releaseLink(id int64, version string) link {
	switch {
	case id == 0:
		return link{Text: "no known release"}
	case version == "":
		version = fmt.Sprintf("release %d", id)
	}
	return link{Text: version, URL: fmt.Sprintf("/releases/%d", id)}
}

// running is the release that runs, or why there is none to name.
func running(id int64, version string, health promotion.HealthStatus) link {
	if id == 0 && health == promotion.Progressing {
		return link{Text: "between releases"}
	}
	return releaseLink(id, version)
}

func promotionLink(id int64) link {
	if id == 0 {
		return link{}
	}
	return link{Text: fmt.Sprintf("promotion %d", id), URL: fmt.Sprintf("/promotions/%d", id)}
}

func references(r promotion.Release) []string {
	refs := make([]string, len(r.Artifacts))
	for i, a := range r.Artifacts {
		refs[i] = a.Reference()
	}
	return refs
}

// chartsOf names a release's charts.
func chartsOf(r promotion.Release) []string {
	return each(r.Charts, func(c promotion.ReleaseChart) string { return "chart " + c.String() })
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func each[From, To any](from []From, view func(From) To) []To {
	to := make([]To, len(from))
	for i, item := range from {
		to[i] = view(item)
	}
	return to
}
