package promotion

import (
	"strings"
	"time"
)

// Lasting writes a duration as people do: 1h30m, not 1h30m0s.
func Lasting(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
