package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// policyFamily: row security policies.
func (j *judge) policyFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.CreatePolicyStmt:
		return []ruling{j.createPart(j.relation(s.GetTable()), part{"policy", s.GetPolicyName()}, false, "create-policy")}
	case *pg.AlterPolicyStmt:
		r := j.relation(s.GetTable())
		if j.own(r.origin) {
			return only("own-object")
		}
		return []ruling{j.ownFirst(r.parts[part{"policy", s.GetPolicyName()}], "drop-policy")}
	}
	return nil
}
