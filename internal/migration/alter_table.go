package migration

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// alterTableFamily: ALTER TABLE and its likes, a ruling for each part.
func (j *judge) alterTableFamily(node proto.Message) []ruling {
	s, ok := node.(*pg.AlterTableStmt)
	if !ok {
		return nil
	}
	if s.GetObjtype() == pg.ObjectType_OBJECT_TYPE {
		return []ruling{j.ownFirst(j.schema.others[thing{"type", newName(s.GetRelation())}], "unclassified")}
	}
	r := j.relation(s.GetRelation())
	var rulings []ruling
	for _, n := range s.GetCmds() {
		rulings = append(rulings, j.alterPart(r, n.GetAlterTableCmd(), s.GetObjtype()))
	}
	return rulings
}

// stillCounts are the codes that an own table does not take the weight from.
var stillCounts = []string{"references-existing-table", "attach-partition"}

func (j *judge) alterPart(r *relation, cmd *pg.AlterTableCmd, t pg.ObjectType) ruling {
	ruled := j.alterOldPart(r, cmd, t)
	if j.own(r.origin) && !slices.Contains(stillCounts, ruled.reason) {
		return ruling{reason: "own-object", tentative: ruled.tentative}
	}
	return ruled
}

// alterOldPart rules as on a table that existed.
func (j *judge) alterOldPart(r *relation, cmd *pg.AlterTableCmd, t pg.ObjectType) ruling {
	if reason, ok := plainParts[cmd.GetSubtype()]; ok {
		if storesOnly := reason == "storage-option"; storesOnly && t == pg.ObjectType_OBJECT_VIEW {
			return because("unclassified") // of a view, options say who sees what
		}
		return because(reason)
	}
	switch cmd.GetSubtype() {
	case pg.AlterTableType_AT_AddColumn:
		return j.addColumn(r, cmd)
	case pg.AlterTableType_AT_AddConstraint:
		return j.addConstraint(r, cmd.GetDef().GetConstraint())
	case pg.AlterTableType_AT_DropConstraint:
		return j.dropPart(r, part{"constraint", cmd.GetName()}, "drop-constraint")
	case pg.AlterTableType_AT_EnableTrig, pg.AlterTableType_AT_EnableAlwaysTrig, pg.AlterTableType_AT_EnableReplicaTrig, pg.AlterTableType_AT_DisableTrig:
		return j.ownFirst(r.parts[part{"trigger", cmd.GetName()}], "toggle-trigger")
	case pg.AlterTableType_AT_ForceRowSecurity:
		if j.ahead.policies[r.name] || j.ahead.policies[r.oldName] {
			return because("force-rls")
		}
		return because("force-rls-no-policy")
	case pg.AlterTableType_AT_AttachPartition:
		return j.attachPartition(r, cmd.GetDef().GetPartitionCmd(), t)
	case pg.AlterTableType_AT_DetachPartition, pg.AlterTableType_AT_DetachPartitionFinalize:
		detached := j.relation(cmd.GetDef().GetPartitionCmd().GetName())
		detached.partition = false
		return j.ownFirst(detached.origin, "detach-partition")
	}
	return j.alterColumn(r, cmd)
}

// plainParts need nothing but their name to be ruled on.
var plainParts = map[pg.AlterTableType]string{
	pg.AlterTableType_AT_ValidateConstraint: "validate-constraint",
	pg.AlterTableType_AT_ChangeOwner:        "change-owner",
	pg.AlterTableType_AT_EnableTrigAll:      "toggle-trigger",
	pg.AlterTableType_AT_DisableTrigAll:     "toggle-trigger",
	pg.AlterTableType_AT_EnableTrigUser:     "toggle-trigger",
	pg.AlterTableType_AT_DisableTrigUser:    "toggle-trigger",
	pg.AlterTableType_AT_EnableRowSecurity:  "enable-rls",
	pg.AlterTableType_AT_DisableRowSecurity: "disable-rls",
	pg.AlterTableType_AT_NoForceRowSecurity: "disable-rls",
	pg.AlterTableType_AT_SetRelOptions:      "storage-option",
	pg.AlterTableType_AT_ResetRelOptions:    "storage-option",
	pg.AlterTableType_AT_SetStatistics:      "storage-option",
	pg.AlterTableType_AT_SetOptions:         "storage-option",
	pg.AlterTableType_AT_ResetOptions:       "storage-option",
	pg.AlterTableType_AT_SetStorage:         "storage-option",
	pg.AlterTableType_AT_SetCompression:     "storage-option",
	pg.AlterTableType_AT_SetTableSpace:      "storage-option",
	pg.AlterTableType_AT_ClusterOn:          "storage-option",
	pg.AlterTableType_AT_DropCluster:        "storage-option",
}

func (j *judge) attachPartition(parent *relation, cmd *pg.PartitionCmd, t pg.ObjectType) ruling {
	if t == pg.ObjectType_OBJECT_INDEX {
		return because("unclassified")
	}
	attached := j.relation(cmd.GetName())
	if !j.own(attached.origin) {
		return because("attach-partition")
	}
	attached.partition = !j.own(parent.origin) || parent.partition
	return because("attach-new-partition")
}

// dropPart rules on taking away a constraint, trigger, policy or rule.
func (j *judge) dropPart(r *relation, p part, reason string) ruling {
	made := r.parts[p]
	delete(r.parts, p)
	if j.own(r.origin) {
		return because("own-object")
	}
	return j.ownFirst(made, reason)
}
