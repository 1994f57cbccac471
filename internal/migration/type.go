package migration

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// typeFamily: types, enums and domains.
func (j *judge) typeFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.CompositeTypeStmt:
		return j.createType(newName(s.GetTypevar()))
	case *pg.CreateEnumStmt:
		return j.createType(qualified(texts(s.GetTypeName())))
	case *pg.CreateRangeStmt:
		return j.createType(qualified(texts(s.GetTypeName())))
	case *pg.CreateDomainStmt:
		return j.createType(qualified(texts(s.GetDomainname())))
	case *pg.DefineStmt:
		if s.GetKind() == pg.ObjectType_OBJECT_TYPE {
			return j.createType(qualified(texts(s.GetDefnames())))
		}
	case *pg.AlterEnumStmt:
		reason := "enum-add-value"
		if s.GetOldVal() != "" {
			reason = "enum-rename-value"
		}
		return []ruling{j.ownFirst(j.typeOrigin(s.GetTypeName()), reason)}
	case *pg.AlterDomainStmt:
		return []ruling{j.ownFirst(j.typeOrigin(s.GetTypeName()), domainChange(s))}
	case *pg.AlterTypeStmt:
		return []ruling{j.ownFirst(j.typeOrigin(s.GetTypeName()), "unclassified")}
	}
	return nil
}

func (j *judge) createType(n name) []ruling {
	j.schema.others[thing{"type", n}] = j.made()
	return only("create-type")
}

func (j *judge) typeOrigin(words []*pg.Node) origin {
	return j.schema.others[thing{"type", qualified(texts(words))}]
}

// domainChange reads the letter by which the grammar tells changes apart.
func domainChange(s *pg.AlterDomainStmt) string {
	switch s.GetSubtype() {
	case "C":
		return "add-check-constraint"
	case "X":
		return "drop-constraint"
	case "V":
		return "validate-constraint"
	}
	return "unclassified"
}
