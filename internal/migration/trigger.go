package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// triggerFamily: triggers and rewrite rules, which run on every write of the old
// version too.
func (j *judge) triggerFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.CreateTrigStmt:
		return []ruling{j.createPart(j.relation(s.GetRelation()), part{"trigger", s.GetTrigname()}, s.GetReplace(), "create-trigger")}
	case *pg.RuleStmt:
		return []ruling{j.createPart(j.relation(s.GetRelation()), part{"rule", s.GetRulename()}, s.GetReplace(), "create-rule")}
	}
	return nil
}

// createPart: OR REPLACE makes nothing one's own, and what it replaced is not in
// the file.
func (j *judge) createPart(r *relation, p part, replace bool, reason string) ruling {
	if replace && !j.own(r.parts[p]) {
		ruled := j.ownFirst(r.origin, reason)
		ruled.tentative = !j.own(r.origin)
		return ruled
	}
	r.parts[p] = j.made()
	return j.ownFirst(r.origin, reason)
}
