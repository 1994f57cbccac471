package migration

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// ahead is what is known of statements before they are ruled on, for rules that
// ask what comes further down. Positions count statements from 1.
type ahead struct {
	views    map[name][]int // materialized ones included
	plain    map[name][]int // views that one can write through
	routines map[name][]int
	policies map[name]bool // tables that some statement creates a policy on
}

func (j *judge) lookAhead(all []action) ahead {
	a := ahead{views: map[name][]int{}, plain: map[name][]int{}, routines: map[name][]int{}, policies: map[name]bool{}}
	for i, act := range all {
		switch s := act.node.(type) {
		case *pg.ViewStmt:
			n := newName(s.GetView())
			a.views[n] = append(a.views[n], i+1)
			a.plain[n] = append(a.plain[n], i+1)
		case *pg.CreateTableAsStmt:
			if s.GetObjtype() == pg.ObjectType_OBJECT_MATVIEW {
				n := newName(s.GetInto().GetRel())
				a.views[n] = append(a.views[n], i+1)
			}
		case *pg.CreateFunctionStmt:
			n := qualified(texts(s.GetFuncname()))
			a.routines[n] = append(a.routines[n], i+1)
		case *pg.CreatePolicyStmt:
			a.policies[newName(s.GetTable())] = true
		}
	}
	return a
}

// later says whether one of the positions is after the statement read now.
func (j *judge) later(positions []int) bool {
	return slices.ContainsFunc(positions, func(p int) bool { return p > j.position })
}
