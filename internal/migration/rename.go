package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// renameFamily: RENAME and SET SCHEMA. A renamed thing is as old as it was.
func (j *judge) renameFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.RenameStmt:
		return []ruling{j.rename(s)}
	case *pg.AlterObjectSchemaStmt:
		return []ruling{j.setSchema(s)}
	}
	return nil
}

func (j *judge) rename(s *pg.RenameStmt) ruling {
	switch s.GetRenameType() {
	case pg.ObjectType_OBJECT_COLUMN:
		return j.renameColumn(s)
	case pg.ObjectType_OBJECT_TABLE, pg.ObjectType_OBJECT_VIEW, pg.ObjectType_OBJECT_MATVIEW, pg.ObjectType_OBJECT_FOREIGN_TABLE:
		return j.renameRelation(s, "rename-table")
	case pg.ObjectType_OBJECT_SEQUENCE:
		return j.renameRelation(s, "rename-object")
	case pg.ObjectType_OBJECT_INDEX:
		return j.renameRelation(s, "rename-constraint")
	case pg.ObjectType_OBJECT_TABCONSTRAINT:
		return j.renamePart(s, "constraint", "rename-constraint")
	case pg.ObjectType_OBJECT_TRIGGER:
		return j.renamePart(s, "trigger", "unclassified")
	case pg.ObjectType_OBJECT_RULE:
		return j.renamePart(s, "rule", "unclassified")
	case pg.ObjectType_OBJECT_POLICY:
		return j.renamePart(s, "policy", "drop-policy")
	case pg.ObjectType_OBJECT_FUNCTION, pg.ObjectType_OBJECT_PROCEDURE, pg.ObjectType_OBJECT_ROUTINE, pg.ObjectType_OBJECT_AGGREGATE:
		return j.renameRoutine(s)
	case pg.ObjectType_OBJECT_TYPE, pg.ObjectType_OBJECT_DOMAIN:
		from := qualified(listed(s.GetObject()))
		return j.renameThing(thing{"type", from}, thing{"type", name{from.schema, s.GetNewname()}}, "rename-object")
	case pg.ObjectType_OBJECT_SCHEMA:
		return j.renameThing(thing{"schema", name{local: s.GetSubname()}}, thing{"schema", name{local: s.GetNewname()}}, "rename-object")
	case pg.ObjectType_OBJECT_ROLE:
		return j.renameThing(thing{"role", name{local: s.GetSubname()}}, thing{"role", name{local: s.GetNewname()}}, "server-setting")
	case pg.ObjectType_OBJECT_DOMCONSTRAINT:
		return j.ownFirst(j.schema.others[thing{"type", qualified(listed(s.GetObject()))}], "rename-constraint")
	}
	return because("unclassified")
}

func (j *judge) renameColumn(s *pg.RenameStmt) ruling {
	r := j.relation(s.GetRelation())
	c := r.column(s.GetSubname())
	delete(r.columns, s.GetSubname())
	r.columns[s.GetNewname()] = c
	if j.own(r.origin) {
		return because("own-object")
	}
	return j.ownFirst(c.origin, "rename-column")
}

// renameRelation: a view that takes over the old name carries plain reads and
// writes of a table.
func (j *judge) renameRelation(s *pg.RenameStmt, reason string) ruling {
	r := j.relation(s.GetRelation())
	j.schema.rename(r, name{r.name.schema, s.GetNewname()})
	if reason == "rename-table" && j.later(j.ahead.plain[r.oldName]) {
		reason = "rename-with-compat-view"
	}
	return j.ownFirst(r.origin, reason)
}

func (j *judge) renamePart(s *pg.RenameStmt, class, reason string) ruling {
	r := j.relation(s.GetRelation())
	made, known := r.parts[part{class, s.GetSubname()}]
	if known {
		delete(r.parts, part{class, s.GetSubname()})
		r.parts[part{class, s.GetNewname()}] = made
	}
	if j.own(r.origin) {
		return because("own-object")
	}
	return j.ownFirst(made, reason)
}

func (j *judge) renameRoutine(s *pg.RenameStmt) ruling {
	f := s.GetObject().GetObjectWithArgs()
	from := qualified(texts(f.GetObjname()))
	if !j.ownRoutine(f) {
		return because("rename-object")
	}
	j.schema.routines[name{from.schema, s.GetNewname()}] = j.schema.routines[from]
	delete(j.schema.routines, from)
	return because("own-object")
}

func (j *judge) renameThing(from, to thing, reason string) ruling {
	known := j.schema.others[from]
	delete(j.schema.others, from)
	j.schema.others[to] = known
	return j.ownFirst(known, reason)
}

func (j *judge) setSchema(s *pg.AlterObjectSchemaStmt) ruling {
	if s.GetObjectType() == pg.ObjectType_OBJECT_EXTENSION {
		return j.ownFirst(j.extension(listed(s.GetObject())[0]), "alter-extension")
	}
	own := j.ownObject(s.GetObjectType(), s.GetObject(), s.GetRelation())
	if r := s.GetRelation(); r != nil {
		moved := j.relation(r)
		j.schema.rename(moved, name{s.GetNewschema(), moved.name.local})
	}
	if own {
		return because("own-object")
	}
	return because("set-schema")
}
