package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// dropFamily: DROP, a ruling for each thing dropped.
func (j *judge) dropFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.DropStmt:
		var rulings []ruling
		for _, object := range s.GetObjects() {
			rulings = append(rulings, j.drop(s, object))
		}
		return rulings
	case *pg.DropRoleStmt:
		var rulings []ruling
		for _, n := range s.GetRoles() {
			role := thing{"role", name{local: n.GetRoleSpec().GetRolename()}}
			rulings = append(rulings, j.dropThing(role, "unclassified"))
		}
		return rulings
	}
	return nil
}

func (j *judge) drop(s *pg.DropStmt, object *pg.Node) ruling {
	words := listed(object)
	cascade := s.GetBehavior() == pg.DropBehavior_DROP_CASCADE
	switch s.GetRemoveType() {
	case pg.ObjectType_OBJECT_TABLE, pg.ObjectType_OBJECT_FOREIGN_TABLE:
		return j.dropRelation(words, "drop-table")
	case pg.ObjectType_OBJECT_VIEW, pg.ObjectType_OBJECT_MATVIEW:
		if j.later(j.ahead.views[j.relationNamed(words)]) {
			return j.dropRelation(words, "recreated-later")
		}
		return j.dropRelation(words, "drop-view")
	case pg.ObjectType_OBJECT_INDEX:
		n := j.relationNamed(words)
		r := j.dropIndex(n)
		delete(j.schema.relations, n)
		return r
	case pg.ObjectType_OBJECT_SEQUENCE:
		return j.dropRelation(words, orCascade("drop-sequence", cascade))
	case pg.ObjectType_OBJECT_FUNCTION, pg.ObjectType_OBJECT_PROCEDURE, pg.ObjectType_OBJECT_ROUTINE, pg.ObjectType_OBJECT_AGGREGATE:
		return j.dropRoutine(object.GetObjectWithArgs(), cascade)
	case pg.ObjectType_OBJECT_TYPE, pg.ObjectType_OBJECT_DOMAIN:
		return j.dropThing(thing{"type", qualified(words)}, orCascade("drop-type", cascade))
	case pg.ObjectType_OBJECT_SCHEMA:
		return j.dropThing(thing{"schema", name{local: words[0]}}, "drop-schema")
	case pg.ObjectType_OBJECT_EXTENSION:
		return j.dropThing(thing{"extension", name{local: words[0]}}, orCascade("drop-extension", cascade))
	}
	return j.dropOfRelation(s, words)
}

func orCascade(reason string, cascade bool) string {
	if cascade {
		return "drop-cascade"
	}
	return reason
}

func (j *judge) dropRelation(words []string, reason string) ruling {
	n := j.relationNamed(words)
	known, heard := j.schema.relations[n]
	delete(j.schema.relations, n)
	if heard && j.own(known.origin) {
		return because("own-object")
	}
	j.dropped[n] = true
	return because(reason)
}

func (j *judge) dropThing(t thing, reason string) ruling {
	known := j.schema.others[t]
	delete(j.schema.others, t)
	return j.ownFirst(known, reason)
}

// dropOfRelation: triggers, policies and rules are named after their table.
func (j *judge) dropOfRelation(s *pg.DropStmt, words []string) ruling {
	var class, reason string
	switch s.GetRemoveType() {
	case pg.ObjectType_OBJECT_TRIGGER:
		class, reason = "trigger", "drop-trigger"
	case pg.ObjectType_OBJECT_POLICY:
		class, reason = "policy", "drop-policy"
	case pg.ObjectType_OBJECT_RULE:
		class, reason = "rule", "unclassified"
	}
	if class == "" || len(words) < 2 {
		return because("unclassified")
	}
	table, local := words[:len(words)-1], words[len(words)-1]
	return j.dropPart(j.schema.relation(j.relationNamed(table)), part{class, local}, reason)
}
