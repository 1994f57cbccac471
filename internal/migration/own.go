package migration

import pg "github.com/pganalyze/pg_query_go/v6"

// ownObject says whether the set made what a statement names. The grammar gives
// tables as a relation in some statements and as a dotted name in others.
func (j *judge) ownObject(t pg.ObjectType, object *pg.Node, r *pg.RangeVar) bool {
	words := listed(object)
	switch t {
	case pg.ObjectType_OBJECT_TABLE, pg.ObjectType_OBJECT_VIEW, pg.ObjectType_OBJECT_MATVIEW, pg.ObjectType_OBJECT_FOREIGN_TABLE,
		pg.ObjectType_OBJECT_SEQUENCE, pg.ObjectType_OBJECT_INDEX:
		if r != nil {
			return j.own(j.relation(r).origin)
		}
		return j.own(j.schema.relation(j.relationNamed(words)).origin)
	case pg.ObjectType_OBJECT_FUNCTION, pg.ObjectType_OBJECT_PROCEDURE, pg.ObjectType_OBJECT_ROUTINE, pg.ObjectType_OBJECT_AGGREGATE:
		return j.ownRoutine(object.GetObjectWithArgs())
	case pg.ObjectType_OBJECT_TYPE, pg.ObjectType_OBJECT_DOMAIN:
		return j.own(j.schema.others[thing{"type", qualified(words)}])
	case pg.ObjectType_OBJECT_COLUMN, pg.ObjectType_OBJECT_TABCONSTRAINT, pg.ObjectType_OBJECT_TRIGGER,
		pg.ObjectType_OBJECT_POLICY, pg.ObjectType_OBJECT_RULE:
		return len(words) > 1 && j.ownOfRelation(t, words)
	}
	classes := map[pg.ObjectType]string{
		pg.ObjectType_OBJECT_SCHEMA: "schema", pg.ObjectType_OBJECT_EXTENSION: "extension", pg.ObjectType_OBJECT_ROLE: "role",
	}
	class, known := classes[t]
	return known && len(words) == 1 && j.own(j.schema.others[thing{class, name{local: words[0]}}])
}

// ownOfRelation: a column, constraint and the like, named after its table.
func (j *judge) ownOfRelation(t pg.ObjectType, words []string) bool {
	r, local := j.schema.relation(j.relationNamed(words[:len(words)-1])), words[len(words)-1]
	if j.own(r.origin) {
		return true
	}
	if t == pg.ObjectType_OBJECT_COLUMN {
		return j.own(r.column(local).origin)
	}
	classes := map[pg.ObjectType]string{
		pg.ObjectType_OBJECT_TABCONSTRAINT: "constraint", pg.ObjectType_OBJECT_TRIGGER: "trigger",
		pg.ObjectType_OBJECT_POLICY: "policy", pg.ObjectType_OBJECT_RULE: "rule",
	}
	return j.own(r.parts[part{classes[t], local}])
}

func (j *judge) ownObjectFirst(t pg.ObjectType, object *pg.Node, r *pg.RangeVar, reason string) ruling {
	if j.ownObject(t, object, r) {
		return because("own-object")
	}
	return because(reason)
}
