package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// namespaceFamily: schemas and extensions.
func (j *judge) namespaceFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.CreateSchemaStmt:
		return []ruling{j.createSchema(s)}
	case *pg.CreateExtensionStmt:
		j.note(thing{"extension", name{local: s.GetExtname()}}, s.GetIfNotExists())
		return []ruling{{reason: "create-extension", tentative: s.GetIfNotExists()}}
	case *pg.AlterExtensionStmt:
		return []ruling{j.ownFirst(j.extension(s.GetExtname()), "alter-extension")}
	case *pg.AlterExtensionContentsStmt:
		return []ruling{j.ownFirst(j.extension(s.GetExtname()), "alter-extension")}
	}
	return nil
}

// createSchema: a schema without a name has that of its owner. What is created
// within the statement is not looked at.
func (j *judge) createSchema(s *pg.CreateSchemaStmt) ruling {
	local := s.GetSchemaname()
	if local == "" {
		local = s.GetAuthrole().GetRolename()
	}
	j.note(thing{"schema", name{local: local}}, s.GetIfNotExists())
	if len(s.GetSchemaElts()) > 0 {
		return because("unclassified")
	}
	return ruling{reason: "create-schema", tentative: s.GetIfNotExists()}
}

// note remembers that a type, schema, extension or role is made. IF NOT EXISTS
// changes nothing of what the set has made already.
func (j *judge) note(t thing, ifNotExists bool) {
	known, heard := j.schema.others[t]
	switch {
	case !ifNotExists:
		j.schema.others[t] = j.made()
	case !heard || known.madeBy == 0 && known.perhapsBy != 0:
		j.schema.others[t] = j.perhapsMade()
	}
}

func (j *judge) extension(local string) origin {
	return j.schema.others[thing{"extension", name{local: local}}]
}
