package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// viewFamily: views and materialized views.
func (j *judge) viewFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.ViewStmt:
		return []ruling{j.createView(newName(s.GetView()), s.GetReplace(), false)}
	case *pg.CreateTableAsStmt: // a table's is ruled on before
		r := j.createView(newName(s.GetInto().GetRel()), false, s.GetIfNotExists())
		return []ruling{worst(append(j.within(s), r)...)}
	case *pg.RefreshMatViewStmt:
		return []ruling{j.ownFirst(j.relation(s.GetRelation()).origin, "refresh-view")}
	}
	return nil
}

// createView: one that takes the name of something the old version knew is not
// the set's own.
func (j *judge) createView(n name, replace, ifNotExists bool) ruling {
	if known, exists := j.schema.relations[n]; exists && replace && j.own(known.origin) {
		return because("own-object")
	}
	if replace || j.dropped[n] {
		v := j.schema.relation(n)
		v.view = true
		return because("replace-view")
	}
	v, _ := j.createRelation(n, ifNotExists)
	v.view = true
	return ruling{reason: "create-view", tentative: ifNotExists}
}
