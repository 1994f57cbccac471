package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// settingFamily: sessions, transactions, upkeep and the server's settings.
func (j *judge) settingFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.VariableSetStmt, *pg.ConstraintsSetStmt:
		return only("session-setting")
	case *pg.LockStmt:
		return []ruling{j.ownTablesFirst(s.GetRelations(), "session-setting")}
	case *pg.TransactionStmt:
		if ends := s.GetKind(); ends == pg.TransactionStmtKind_TRANS_STMT_COMMIT || ends == pg.TransactionStmtKind_TRANS_STMT_ROLLBACK {
			j.schema.forgetTemporary(false)
		}
		return only("transaction")
	case *pg.VacuumStmt:
		var tables []*pg.Node
		for _, n := range s.GetRels() {
			tables = append(tables, &pg.Node{Node: &pg.Node_RangeVar{RangeVar: n.GetVacuumRelation().GetRelation()}})
		}
		return []ruling{j.ownTablesFirst(tables, "maintenance")}
	case *pg.ReindexStmt:
		return []ruling{j.ownTableFirst(s.GetRelation(), "maintenance")}
	case *pg.ClusterStmt:
		return []ruling{j.ownTableFirst(s.GetRelation(), "maintenance")}
	case *pg.AlterSystemStmt, *pg.AlterDatabaseSetStmt:
		return only("server-setting")
	}
	return nil
}

func (j *judge) ownTableFirst(r *pg.RangeVar, reason string) ruling {
	if r == nil {
		return because(reason)
	}
	return j.ownFirst(j.relation(r).origin, reason)
}

// ownTablesFirst gives the statement its own code if all tables it names are own.
func (j *judge) ownTablesFirst(tables []*pg.Node, reason string) ruling {
	for _, n := range tables {
		if !j.own(j.relation(n.GetRangeVar()).origin) {
			return because(reason)
		}
	}
	if len(tables) == 0 {
		return because(reason)
	}
	return because("own-object")
}
