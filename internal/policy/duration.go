package policy

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// expiry is stricter when it is shorter. Zero stands for never, and is written so.
func expiry(key string) setting {
	const never = "never"
	text := func(d time.Duration) string {
		if d == 0 {
			return never
		}
		return promotion.Lasting(d)
	}
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return text(p.ApprovalExpiry) },
		read: func(f field) (value, bool) {
			var d time.Duration
			ok := f.node.Kind == yaml.ScalarNode && f.node.Value == never
			if !ok {
				if d, ok = f.duration(); ok && d == 0 {
					f.fault(BadValue, "an approval cannot expire at once; write %s if it must not expire", never)
					ok = false
				}
			}
			return value{
				set: func(p *promotion.EnvironmentPolicy) { p.ApprovalExpiry = d },
				looser: func(than *promotion.EnvironmentPolicy) bool {
					return than.ApprovalExpiry != 0 && (d == 0 || d > than.ApprovalExpiry)
				},
				text: text(d),
			}, ok
		},
	}
}

// durationForm is Go's, without fractions and signs.
var durationForm = regexp.MustCompile(`^([0-9]+(h|m|s|ms))+$`)

// duration reads a time such as 90m.
func (f field) duration() (time.Duration, bool) {
	if !f.is(yaml.ScalarNode, "!!str", "a duration such as 30m or 168h") {
		return 0, false
	}
	text := f.node.Value
	d, err := time.ParseDuration(text)
	if err != nil || !durationForm.MatchString(text) {
		f.fault(BadDuration, "must be a duration such as 30m or 168h, not %s%s", cut(text), inHours(text))
		return 0, false
	}
	return d, true
}

// inHours helps who wrote days.
func inHours(text string) string {
	days, isDays := strings.CutSuffix(text, "d")
	if n, err := strconv.Atoi(days); isDays && err == nil && n > 0 && n <= 366 {
		return fmt.Sprintf(": write %dh", 24*n)
	}
	return ""
}
