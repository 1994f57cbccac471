package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// queryFamily: what is read or run without saying what it does.
func (j *judge) queryFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.SelectStmt: // SELECT INTO is ruled on before
		return []ruling{worst(append(j.within(s), because(queryReason(s)))...)}
	case *pg.DoStmt:
		return only("do-block")
	case *pg.CallStmt, *pg.ExecuteStmt:
		return only("opaque-call")
	case *pg.ExplainStmt, *pg.PrepareStmt, *pg.DeclareCursorStmt:
		return []ruling{worst(append(j.within(s), because("unclassified"))...)}
	}
	return nil
}

// queryReason: a SELECT does nothing unless it calls a function, which may do
// anything; all but set_config.
func queryReason(s *pg.SelectStmt) string {
	called := calls(s)
	if len(called) == 0 {
		return "no-effect"
	}
	for _, function := range called {
		if function != "set_config" {
			return "opaque-call"
		}
	}
	return "session-setting"
}
