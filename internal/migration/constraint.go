package migration

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// pointsAtOld says whether a constraint is a foreign key to a table that existed
// whose rows can then no longer be deleted at will.
func (j *judge) pointsAtOld(c *pg.Constraint, self name) bool {
	if c.GetContype() != pg.ConstrType_CONSTR_FOREIGN || slices.Contains([]string{"c", "n", "d"}, c.GetFkDelAction()) {
		return false
	}
	target := j.name(c.GetPktable())
	return target != self && !j.own(j.schema.relation(target).origin)
}

// addConstraint rules on ALTER TABLE … ADD of a constraint, as on a table that
// existed.
func (j *judge) addConstraint(r *relation, c *pg.Constraint) ruling {
	j.rememberConstraint(r, c, slices.Concat(texts(c.GetKeys()), texts(c.GetFkAttrs())))
	switch c.GetContype() {
	case pg.ConstrType_CONSTR_CHECK:
		return because("add-check-constraint")
	case pg.ConstrType_CONSTR_EXCLUSION:
		return because("add-exclusion-constraint")
	case pg.ConstrType_CONSTR_FOREIGN:
		return j.addForeignKey(r, c)
	case pg.ConstrType_CONSTR_UNIQUE, pg.ConstrType_CONSTR_PRIMARY:
		return j.addUnique(r, c)
	}
	return because("unclassified")
}

func (j *judge) addForeignKey(r *relation, c *pg.Constraint) ruling {
	target := j.relation(c.GetPktable())
	if !j.own(r.origin) && j.own(target.origin) {
		target.referenced = true
	}
	switch {
	case !j.allOwn(r, texts(c.GetFkAttrs())):
		return because("add-foreign-key")
	case j.pointsAtOld(c, r.name):
		return because("references-existing-table")
	}
	return because("own-object")
}

// addUnique: the old version leaves own columns out. That meets the constraint
// only where each row then differs or is NULL.
func (j *judge) addUnique(r *relation, c *pg.Constraint) ruling {
	columns := j.constraintColumns(r, c)
	if c.GetContype() == pg.ConstrType_CONSTR_PRIMARY {
		for _, local := range columns {
			r.column(local).notNull = true
		}
	}
	if !j.allOwn(r, columns) {
		return because("add-unique-constraint")
	}
	if c.GetContype() == pg.ConstrType_CONSTR_PRIMARY {
		for _, local := range columns {
			if col := r.column(local); col.refuses() {
				return ruling{reason: "own-object", column: col, refuses: true}
			}
		}
	}
	for _, local := range columns {
		if !r.column(local).sameForAll(c.GetNullsNotDistinct()) {
			return because("own-object")
		}
	}
	return because("add-unique-column-same-value")
}

// sameForAll says whether inserts that leave the column out all give it the same
// value, NULL counting as one if nulls are not distinct.
func (c *column) sameForAll(nullsNotDistinct bool) bool {
	return c.constant || !c.filled && nullsNotDistinct
}

// allOwn says whether the set made all the columns; of none it did not.
func (j *judge) allOwn(r *relation, columns []string) bool {
	if j.own(r.origin) {
		return true
	}
	for _, local := range columns {
		if !j.own(r.column(local).origin) {
			return false
		}
	}
	return len(columns) > 0
}

// constraintColumns lists the columns of a unique constraint or primary key. None
// are known of an index that has expressions or was not heard of.
func (j *judge) constraintColumns(r *relation, c *pg.Constraint) []string {
	if c.GetIndexname() == "" {
		return texts(c.GetKeys())
	}
	indexed, known := j.schema.relations[name{r.name.schema, c.GetIndexname()}]
	if !known || indexed.index == nil {
		return nil
	}
	return indexed.index.columns
}

// rememberConstraint notes a constraint under its name, or the one PostgreSQL
// gives it.
func (j *judge) rememberConstraint(r *relation, c *pg.Constraint, columns []string) {
	local := c.GetConname()
	if local == "" {
		local = constraintName(r.name.local, c.GetContype(), columns)
	}
	r.parts[part{"constraint", local}] = j.made()
}

func constraintName(table string, t pg.ConstrType, columns []string) string {
	words := append([]string{table}, columns...)
	switch t {
	case pg.ConstrType_CONSTR_PRIMARY:
		return table + "_pkey"
	case pg.ConstrType_CONSTR_UNIQUE:
		return strings.Join(append(words, "key"), "_")
	case pg.ConstrType_CONSTR_FOREIGN:
		return strings.Join(append(words, "fkey"), "_")
	case pg.ConstrType_CONSTR_EXCLUSION:
		return strings.Join(append(words, "excl"), "_")
	}
	return strings.Join(append(words, "check"), "_")
}
