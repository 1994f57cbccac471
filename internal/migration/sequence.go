package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// sequenceFamily: CREATE SEQUENCE and ALTER SEQUENCE.
func (j *judge) sequenceFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.CreateSeqStmt:
		j.createRelation(newName(s.GetSequence()), s.GetIfNotExists())
		return []ruling{{reason: "create-sequence", tentative: s.GetIfNotExists()}}
	case *pg.AlterSeqStmt:
		return []ruling{j.ownFirst(j.relation(s.GetSequence()).origin, "alter-sequence")}
	}
	return nil
}
