package migration

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// columnType is a type as far as changes of it are weighed. Serial types are the
// integers they stand for.
type columnType struct {
	base       string // without its schema, in PostgreSQL's own spelling: int8, varchar, bpchar
	modifiers  []int  // the length of a varchar; precision and scale of a numeric
	dimensions int    // of an array
}

var serials = map[string]string{
	"smallserial": "int2", "serial2": "int2", "serial": "int4", "serial4": "int4", "bigserial": "int8", "serial8": "int8",
}

func typeOf(t *pg.TypeName) *columnType {
	words := texts(t.GetNames())
	if len(words) == 0 {
		return nil
	}
	c := &columnType{base: words[len(words)-1], dimensions: len(t.GetArrayBounds())}
	if integer, ok := serials[c.base]; ok && len(words) == 1 {
		c.base = integer
	}
	for _, m := range t.GetTypmods() {
		c.modifiers = append(c.modifiers, int(m.GetAConst().GetIval().GetIval()))
	}
	return c
}

func isSerial(t *pg.TypeName) bool {
	words := texts(t.GetNames())
	_, serial := serials[words[len(words)-1]]
	return serial && len(words) == 1
}

// typeChange weighs a change from one known type to another.
func typeChange(from, to *columnType) string {
	switch {
	case from.dimensions != to.dimensions || from.dimensions > 0 && from.base != to.base:
		return "type-change"
	case from.base == to.base && slices.Equal(from.modifiers, to.modifiers):
		return "type-widening"
	case from.isText() && (to.base == "text" || to.base == "varchar"):
		return lengthChange(from.length(), to.length())
	case from.base == "numeric" && to.base == "numeric":
		return numericChange(from, to)
	case isBiggerNumber(from.base, to.base):
		return "type-widening-number"
	}
	return "type-change"
}

func (c *columnType) isText() bool {
	return c.base == "varchar" || c.base == "bpchar" || c.base == "text"
}

const unlimited = int(^uint(0) >> 1)

func (c *columnType) length() int {
	if len(c.modifiers) == 0 {
		return unlimited
	}
	return c.modifiers[0]
}

func lengthChange(from, to int) string {
	if to < from {
		return "type-narrowing"
	}
	return "type-widening"
}

// numericChange: more digits at the same scale refuse and change nothing; another
// scale shows other digits. Fewer digits, or a limit where there was none, refuse
// or round what the old version writes.
func numericChange(from, to *columnType) string {
	switch {
	case len(to.modifiers) == 0:
		return "type-widening-number"
	case len(from.modifiers) == 0:
		return "type-change"
	case from.scale() != to.scale():
		return "type-widening-number"
	case to.modifiers[0] > from.modifiers[0]:
		return "type-widening"
	case to.modifiers[0] == from.modifiers[0]:
		return "type-widening"
	}
	return "type-change"
}

func (c *columnType) scale() int {
	if len(c.modifiers) < 2 {
		return 0
	}
	return c.modifiers[1]
}

func isBiggerNumber(from, to string) bool {
	for _, ladder := range [][]string{{"int2", "int4", "int8"}, {"float4", "float8"}} {
		a, b := slices.Index(ladder, from), slices.Index(ladder, to)
		if a >= 0 && b > a {
			return true
		}
	}
	return false
}
