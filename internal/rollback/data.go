package rollback

// dataCompatible: old can work with what current's migrations and writes have
// left behind, or the migrations can be taken back.
func dataCompatible(d Data) findings {
	var f findings
	if d.MigrationList != Complete || d.Migrations == nil {
		f.unknown("migration-list-unread")
	}
	switch d.SchemaState {
	case Clean:
	case HalfApplied:
		f.unknown("schema-half-applied")
	default:
		f.unknown("schema-state-unread")
	}
	for _, m := range d.Migrations {
		f.migration(m, d.RollbackRunsDown)
	}
	f.state(d.NewData, OldCannotRead, "new-data-unreadable", "new-data-unattested", None, OldCanRead)
	return f
}

// migration judges one migration by what a rollback does with it. Where that was
// not read, it is fine only if it is fine both ways.
func (f *findings) migration(m Migration, runsDown *bool) {
	if runsDown == nil {
		var both findings
		both.staysApplied(m)
		both.isTakenBack(m)
		if len(both.nos)+len(both.unknowns) > 0 {
			f.unknown("migration-unknown:" + m.ID)
		}
		return
	}
	if *runsDown {
		f.isTakenBack(m)
		return
	}
	f.staysApplied(m)
}

func (f *findings) staysApplied(m Migration) {
	f.state(m.Verdict, Breaking, "migration-breaking:"+m.ID, "migration-unknown:"+m.ID, Compatible)
}

// isTakenBack believes an author who says yes only where the classification
// does not say no, and an author who says no always.
func (f *findings) isTakenBack(m Migration) {
	switch {
	case m.Reversible == No || m.DeclaredReversible == No:
		f.no("migration-not-reversible:" + m.ID)
	case m.Reversible != Yes && m.DeclaredReversible != Yes:
		f.unknown("migration-reversible-unknown:" + m.ID)
	}
}
