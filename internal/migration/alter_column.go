package migration

import pg "github.com/pganalyze/pg_query_go/v6"

// alterColumn rules on what is done to a column of a table that existed.
func (j *judge) alterColumn(r *relation, cmd *pg.AlterTableCmd) ruling {
	c := r.column(cmd.GetName())
	wasNotNull := c.notNull
	switch cmd.GetSubtype() {
	case pg.AlterTableType_AT_DropColumn:
		delete(r.columns, cmd.GetName())
		c.gone = true
		return j.ownFirst(c.origin, "drop-column")
	case pg.AlterTableType_AT_ColumnDefault:
		c.setDefault(cmd.GetDef())
		return j.onColumn(r, c, defaultChange(c.filled, wasNotNull))
	case pg.AlterTableType_AT_SetNotNull:
		c.notNull = true
		return j.onColumn(r, c, "set-not-null")
	case pg.AlterTableType_AT_DropNotNull:
		c.notNull = false
		return j.onColumn(r, c, "drop-not-null")
	case pg.AlterTableType_AT_AlterColumnType:
		return j.alterType(r, c, cmd)
	case pg.AlterTableType_AT_AddIdentity:
		c.notNull, c.filled, c.constant = true, true, false
		return j.onColumn(r, c, identityChange(cmd))
	case pg.AlterTableType_AT_SetIdentity:
		return j.onColumn(r, c, setIdentity(cmd))
	case pg.AlterTableType_AT_DropIdentity:
		c.filled = false
		return j.onColumn(r, c, "drop-identity")
	case pg.AlterTableType_AT_DropExpression:
		c.filled = false
		return j.onColumn(r, c, "drop-generated-expression")
	}
	return because("unclassified")
}

// onColumn gives an own column of a table that existed its own code, and has it
// weighed at the end.
func (j *judge) onColumn(r *relation, c *column, reason string) ruling {
	if j.own(c.origin) && !j.own(r.origin) {
		return ruling{reason: "own-object", column: c, refuses: c.refuses()}
	}
	return because(reason)
}

func defaultChange(filled, notNull bool) string {
	switch {
	case filled:
		return "set-default"
	case notNull:
		return "drop-default-not-null"
	}
	return "drop-default"
}

const identityAlways = "a" // as PostgreSQL stores it; "d" is BY DEFAULT

func identityChange(cmd *pg.AlterTableCmd) string {
	if cmd.GetDef().GetConstraint().GetGeneratedWhen() == identityAlways {
		return "add-identity-always"
	}
	return "add-identity-by-default"
}

// setIdentity: of the changes to an identity column only SET GENERATED ALWAYS has
// a rule.
func setIdentity(cmd *pg.AlterTableCmd) string {
	options := cmd.GetDef().GetList().GetItems()
	if len(options) != 1 {
		return "unclassified"
	}
	option := options[0].GetDefElem()
	if option.GetDefname() == "generated" && option.GetArg().GetInteger().GetIval() == int32(identityAlways[0]) {
		return "set-identity-always"
	}
	return "unclassified"
}

// alterType weighs a change of type. A USING that is no plain cast may give any
// value, so it weighs like another type.
func (j *judge) alterType(r *relation, c *column, cmd *pg.AlterTableCmd) ruling {
	def := cmd.GetDef().GetColumnDef()
	from, to := c.typ, typeOf(def.GetTypeName())
	c.typ = to
	if from == nil {
		return j.onColumn(r, c, "type-change-unknown-origin")
	}
	reason := typeChange(from, to)
	if using := def.GetRawDefault(); using != nil && (reason == "type-narrowing" || !isCastOf(using, cmd.GetName())) {
		reason = "type-change" // a cast cuts off what a plain change refuses
	}
	return j.onColumn(r, c, reason)
}

func isCastOf(expression *pg.Node, column string) bool {
	for expression.GetTypeCast() != nil {
		expression = expression.GetTypeCast().GetArg()
	}
	words := texts(expression.GetColumnRef().GetFields())
	return len(words) > 0 && words[len(words)-1] == column
}

// addColumn rules on ADD COLUMN to a table that existed; the worst of what its
// definition says.
func (j *judge) addColumn(r *relation, cmd *pg.AlterTableCmd) ruling {
	def := cmd.GetDef().GetColumnDef()
	made := j.made()
	if cmd.GetMissingOk() {
		made = j.perhapsMade()
	}
	c := j.fillColumn(j.columnHolder(r, cmd), def, made)
	if cmd.GetMissingOk() && j.file > 0 {
		c.typ = nil // it may have been there, with another one
	}
	rulings := []ruling{because(j.addedColumn(c, def, cmd.GetMissingOk()))}
	for _, constraint := range columnConstraints(def) {
		if !isColumnRule(constraint) {
			continue
		}
		j.rememberConstraint(r, constraint, []string{def.GetColname()})
		rulings = append(rulings, j.addedConstraint(r, c, constraint)...)
	}
	ruled := worst(rulings...)
	ruled.tentative = cmd.GetMissingOk()
	if !cmd.GetMissingOk() && !j.own(r.origin) {
		ruled.column, ruled.refuses = c, c.refuses()
	}
	return ruled
}

// columnHolder is where the new column is noted: not in the relation, if IF NOT
// EXISTS finds the column there.
func (j *judge) columnHolder(r *relation, cmd *pg.AlterTableCmd) *relation {
	known, exists := r.columns[cmd.GetDef().GetColumnDef().GetColname()]
	if !exists || !cmd.GetMissingOk() {
		return r
	}
	if known.typ == nil && known.madeBy == 0 {
		known.perhapsBy = j.file
	}
	return newRelation(r.name, r.origin)
}

// addedColumn is the code of a new column by itself. One that inserts of the old
// version fail on is taken to get its default further down, and weighed at the
// end; unless IF NOT EXISTS leaves open whose it is.
func (j *judge) addedColumn(c *column, def *pg.ColumnDef, ifNotExists bool) string {
	for _, constraint := range columnConstraints(def) {
		switch constraint.GetContype() {
		case pg.ConstrType_CONSTR_IDENTITY:
			return "add-identity-column"
		case pg.ConstrType_CONSTR_GENERATED:
			if c.notNull {
				return "add-generated-column-not-null"
			}
			return "add-generated-column"
		}
	}
	switch {
	case !c.notNull:
		return "add-nullable-column"
	case c.refuses() && ifNotExists:
		return "add-not-null-column-no-default"
	}
	return "add-not-null-column-with-default"
}

func isColumnRule(c *pg.Constraint) bool {
	switch c.GetContype() {
	case pg.ConstrType_CONSTR_CHECK, pg.ConstrType_CONSTR_FOREIGN, pg.ConstrType_CONSTR_UNIQUE, pg.ConstrType_CONSTR_PRIMARY:
		return true
	}
	return false
}

func (j *judge) addedConstraint(r *relation, c *column, constraint *pg.Constraint) []ruling {
	switch constraint.GetContype() {
	case pg.ConstrType_CONSTR_CHECK:
		return only("add-check-constraint")
	case pg.ConstrType_CONSTR_FOREIGN:
		if target := j.relation(constraint.GetPktable()); !j.own(r.origin) && j.own(target.origin) {
			target.referenced = true
		}
		if j.pointsAtOld(constraint, r.name) {
			return only("references-existing-table")
		}
	default:
		if c.sameForAll(constraint.GetNullsNotDistinct()) {
			return only("add-unique-column-same-value")
		}
	}
	return nil
}
