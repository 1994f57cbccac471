package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// rightsFamily: rights, roles, owners and comments.
func (j *judge) rightsFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.GrantStmt:
		if j.ownGrant(s) {
			return only("own-object")
		}
		return only(grantReason(s.GetIsGrant()))
	case *pg.GrantRoleStmt:
		return only(grantReason(s.GetIsGrant()))
	case *pg.AlterDefaultPrivilegesStmt:
		return only("default-privileges")
	case *pg.CreateRoleStmt:
		j.note(thing{"role", name{local: s.GetRole()}}, false)
		return only("create-role")
	case *pg.AlterRoleStmt:
		return []ruling{j.ownFirst(j.role(s.GetRole()), "server-setting")}
	case *pg.AlterRoleSetStmt:
		return []ruling{j.ownFirst(j.role(s.GetRole()), "server-setting")}
	case *pg.AlterOwnerStmt:
		return []ruling{j.ownObjectFirst(s.GetObjectType(), s.GetObject(), s.GetRelation(), "change-owner")}
	case *pg.CommentStmt:
		return []ruling{j.ownObjectFirst(s.GetObjtype(), s.GetObject(), nil, "comment")}
	}
	return nil
}

func grantReason(isGrant bool) string {
	if isGrant {
		return "grant"
	}
	return "revoke"
}

func (j *judge) role(r *pg.RoleSpec) origin {
	return j.schema.others[thing{"role", name{local: r.GetRolename()}}]
}

// ownGrant says whether all that rights are given or taken on is the set's own.
func (j *judge) ownGrant(s *pg.GrantStmt) bool {
	t := s.GetObjtype()
	if s.GetTargtype() == pg.GrantTargetType_ACL_TARGET_ALL_IN_SCHEMA {
		t = pg.ObjectType_OBJECT_SCHEMA
	}
	for _, object := range s.GetObjects() {
		if !j.ownObject(t, object, object.GetRangeVar()) {
			return false
		}
	}
	return len(s.GetObjects()) > 0
}
