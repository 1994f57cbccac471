package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// tableFamily: CREATE TABLE in its forms.
func (j *judge) tableFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.CreateStmt:
		return []ruling{j.createTable(s)}
	case *pg.CreateForeignTableStmt:
		j.createTable(s.GetBaseStmt())
		return only("unclassified")
	case *pg.CreateTableAsStmt:
		if s.GetObjtype() == pg.ObjectType_OBJECT_MATVIEW {
			return nil
		}
		return []ruling{j.createTableAs(s.GetInto(), s.GetQuery(), s.GetIfNotExists(), s)}
	case *pg.SelectStmt:
		if into := intoOf(s); into != nil {
			return []ruling{j.createTableAs(into, nil, false, s)}
		}
	}
	return nil
}

func (j *judge) createTable(s *pg.CreateStmt) ruling {
	n := newName(s.GetRelation())
	created, fresh := j.createRelation(n, s.GetIfNotExists())
	created.untilCommit = s.GetOncommit() == pg.OnCommitAction_ONCOMMIT_DROP
	r := because("create-table")
	switch {
	case n.schema == tempSchema:
		r = because("create-temp-table")
	case s.GetPartbound() != nil:
		r = because("create-partition")
	}
	for _, parent := range s.GetInhRelations() {
		if p := j.relation(parent.GetRangeVar()); !j.own(p.origin) || p.partition {
			created.partition = true
		}
	}
	var constraints []*pg.Constraint
	for _, element := range s.GetTableElts() {
		if def := element.GetColumnDef(); def != nil {
			constraints = append(constraints, columnConstraints(def)...)
			if fresh {
				j.fillColumn(created, def, created.origin)
			}
		}
		if c := element.GetConstraint(); c != nil {
			constraints = append(constraints, c)
		}
	}
	for _, c := range constraints {
		if j.pointsAtOld(c, n) {
			r = because("references-existing-table")
		}
		if fresh && c.GetContype() == pg.ConstrType_CONSTR_PRIMARY {
			for _, local := range texts(c.GetKeys()) {
				created.column(local).notNull = true
			}
		}
	}
	r.tentative = s.GetIfNotExists()
	return r
}

func (j *judge) createTableAs(into *pg.IntoClause, query *pg.Node, ifNotExists bool, whole proto.Message) ruling {
	n := newName(into.GetRel())
	created, _ := j.createRelation(n, ifNotExists)
	created.untilCommit = into.GetOnCommit() == pg.OnCommitAction_ONCOMMIT_DROP
	r := because("create-table")
	switch {
	case query.GetExecuteStmt() != nil:
		r = because("opaque-call")
	case n.schema == tempSchema:
		r = because("create-temp-table")
	}
	r = worst(append(j.within(whole), r)...)
	r.tentative = ifNotExists
	return r
}

// intoOf finds the INTO of a SELECT, which a UNION has in its first part.
func intoOf(s *pg.SelectStmt) *pg.IntoClause {
	for ; s != nil; s = s.GetLarg() {
		if s.GetIntoClause() != nil {
			return s.GetIntoClause()
		}
	}
	return nil
}

// createRelation notes a new relation. IF NOT EXISTS leaves what is known as it
// is. fresh says that the relation is as the statement says: IF NOT EXISTS can be
// trusted in the history only, where nothing else was there before.
func (j *judge) createRelation(n name, ifNotExists bool) (r *relation, fresh bool) {
	if known, exists := j.schema.relations[n]; exists && ifNotExists {
		if !known.shown && known.perhapsBy == 0 {
			known.perhapsBy = j.file
		}
		return known, false
	}
	made := j.made()
	if ifNotExists {
		made = j.perhapsMade()
	}
	r = newRelation(n, made)
	r.shown = !ifNotExists || j.file == 0
	j.schema.relations[n] = r
	return r, r.shown
}

// fillColumn notes a column as its definition says.
func (j *judge) fillColumn(r *relation, def *pg.ColumnDef, o origin) *column {
	c := &column{origin: o, typ: typeOf(def.GetTypeName())}
	r.columns[def.GetColname()] = c
	if isSerial(def.GetTypeName()) {
		c.notNull, c.filled = true, true
		j.ownSequence(r, def.GetColname(), o)
	}
	for _, constraint := range columnConstraints(def) {
		switch constraint.GetContype() {
		case pg.ConstrType_CONSTR_NOTNULL, pg.ConstrType_CONSTR_PRIMARY:
			c.notNull = true
		case pg.ConstrType_CONSTR_DEFAULT:
			c.setDefault(constraint.GetRawExpr())
		case pg.ConstrType_CONSTR_GENERATED:
			c.filled = true
		case pg.ConstrType_CONSTR_IDENTITY:
			c.notNull, c.filled = true, true
			j.ownSequence(r, def.GetColname(), o)
		}
	}
	return c
}

// ownSequence notes the sequence that PostgreSQL makes for a column.
func (j *judge) ownSequence(r *relation, column string, o origin) {
	made := name{r.name.schema, r.name.local + "_" + column + "_seq"}
	j.schema.relations[made] = newRelation(made, o)
}

func (c *column) setDefault(expression *pg.Node) {
	c.filled = expression != nil && !isNull(expression)
	c.constant = c.filled && isConstant(expression)
}

func columnConstraints(def *pg.ColumnDef) []*pg.Constraint {
	var all []*pg.Constraint
	for _, n := range def.GetConstraints() {
		if c := n.GetConstraint(); c != nil {
			all = append(all, c)
		}
	}
	return all
}
