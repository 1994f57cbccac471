package migration

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// wayBack is what a file's Down is worth.
type wayBack struct {
	known    bool // it gives texts that the Up does not hold
	destroys bool // it takes away what its Up did not make
}

func (w wayBack) reversible() Reversible {
	if w.destroys {
		return ReversibleNo
	}
	return ReversibleYes
}

// takesAway are the codes of statements that remove something. Recreating a
// view or function after dropping it has another code, and is a fair way back.
var takesAway = []string{
	"drop-table", "drop-view", "drop-schema", "drop-function", "drop-type", "drop-sequence", "drop-extension", "drop-cascade",
	"drop-column", "drop-constraint", "drop-index", "drop-unique-index", "drop-index-unknown-kind", "drop-trigger", "drop-policy",
	"truncate", "delete-all-rows", "delete-data",
}

// judgeDown reads the Down of a file against the schema as its Up leaves it. A
// Down that has only settings and selects says nothing, and neither does one
// with something in it that is no statement.
func judgeDown(afterUp *schema, file int, down []action) wayBack {
	j := newJudge(afterUp.clone(), file, down)
	j.down = true
	var back wayBack
	readable := true
	for _, a := range down {
		from := len(j.statements)
		j.run([]action{a})
		for _, s := range j.statements[from:] {
			switch s.Reason {
			case "unparsable":
				readable = false
			case "no-effect", "session-setting", "transaction":
			default:
				back.known = true
			}
			if slices.Contains(takesAway, s.Reason) && s.Kind != "ALTER POLICY" && !j.deletesWhatItInserted(a, s) {
				back.destroys = true
			}
		}
	}
	back.known = back.known && readable
	return back
}

// deletesWhatItInserted: a DELETE that says which rows, in a table that the Up
// inserted into. Whether these are the same rows is not to be seen.
func (j *judge) deletesWhatItInserted(a action, s *Statement) bool {
	d, isDelete := a.node.(*pg.DeleteStmt)
	return isDelete && s.Reason == "delete-data" && j.relation(d.GetRelation()).insertedBy == j.file
}
