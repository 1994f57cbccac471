package web

import "github.com/sluicehq/sluice/internal/promotion"

// mark is a shape and a word, so that nothing is said by colour alone.
type mark struct{ Shape, Tone, Word, Title string }

func syncMark(s promotion.SyncStatus) mark {
	switch s {
	case promotion.Synced:
		return mark{Shape: "check", Tone: "good", Word: "Synced", Title: "sync: live objects match what main renders"}
	case promotion.OutOfSync:
		return mark{Shape: "differs", Tone: "warn", Word: "Out of sync", Title: "sync: live objects differ from what main renders"}
	}
	return mark{Shape: "unknown", Tone: "warn", Word: "Sync unknown", Title: "sync: the cluster does not say"}
}

func healthMark(h promotion.HealthStatus) mark {
	switch h {
	case promotion.Healthy:
		return mark{Shape: "heart", Tone: "good", Word: "Healthy", Title: "health: it works"}
	case promotion.Progressing:
		return mark{Shape: "moving", Tone: "busy", Word: "Progressing", Title: "health: it is on its way"}
	case promotion.Degraded:
		return mark{Shape: "broken", Tone: "bad", Word: "Degraded", Title: "health: it does not work"}
	case promotion.Suspended:
		return mark{Shape: "pause", Tone: "warn", Word: "Suspended", Title: "health: somebody has paused it"}
	case promotion.Missing:
		return mark{Shape: "dash", Tone: "bad", Word: "Missing", Title: "health: it is not in the cluster"}
	}
	return mark{Shape: "unknown", Tone: "warn", Word: "Health unknown", Title: "health: the cluster does not say"}
}

func stateMark(s promotion.State) mark {
	m := mark{Word: string(s)}
	switch s {
	case promotion.StateRequested:
		m.Shape, m.Tone = "clock", "busy"
	case promotion.StateOpen:
		m.Shape, m.Tone = "open", "busy"
	case promotion.StateMerged:
		m.Shape, m.Tone = "merge", "busy"
	case promotion.StateSyncing:
		m.Shape, m.Tone = "moving", "busy"
	case promotion.StateLive:
		m.Shape, m.Tone = "heart", "busy"
	case promotion.StateVerified:
		m.Shape, m.Tone = "check", "good"
	case promotion.StateFailed:
		m.Shape, m.Tone = "warning", "bad"
	case promotion.StateRejected:
		m.Shape, m.Tone = "stop", "bad"
	case promotion.StateRolledBack:
		m.Shape, m.Tone = "back", "warn"
	default:
		m.Shape, m.Tone = "dash", "off"
	}
	return m
}

func gateMark(g promotion.GateResult) mark {
	switch g.Verdict {
	case promotion.Pass:
		return mark{Shape: "check", Tone: "good", Word: "pass"}
	case promotion.Wait:
		return mark{Shape: "clock", Tone: tone(g, "busy"), Word: "wait"}
	}
	return mark{Shape: "stop", Tone: tone(g, "bad"), Word: "block"}
}

// tone of what only reports is quiet.
func tone(g promotion.GateResult, loud string) string {
	if g.Mode == promotion.Report {
		return "off"
	}
	return loud
}
