package migration

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// indexFamily: CREATE INDEX.
func (j *judge) indexFamily(node proto.Message) []ruling {
	s, ok := node.(*pg.IndexStmt)
	if !ok {
		return nil
	}
	table := j.relation(s.GetRelation())
	made, fresh := j.createRelation(name{table.name.schema, indexName(s)}, s.GetIfNotExists())
	if fresh {
		made.index = &index{unique: s.GetUnique(), columns: indexColumns(s)}
	}
	reason := "create-index"
	if s.GetUnique() {
		reason = "create-unique-index"
	}
	r := j.ownFirst(table.origin, reason)
	r.tentative = s.GetIfNotExists()
	return []ruling{r}
}

// indexName is the name given, or the one PostgreSQL gives.
func indexName(s *pg.IndexStmt) string {
	if s.GetIdxname() != "" {
		return s.GetIdxname()
	}
	words := []string{s.GetRelation().GetRelname()}
	for _, n := range s.GetIndexParams() {
		if local := n.GetIndexElem().GetName(); local != "" {
			words = append(words, local)
		} else {
			words = append(words, "expr")
		}
	}
	return strings.Join(append(words, "idx"), "_")
}

// indexColumns lists the columns; none if one is an expression.
func indexColumns(s *pg.IndexStmt) []string {
	var columns []string
	for _, n := range s.GetIndexParams() {
		local := n.GetIndexElem().GetName()
		if local == "" {
			return nil
		}
		columns = append(columns, local)
	}
	return columns
}

// dropIndex rules by what is known of the index.
func (j *judge) dropIndex(n name) ruling {
	known, heard := j.schema.relations[n]
	switch {
	case heard && j.own(known.origin):
		return because("own-object")
	case !heard || known.index == nil:
		return because("drop-index-unknown-kind")
	case known.index.unique:
		return because("drop-unique-index")
	}
	return because("drop-index")
}
