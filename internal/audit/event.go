package audit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// Event is a row of audit_events as it is stored. Nil is NULL.
type Event struct {
	ID            int64
	Tx            uint64 // the transaction that wrote it; 0: before events were sealed
	At            time.Time
	Actor         string
	ActorKind     string
	Action        string
	Object        string
	Application   string
	Environment   string
	ReleaseID     *int64
	PromotionID   *int64
	Message       string
	Before, After json.RawMessage
	RequestID     string
	SourceAddress string
}

// Key is an event's place in the order of sealing.
type Key struct {
	Tx uint64
	ID int64
}

// Key returns the event's place in the order of sealing.
func (e Event) Key() Key { return Key{e.Tx, e.ID} }

// Before tells whether k's event is sealed before o's.
func (k Key) Before(o Key) bool { return k.Tx < o.Tx || k.Tx == o.Tx && k.ID < o.ID }

// TimeFormat is how times are written: RFC 3339 with microseconds. Times are in UTC.
const TimeFormat = "2006-01-02T15:04:05.000000Z07:00"

func (e Event) appendTo(f *fields) {
	f.number("id", &e.ID)
	f.text("tx", strconv.FormatUint(e.Tx, 10))
	f.time("at", e.At)
	f.text("actor", e.Actor)
	f.text("actor_kind", e.ActorKind)
	f.text("action", e.Action)
	f.text("object", e.Object)
	f.text("application", e.Application)
	f.text("environment", e.Environment)
	f.number("release_id", e.ReleaseID)
	f.number("promotion_id", e.PromotionID)
	f.text("message", e.Message)
	f.document("before", e.Before)
	f.document("after", e.After)
	f.text("request_id", e.RequestID)
	f.text("source_address", e.SourceAddress)
}

// fields writes the canonical form. Lengths keep one value from passing for two.
type fields struct{ bytes.Buffer }

func (f *fields) text(name, value string) {
	f.WriteString(name)
	f.WriteByte(' ')
	f.WriteString(strconv.Itoa(len(value)))
	f.WriteByte(' ')
	f.WriteString(value)
	f.WriteByte('\n')
}

func (f *fields) null(name string) {
	f.WriteString(name)
	f.WriteString(" -\n")
}

func (f *fields) number(name string, value *int64) {
	if value == nil {
		f.null(name)
		return
	}
	f.text(name, strconv.FormatInt(*value, 10))
}

func (f *fields) time(name string, value time.Time) {
	f.text(name, value.UTC().Format(TimeFormat))
}

func (f *fields) document(name string, value json.RawMessage) {
	if value == nil {
		f.null(name)
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		f.text(name, string(value)) // no jsonb: whatever it is, it is not what was sealed
		return
	}
	f.text(name, compact.String())
}
