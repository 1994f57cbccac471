package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// judge rules on statements one after the other, and keeps the schema as they
// leave it.
type judge struct {
	schema *schema
	// file is the number of the file that is read, from 1. In 0, the history,
	// nothing is made one's own.
	file     int
	fileName string
	// down: what counts as own is what this file made, IF NOT EXISTS included.
	down bool

	ahead    ahead
	position int // of the statement in the whole run

	dropped         map[name]bool // tables, views and other relations that existed
	droppedRoutines map[name]bool
	watched         []*column // own columns of tables that existed
	statements      []*Statement
}

func newJudge(s *schema, file int, all []action) *judge {
	j := &judge{schema: s, file: file, dropped: map[name]bool{}, droppedRoutines: map[name]bool{}}
	j.ahead = j.lookAhead(all)
	return j
}

// families of statements. The first that knows a statement rules on it.
var families = []func(*judge, proto.Message) []ruling{
	(*judge).tableFamily,
	(*judge).alterTableFamily,
	(*judge).indexFamily,
	(*judge).viewFamily,
	(*judge).routineFamily,
	(*judge).typeFamily,
	(*judge).sequenceFamily,
	(*judge).namespaceFamily,
	(*judge).dataFamily,
	(*judge).queryFamily,
	(*judge).dropFamily,
	(*judge).renameFamily,
	(*judge).triggerFamily,
	(*judge).policyFamily,
	(*judge).rightsFamily,
	(*judge).settingFamily,
}

func (j *judge) run(actions []action) {
	for _, a := range actions {
		j.position++
		if a.node == nil {
			j.record(a, "UNPARSED", because("unparsable"))
			continue
		}
		for _, r := range j.rule(a.node) {
			j.record(a, kindOf(a.node), r)
		}
	}
}

func (j *judge) rule(node proto.Message) []ruling {
	for _, family := range families {
		if rulings := family(j, node); len(rulings) > 0 {
			return rulings
		}
	}
	return only("unclassified")
}

func (j *judge) record(a action, kind string, r ruling) {
	s := &Statement{File: j.fileName, N: a.n, Line: a.line, Kind: kind}
	s.set(r)
	j.statements = append(j.statements, s)
	if c := r.column; c != nil {
		if len(c.states) == 0 {
			j.watched = append(j.watched, c)
		}
		c.states = append(c.states, columnState{statement: s, refuses: r.refuses})
	}
}

// weighColumns blames, for each own column of a table that existed, the action
// that leaves it so that inserts of the old version fail: what counts is how the
// set leaves the column.
func (j *judge) weighColumns() {
	for _, c := range j.watched {
		blamed := len(c.states)
		if c.refuses() {
			for blamed--; blamed > 0 && c.states[blamed-1].refuses; {
				blamed--
			}
			c.states[blamed].statement.set(because("add-not-null-column-no-default"))
		}
		added := c.states[0].statement
		if blamed > 0 && !c.notNull && added.Reason == "add-not-null-column-with-default" && c.states[0].refuses {
			added.set(because("add-nullable-column"))
		}
	}
}

// make says that the statement read now makes something.
func (j *judge) made() origin { return origin{madeBy: j.file} }

func (j *judge) perhapsMade() origin { return origin{perhapsBy: j.file} }

// own says whether the set made it, so that the old version never knew it.
func (j *judge) own(o origin) bool {
	if j.down {
		return o.madeBy == j.file || o.perhapsBy == j.file
	}
	return o.madeBy > 0
}

// ownFirst gives own things their own code, and others the given one.
func (j *judge) ownFirst(o origin, reason string) ruling {
	if j.own(o) {
		return because("own-object")
	}
	return because(reason)
}

// newName is the name of a relation that a statement makes.
func newName(r *pg.RangeVar) name {
	if r.GetRelpersistence() == "t" {
		return name{tempSchema, r.GetRelname()}
	}
	return name{orPublic(r.GetSchemaname()), r.GetRelname()}
}

// name is the name of a relation that a statement refers to. A temporary one
// hides others of its name.
func (j *judge) name(r *pg.RangeVar) name { return j.resolve(r.GetSchemaname(), r.GetRelname()) }

func (j *judge) resolve(schema, local string) name {
	temporary := name{tempSchema, local}
	if _, known := j.schema.relations[temporary]; known && schema == "" {
		return temporary
	}
	return name{orPublic(schema), local}
}

func (j *judge) relation(r *pg.RangeVar) *relation { return j.schema.relation(j.name(r)) }

func orPublic(schema string) string {
	if schema == "" {
		return "public"
	}
	return schema
}

// texts reads a list of strings.
func texts(nodes []*pg.Node) []string {
	var all []string
	for _, n := range nodes {
		if s := n.GetString_(); s != nil {
			all = append(all, s.GetSval())
		}
	}
	return all
}

// listed reads a node that is a list of strings, or one string.
func listed(n *pg.Node) []string {
	if s := n.GetString_(); s != nil {
		return []string{s.GetSval()}
	}
	if t := n.GetTypeName(); t != nil {
		return texts(t.GetNames())
	}
	return texts(n.GetList().GetItems())
}

// qualified reads the last two of a dotted name.
func qualified(words []string) name {
	switch n := len(words); n {
	case 0:
		return name{}
	case 1:
		return name{"public", words[0]}
	default:
		return name{words[n-2], words[n-1]}
	}
}

// relationNamed finds a relation by a dotted name.
func (j *judge) relationNamed(words []string) name {
	if len(words) == 1 {
		return j.resolve("", words[0])
	}
	return qualified(words)
}
