package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// dataFamily: statements that change rows, those within WITH included.
func (j *judge) dataFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.TruncateStmt:
		return []ruling{j.truncate(s)}
	case *pg.CopyStmt:
		return []ruling{j.copyRows(s)}
	}
	if r, ok := j.change(node); ok {
		return []ruling{worst(append([]ruling{r}, j.within(node)...)...)}
	}
	return nil
}

// within rules on the statements that change rows inside another one.
func (j *judge) within(root proto.Message) []ruling {
	var rulings []ruling
	walk(root, func(m proto.Message) {
		if m == root {
			return
		}
		if r, ok := j.change(m); ok {
			rulings = append(rulings, r)
		}
	})
	return rulings
}

func (j *judge) change(node proto.Message) (r ruling, ok bool) {
	switch s := node.(type) {
	case *pg.InsertStmt:
		return j.insert(s), true
	case *pg.UpdateStmt:
		return j.update(s), true
	case *pg.DeleteStmt:
		reason := "delete-data"
		if s.GetWhereClause() == nil && len(s.GetUsingClause()) == 0 {
			reason = "delete-all-rows"
		}
		return j.onRows(j.relation(s.GetRelation()), reason), true
	case *pg.MergeStmt:
		table := j.relation(s.GetRelation())
		table.insertedBy = j.inserter(table)
		return j.onRows(table, "upsert-data"), true
	}
	return ruling{}, false
}

func (j *judge) insert(s *pg.InsertStmt) ruling {
	table := j.relation(s.GetRelation())
	table.insertedBy = j.inserter(table)
	reason := "insert-data"
	if s.GetOnConflictClause().GetAction() == pg.OnConflictAction_ONCONFLICT_UPDATE {
		reason = "upsert-data"
	}
	return j.onRows(table, reason)
}

// inserter is the file whose rows a Down may delete again: that of the Up.
func (j *judge) inserter(table *relation) int {
	if j.down {
		return table.insertedBy
	}
	return j.file
}

func (j *judge) update(s *pg.UpdateStmt) ruling {
	table := j.relation(s.GetRelation())
	for _, n := range s.GetTargetList() {
		if !j.own(table.column(n.GetResTarget().GetName()).origin) {
			return j.onRows(table, "update-data")
		}
	}
	return j.onRows(table, "backfill-new-column")
}

// onRows: an own view shows rows of other tables, and an own partition holds rows
// of the table it is part of, so neither makes rows the set's own.
func (j *judge) onRows(table *relation, reason string) ruling {
	if table.view || table.partition {
		return because(reason)
	}
	return j.ownFirst(table.origin, reason)
}

// truncate takes the rows of each table, and with CASCADE those of tables that
// have foreign keys to it.
func (j *judge) truncate(s *pg.TruncateStmt) ruling {
	rulings := []ruling{because("own-object")}
	for _, n := range s.GetRelations() {
		table := j.relation(n.GetRangeVar())
		if table.referenced && s.GetBehavior() == pg.DropBehavior_DROP_CASCADE {
			rulings = append(rulings, because("truncate"))
		}
		rulings = append(rulings, j.onRows(table, "truncate"))
	}
	return worst(rulings...)
}

func (j *judge) copyRows(s *pg.CopyStmt) ruling {
	if s.GetRelation() == nil || !s.GetIsFrom() {
		return worst(append(j.within(s), because("unclassified"))...)
	}
	table := j.relation(s.GetRelation())
	table.insertedBy = j.inserter(table)
	return j.onRows(table, "unclassified")
}
