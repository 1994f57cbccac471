package audit

import "fmt"

// Entry is a seal and its event, nil if the event is gone.
type Entry struct {
	Seal
	Event *Event
}

// Verifier goes over a chain, in memory that does not grow with it. Add takes the chain in
// order of position; after End, Unsealed takes the events that no seal names.
type Verifier struct {
	found  func(Finding)
	expect *Head

	head    Head     // as stored
	unknown bool     // the hash before the next entry is not known
	suspect *suspect // the entry before, if it does not follow
	moved   bool     // the entry before was out of order
	inOrder Key      // the newest event that was in order
	floor   floor
}

// suspect is an entry whose hash does not follow; what that means the next one tells.
type suspect struct {
	Entry
	computed Hash
	after    Key  // the newest event in order before it
	moved    bool // the entry before it was out of order
}

// NewVerifier calls found for each finding. A head to expect may be nil.
func NewVerifier(expect *Head, found func(Finding)) *Verifier {
	v := &Verifier{found: found, expect: expect, head: Genesis()}
	v.expected()
	return v
}

// Add takes the entry that follows in order of position.
func (v *Verifier) Add(e Entry) {
	if e.Position <= v.head.Position {
		v.found(Finding{Inserted, e.Position, e.EventID, fmt.Sprintf("a seal of event %d stands at position %d, which is no place of its own", e.EventID, e.Position)})
		return
	}
	if e.Position != v.head.Position+1 {
		v.settle(nil)
		v.found(Finding{Kind: Removed, Position: v.head.Position + 1, Message: missing(v.head.Position+1, e.Position-1)})
		v.unknown = true
	}
	if e.Event == nil {
		v.settle(nil)
		v.found(Finding{Removed, e.Position, e.EventID, fmt.Sprintf("event %d, sealed at position %d, is gone", e.EventID, e.Position)})
	} else {
		v.follow(e)
	}
	v.head, v.unknown = e.Head(), false
	v.expected()
}

// follow compares an entry's hash with what the one before makes of it.
func (v *Verifier) follow(e Entry) {
	computed := link(v.head.Hash, *e.Event, e.Batch)
	follows := v.unknown || computed == e.Hash || v.suspect != nil && link(v.suspect.computed, *e.Event, e.Batch) == e.Hash
	v.settle(&e)
	if follows {
		v.inOrder, v.moved = e.Event.Key(), false
		v.insertedLate(e.Event.Key(), e.Horizon, e.Position)
		v.floor.raise(e.Event.ID, e.Horizon)
		return
	}
	v.suspect = &suspect{Entry: e, computed: computed, after: v.inOrder, moved: v.moved}
}

// settle says what is wrong with the suspect, given the entry after it, if there is one.
func (v *Verifier) settle(next *Entry) {
	s := v.suspect
	if s == nil {
		return
	}
	v.suspect, v.moved = nil, false
	f := Finding{Position: s.Position, EventID: s.EventID}
	switch key := s.Event.Key(); {
	case next != nil && link(s.computed, *next.Event, next.Batch) == next.Hash:
		f.Kind, f.Message = Broken, fmt.Sprintf("the hash at position %d was changed; its event %d is as it was sealed", s.Position, s.EventID)
	case !s.after.Before(key) || next != nil && !key.Before(next.Event.Key()):
		v.moved = true
		f.Kind, f.Message = Reordered, fmt.Sprintf("event %d is not the one that was sealed at position %d, and out of order there", s.EventID, s.Position)
	case s.moved:
		f.Kind, f.Message = Broken, fmt.Sprintf("position %d does not follow from the one before, so its event %d cannot be checked: it may have been moved, too", s.Position, s.EventID)
	default:
		f.Kind, f.Message = Altered, fmt.Sprintf("event %d is not as it was sealed at position %d", s.EventID, s.Position)
	}
	if f.Kind != Reordered {
		v.inOrder = s.Event.Key()
	}
	v.found(f)
}

// End is called after the last entry and returns the chain's head.
func (v *Verifier) End() Head {
	v.settle(nil)
	if v.expect != nil && v.expect.Position > v.head.Position {
		v.found(Finding{Kind: Replaced, Position: v.expect.Position,
			Message: fmt.Sprintf("the chain ends at position %d, but had reached %d: its newest part was removed", v.head.Position, v.expect.Position)})
	}
	return v.head
}

// expected compares the head with the expected one when it is reached.
func (v *Verifier) expected() {
	if v.expect != nil && v.expect.Position == v.head.Position && v.expect.Hash != v.head.Hash {
		v.found(Finding{Kind: Replaced, Position: v.head.Position,
			Message: fmt.Sprintf("the hash at position %d is %s, not the expected one: the chain was made anew", v.head.Position, v.head.Hash)})
	}
}

// Unsealed takes an event that no seal names and returns whether it may be so: it is
// younger than all that are sealed. No transaction from the horizon on has ended:
// when a sealed event claims a later one, the rows came from another server's dump, and the
// order says nothing until the first of this server's is sealed.
func (v *Verifier) Unsealed(k Key, horizon uint64) bool {
	if k.Before(v.inOrder) && v.inOrder.Tx < horizon {
		v.found(Finding{Kind: Inserted, EventID: k.ID, Message: fmt.Sprintf(
			"event %d has no seal although later events are sealed: it was inserted afterwards, or its seal was removed", k.ID)})
		return false
	}
	return v.insertedLate(k, horizon, 0)
}

// insertedLate finds an event that was given an old id long after that id's time. Of a
// transaction beyond the horizon, which is another server's, it says nothing.
func (v *Verifier) insertedLate(k Key, horizon uint64, position int64) (ok bool) {
	if k.Tx >= horizon {
		return true
	}
	if floor := v.floor.under(k.Tx); k.ID < floor {
		v.found(Finding{Inserted, position, k.ID, fmt.Sprintf(
			"event %d was inserted under an old id: event %d had been sealed before its transaction began", k.ID, floor)})
		return false
	}
	return true
}

func missing(from, to int64) string {
	if from == to {
		return fmt.Sprintf("position %d of the chain is missing, so the event after it cannot be checked", from)
	}
	return fmt.Sprintf("positions %d to %d of the chain are missing, so the event after them cannot be checked", from, to)
}
