package web

import "github.com/sluicehq/sluice/internal/promotion"

// endedView is the evidence beside the diagnosis of a crash: what the container wrote last.
type endedView struct {
	Pod, Container string
	ExitCode       int
	Log, Unread    string
}

// newEndedView is of the first container that crashes; nil when none does, or nothing was asked about it.
func newEndedView(d promotion.Deployment) *endedView {
	for _, c := range d.RunningImages {
		if c.Ended != (promotion.LastEnd{}) {
			return &endedView{Pod: c.Pod, Container: c.Container, ExitCode: c.Ended.ExitCode, Log: c.Ended.Log, Unread: c.Ended.Unread}
		}
	}
	return nil
}
