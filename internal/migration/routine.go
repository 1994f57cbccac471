package migration

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// routineFamily: functions, procedures and aggregates. A body is text: it is not
// run when it is created.
func (j *judge) routineFamily(node proto.Message) []ruling {
	switch s := node.(type) {
	case *pg.CreateFunctionStmt:
		return []ruling{j.createRoutine(s)}
	case *pg.AlterFunctionStmt:
		return []ruling{j.ownRoutineFirst(s.GetFunc(), "unclassified")}
	case *pg.DefineStmt:
		if s.GetKind() == pg.ObjectType_OBJECT_AGGREGATE && !s.GetReplace() {
			// Its argument types stand in another form: DROP AGGREGATE of it stays unknown.
			return only("unclassified")
		}
	}
	return nil
}

func (j *judge) createRoutine(s *pg.CreateFunctionStmt) ruling {
	n, signature := qualified(texts(s.GetFuncname())), signatureOf(s.GetParameters())
	known := j.schema.routines[n]
	if s.GetReplace() || j.droppedRoutines[n] {
		if o, exists := known[signature]; exists && j.own(o) {
			return because("own-object")
		}
		return because("replace-function")
	}
	if known == nil {
		known = map[string]origin{}
		j.schema.routines[n] = known
	}
	known[signature] = j.made()
	return because("create-function")
}

// signatureOf tells overloads apart by the types that a call gives.
func signatureOf(parameters []*pg.Node) string {
	var types []string
	for _, n := range parameters {
		p := n.GetFunctionParameter()
		if p.GetMode() == pg.FunctionParameterMode_FUNC_PARAM_OUT || p.GetMode() == pg.FunctionParameterMode_FUNC_PARAM_TABLE {
			continue
		}
		types = append(types, typeText(p.GetArgType()))
	}
	return strings.Join(types, ",")
}

func typeText(t *pg.TypeName) string {
	words := slices.DeleteFunc(texts(t.GetNames()), func(w string) bool { return w == "pg_catalog" })
	return strings.Join(words, ".") + strings.Repeat("[]", len(t.GetArrayBounds()))
}

// ownRoutine says whether the set made the function that is meant. Without types
// its name must be the only one of its kind.
func (j *judge) ownRoutine(f *pg.ObjectWithArgs) bool {
	known := j.schema.routines[qualified(texts(f.GetObjname()))]
	if f.GetArgsUnspecified() {
		for _, o := range known {
			if !j.own(o) {
				return false
			}
		}
		return len(known) > 0
	}
	var types []string
	for _, n := range f.GetObjargs() {
		types = append(types, typeText(n.GetTypeName()))
	}
	o, exists := known[strings.Join(types, ",")]
	return exists && j.own(o)
}

func (j *judge) ownRoutineFirst(f *pg.ObjectWithArgs, reason string) ruling {
	if j.ownRoutine(f) {
		return because("own-object")
	}
	return because(reason)
}

func (j *judge) dropRoutine(f *pg.ObjectWithArgs, cascade bool) ruling {
	if f == nil {
		return because("unclassified")
	}
	n := qualified(texts(f.GetObjname()))
	if j.ownRoutine(f) {
		return because("own-object")
	}
	j.droppedRoutines[n] = true
	switch {
	case cascade:
		return because("drop-cascade")
	case j.later(j.ahead.routines[n]):
		return because("recreated-later")
	}
	return because("drop-function")
}
