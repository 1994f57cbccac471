package policy

import "github.com/sluicehq/sluice/internal/promotion"

// whenNewer is what becomes of a release that is asked for while another is open. Neither is stricter.
func whenNewer(key string) setting {
	const supersede, queue = "supersede", "queue"
	show := func(p *promotion.EnvironmentPolicy) string {
		if p.NewerWaits {
			return queue
		}
		return supersede
	}
	return setting{key: key, show: show, read: func(f field) (value, bool) {
		word, ok := f.choice(supersede, queue)
		return value{
			set:    func(p *promotion.EnvironmentPolicy) { p.NewerWaits = word == queue },
			looser: func(than *promotion.EnvironmentPolicy) bool { return word != show(than) },
			text:   word,
		}, ok
	}}
}
