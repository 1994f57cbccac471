package migration

import (
	"strings"
	"unicode"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// kindOf is PostgreSQL's own name of a command (its command tag).
func kindOf(node proto.Message) string {
	switch s := node.(type) {
	case *pg.AlterTableStmt:
		return "ALTER " + objectWords(s.GetObjtype())
	case *pg.RenameStmt:
		return renameKind(s)
	case *pg.AlterObjectSchemaStmt:
		return "ALTER " + objectWords(s.GetObjectType())
	case *pg.AlterOwnerStmt:
		return "ALTER " + objectWords(s.GetObjectType())
	case *pg.AlterFunctionStmt:
		return "ALTER " + objectWords(s.GetObjtype())
	case *pg.DropStmt:
		return "DROP " + objectWords(s.GetRemoveType())
	case *pg.DefineStmt:
		return "CREATE " + objectWords(s.GetKind())
	case *pg.TransactionStmt:
		return transactionKinds[s.GetKind()]
	case *pg.SelectStmt:
		return either(intoOf(s) != nil, "SELECT INTO", "SELECT")
	case *pg.CreateTableAsStmt:
		if s.GetObjtype() == pg.ObjectType_OBJECT_MATVIEW {
			return "CREATE MATERIALIZED VIEW"
		}
		return either(s.GetIsSelectInto(), "SELECT INTO", "CREATE TABLE AS")
	case *pg.CreateFunctionStmt:
		return either(s.GetIsProcedure(), "CREATE PROCEDURE", "CREATE FUNCTION")
	case *pg.GrantStmt:
		return either(s.GetIsGrant(), "GRANT", "REVOKE")
	case *pg.GrantRoleStmt:
		return either(s.GetIsGrant(), "GRANT ROLE", "REVOKE ROLE")
	case *pg.VariableSetStmt:
		reset := s.GetKind() == pg.VariableSetKind_VAR_RESET || s.GetKind() == pg.VariableSetKind_VAR_RESET_ALL
		return either(reset, "RESET", "SET")
	case *pg.VacuumStmt:
		return either(s.GetIsVacuumcmd(), "VACUUM", "ANALYZE")
	case *pg.DeallocateStmt:
		return either(s.GetName() == "", "DEALLOCATE ALL", "DEALLOCATE")
	}
	message := string(node.ProtoReflect().Descriptor().Name())
	if kind, ok := fixedKinds[message]; ok {
		return kind
	}
	return spelledOut(strings.TrimSuffix(message, "Stmt"))
}

func either(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

func renameKind(s *pg.RenameStmt) string {
	if s.GetRenameType() == pg.ObjectType_OBJECT_COLUMN {
		return "ALTER " + objectWords(s.GetRelationType())
	}
	return "ALTER " + objectWords(s.GetRenameType())
}

// objectWords names a type of object as commands do.
func objectWords(t pg.ObjectType) string {
	if words, ok := objects[t]; ok {
		return words
	}
	return strings.ReplaceAll(strings.TrimPrefix(t.String(), "OBJECT_"), "_", " ")
}

var objects = map[pg.ObjectType]string{
	pg.ObjectType_OBJECT_MATVIEW:         "MATERIALIZED VIEW",
	pg.ObjectType_OBJECT_COLUMN:          "TABLE",
	pg.ObjectType_OBJECT_TABCONSTRAINT:   "TABLE",
	pg.ObjectType_OBJECT_DOMCONSTRAINT:   "DOMAIN",
	pg.ObjectType_OBJECT_ATTRIBUTE:       "TYPE",
	pg.ObjectType_OBJECT_STATISTIC_EXT:   "STATISTICS",
	pg.ObjectType_OBJECT_FDW:             "FOREIGN DATA WRAPPER",
	pg.ObjectType_OBJECT_FOREIGN_SERVER:  "SERVER",
	pg.ObjectType_OBJECT_LARGEOBJECT:     "LARGE OBJECT",
	pg.ObjectType_OBJECT_OPCLASS:         "OPERATOR CLASS",
	pg.ObjectType_OBJECT_OPFAMILY:        "OPERATOR FAMILY",
	pg.ObjectType_OBJECT_TSCONFIGURATION: "TEXT SEARCH CONFIGURATION",
	pg.ObjectType_OBJECT_TSDICTIONARY:    "TEXT SEARCH DICTIONARY",
	pg.ObjectType_OBJECT_TSPARSER:        "TEXT SEARCH PARSER",
	pg.ObjectType_OBJECT_TSTEMPLATE:      "TEXT SEARCH TEMPLATE",
}

var transactionKinds = map[pg.TransactionStmtKind]string{
	pg.TransactionStmtKind_TRANS_STMT_BEGIN:             "BEGIN",
	pg.TransactionStmtKind_TRANS_STMT_START:             "START TRANSACTION",
	pg.TransactionStmtKind_TRANS_STMT_COMMIT:            "COMMIT",
	pg.TransactionStmtKind_TRANS_STMT_ROLLBACK:          "ROLLBACK",
	pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:       "ROLLBACK",
	pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT:         "SAVEPOINT",
	pg.TransactionStmtKind_TRANS_STMT_RELEASE:           "RELEASE",
	pg.TransactionStmtKind_TRANS_STMT_PREPARE:           "PREPARE TRANSACTION",
	pg.TransactionStmtKind_TRANS_STMT_COMMIT_PREPARED:   "COMMIT PREPARED",
	pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_PREPARED: "ROLLBACK PREPARED",
}

// fixedKinds are the commands whose name the grammar's node spells otherwise.
var fixedKinds = map[string]string{
	"CreateStmt":                 "CREATE TABLE",
	"TruncateStmt":               "TRUNCATE TABLE",
	"IndexStmt":                  "CREATE INDEX",
	"ViewStmt":                   "CREATE VIEW",
	"RefreshMatViewStmt":         "REFRESH MATERIALIZED VIEW",
	"CompositeTypeStmt":          "CREATE TYPE",
	"CreateEnumStmt":             "CREATE TYPE",
	"CreateRangeStmt":            "CREATE TYPE",
	"AlterEnumStmt":              "ALTER TYPE",
	"CreateSeqStmt":              "CREATE SEQUENCE",
	"AlterSeqStmt":               "ALTER SEQUENCE",
	"CreateTrigStmt":             "CREATE TRIGGER",
	"CreateEventTrigStmt":        "CREATE EVENT TRIGGER",
	"AlterEventTrigStmt":         "ALTER EVENT TRIGGER",
	"RuleStmt":                   "CREATE RULE",
	"CreatePLangStmt":            "CREATE LANGUAGE",
	"AlterRoleSetStmt":           "ALTER ROLE",
	"AlterDatabaseSetStmt":       "ALTER DATABASE",
	"AlterExtensionContentsStmt": "ALTER EXTENSION",
	"LockStmt":                   "LOCK TABLE",
	"ConstraintsSetStmt":         "SET CONSTRAINTS",
	"VariableShowStmt":           "SHOW",
	"CreatedbStmt":               "CREATE DATABASE",
	"DropdbStmt":                 "DROP DATABASE",
	"CreateStatsStmt":            "CREATE STATISTICS",
	"AlterStatsStmt":             "ALTER STATISTICS",
	"CheckPointStmt":             "CHECKPOINT",
	"SecLabelStmt":               "SECURITY LABEL",
	"ClosePortalStmt":            "CLOSE CURSOR",
	"DiscardStmt":                "DISCARD",
	"AlterTableMoveAllStmt":      "ALTER TABLE",
	"CreateFdwStmt":              "CREATE FOREIGN DATA WRAPPER",
	"CreateForeignServerStmt":    "CREATE SERVER",
	"CreateOpClassStmt":          "CREATE OPERATOR CLASS",
	"CreateOpFamilyStmt":         "CREATE OPERATOR FAMILY",
	"AlterOpFamilyStmt":          "ALTER OPERATOR FAMILY",
	"CreateAmStmt":               "CREATE ACCESS METHOD",
	"AlterTSConfigurationStmt":   "ALTER TEXT SEARCH CONFIGURATION",
	"AlterTSDictionaryStmt":      "ALTER TEXT SEARCH DICTIONARY",
}

// spelledOut turns CreateUserMapping into CREATE USER MAPPING.
func spelledOut(message string) string {
	var words strings.Builder
	for i, r := range message {
		if i > 0 && unicode.IsUpper(r) {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToUpper(r))
	}
	return words.String()
}
