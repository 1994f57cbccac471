package audit

// floor knows below which id no event of a transaction can be. Ids rise, and a transaction
// has its number before it takes an id: one that began after an event was sealed takes
// higher ids only.
type floor struct {
	step         // holds for transactions of its horizon and above
	steps []step // by rising horizon: those that did not hold for any transaction yet
}

type step struct {
	horizon uint64
	id      int64
}

// raise tells of a sealed event.
func (f *floor) raise(id int64, horizon uint64) {
	last := len(f.steps) - 1
	switch {
	case last < 0 || horizon > f.steps[last].horizon:
		f.steps = append(f.steps, step{horizon, id})
	case horizon == f.steps[last].horizon:
		f.steps[last].id = max(f.steps[last].id, id)
	default: // numbers began anew, on another server: the old ones say nothing
		*f = floor{steps: []step{{horizon, id}}}
	}
}

// under is the lowest id that an event of the transaction may have, 0 if nothing is known.
// Transactions are asked about in order.
func (f *floor) under(tx uint64) int64 {
	for len(f.steps) > 0 && f.steps[0].horizon <= tx {
		f.step = step{f.steps[0].horizon, max(f.id, f.steps[0].id)}
		f.steps = f.steps[1:]
	}
	if tx < f.horizon {
		return 0
	}
	return f.id
}
