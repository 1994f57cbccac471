package migration

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// walk visits a tree of the grammar, the root first.
func walk(root proto.Message, visit func(proto.Message)) {
	if root == nil || !root.ProtoReflect().IsValid() {
		return
	}
	visit(root)
	root.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				walk(value.List().Get(i).Message().Interface(), visit)
			}
		default:
			walk(value.Message().Interface(), visit)
		}
		return true
	})
}

// calls lists the functions that a statement calls, by their last names.
func calls(root proto.Message) []string {
	var all []string
	walk(root, func(m proto.Message) {
		if f, ok := m.(*pg.FuncCall); ok {
			words := texts(f.GetFuncname())
			all = append(all, words[len(words)-1])
		}
	})
	return all
}

// isNull says whether a default is NULL, which fills nothing.
func isNull(n *pg.Node) bool {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().GetArg()
	}
	return n.GetAConst().GetIsnull()
}

// isConstant says whether a default gives every row the same value. What calls a
// function, or asks for the time, may give another one each time.
func isConstant(n *pg.Node) bool {
	constant := len(calls(n)) == 0
	walk(n, func(m proto.Message) {
		if f, ok := m.(*pg.SQLValueFunction); ok && slices.Contains(times, f.GetOp()) {
			constant = false
		}
	})
	return constant
}

var times = []pg.SQLValueFunctionOp{
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N,
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N,
	pg.SQLValueFunctionOp_SVFOP_LOCALTIME, pg.SQLValueFunctionOp_SVFOP_LOCALTIME_N,
	pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N,
}
