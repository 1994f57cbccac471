package migration

import "maps"

// name of something in a schema, as PostgreSQL compares it. The parser has folded
// unquoted names already; what has no schema is in public.
type name struct {
	schema, local string
}

const tempSchema = "pg_temp"

// origin says which file of the set made something.
type origin struct {
	madeBy    int // number of the file, from 1; 0: it existed before
	perhapsBy int // number of the file that makes it IF NOT EXISTS
}

// schema is what is known of a database: from the history at first, then as the
// files leave it. What is not in it existed before, and nothing more is known.
type schema struct {
	relations map[name]*relation         // tables, views, sequences and indexes share their names
	routines  map[name]map[string]origin // functions and procedures, by the types of their arguments
	others    map[thing]origin           // types, schemas, extensions, roles
}

type thing struct {
	class string // type, schema, extension, role
	name  name
}

// relation is a table, view, sequence or index.
type relation struct {
	origin
	name    name
	oldName name // what the old version calls it
	shown   bool // its CREATE was read, not only its name
	// untilCommit: a temporary table that the end of its transaction drops.
	untilCommit bool
	view        bool
	partition   bool // its rows are rows of a table that existed
	referenced  bool // a table that existed has a foreign key to it
	insertedBy  int  // number of the last file that inserted into it
	columns     map[string]*column
	parts       map[part]origin
	index       *index
}

// part is a constraint, trigger, policy or rule of a relation.
type part struct {
	class, name string
}

type index struct {
	unique  bool
	columns []string // empty where it has expressions
}

// column of a relation. The zero column is one of which nothing is known.
type column struct {
	origin
	typ      *columnType // nil: not known
	notNull  bool
	filled   bool // something fills it where an insert leaves it out
	constant bool // and that is the same value every time
	gone     bool
	states   []columnState
}

// columnState is what an action left an own column of an old table as.
type columnState struct {
	statement *Statement
	refuses   bool // inserts that leave the column out
}

// refuses says whether inserts of a version that does not know the column fail.
func (c *column) refuses() bool { return c.notNull && !c.filled && !c.gone }

func newSchema() *schema {
	return &schema{
		relations: map[name]*relation{},
		routines:  map[name]map[string]origin{},
		others:    map[thing]origin{},
	}
}

func newRelation(n name, o origin) *relation {
	return &relation{origin: o, name: n, oldName: n, columns: map[string]*column{}, parts: map[part]origin{}}
}

// relation finds or, for one that existed and was not heard of, makes it.
func (s *schema) relation(n name) *relation {
	r, known := s.relations[n]
	if !known {
		r = newRelation(n, origin{})
		s.relations[n] = r
	}
	return r
}

// forgetTemporary drops the temporary relations that end with their session, or
// only those that end with a transaction: what they hid can be seen again.
func (s *schema) forgetTemporary(sessionEnds bool) {
	maps.DeleteFunc(s.relations, func(n name, r *relation) bool {
		return n.schema == tempSchema && (sessionEnds || r.untilCommit)
	})
}

// rename moves a relation. It stays as old as it was.
func (s *schema) rename(r *relation, to name) {
	if s.relations[r.name] == r {
		delete(s.relations, r.name)
	}
	r.name = to
	s.relations[to] = r
}

func (r *relation) column(local string) *column {
	c, known := r.columns[local]
	if !known {
		c = &column{}
		r.columns[local] = c
	}
	return c
}

// clone copies everything but the states of columns, which are for judging Ups.
func (s *schema) clone() *schema {
	c := newSchema()
	for n, r := range s.relations {
		copied := *r
		copied.columns = map[string]*column{}
		for local, col := range r.columns {
			colCopy := *col
			colCopy.states = nil
			copied.columns[local] = &colCopy
		}
		copied.parts = maps.Clone(r.parts)
		c.relations[n] = &copied
	}
	for n, signatures := range s.routines {
		c.routines[n] = maps.Clone(signatures)
	}
	c.others = maps.Clone(s.others)
	return c
}
