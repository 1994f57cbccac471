package drift

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// walk visits the smallest values in which two objects differ; nil where there is none. Unless it is exact, what only have
// holds is passed over: Git need not mention every field.
type walk struct {
	exact bool
	keys  func(Path) []string // by which the elements of a list are known; nil: not said
	visit func(p Path, want, have any)
}

func (w walk) compare(p Path, want, have any) {
	if isEmpty(want) && isEmpty(have) {
		return
	}
	if p.isOpen() {
		want, have = orEmpty(want), orEmpty(have)
	}
	switch wanted := want.(type) {
	case map[string]any:
		if found, ok := have.(map[string]any); ok {
			w.maps(p, wanted, found)
			return
		}
	case []any:
		if found, ok := have.([]any); ok {
			w.lists(p, wanted, found)
			return
		}
	}
	if !same(p, want, have) {
		w.visit(p, want, have)
	}
}

func orEmpty(v any) any {
	if v == nil {
		return map[string]any{}
	}
	return v
}

func (w walk) maps(p Path, want, have map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w.compare(p.add("f:"+name), want[name], have[name])
	}
	if !w.exact {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, there := want[name]; !there {
			w.compare(p.add("f:"+name), nil, have[name])
		}
	}
}

func (w walk) lists(p Path, want, have []any) {
	wanted, found, keyed := w.byKey(p, want, have)
	if keyed {
		for _, key := range slices.Sorted(maps.Keys(wanted)) {
			w.compare(p.add("k:"+key), wanted[key], found[key])
		}
		for _, key := range slices.Sorted(maps.Keys(found)) {
			if _, there := wanted[key]; !there && w.exact {
				w.visit(p.add("k:"+key), nil, found[key])
			}
		}
		return
	}
	if len(want) != len(have) {
		w.visit(p, want, have)
		return
	}
	for i := range want {
		w.compare(p.add("i:"+strconv.Itoa(i)), want[i], have[i])
	}
}

// byKey takes lists whose elements all have keys of their own apart by these; other lists are compared place by place.
func (w walk) byKey(p Path, want, have []any) (wanted, found map[string]any, ok bool) {
	names := w.keys(p)
	if names == nil {
		names = listKeys(p, slices.Concat(want, have))
	}
	if names == nil {
		return nil, nil, false
	}
	if wanted, ok = taken(want, names); ok {
		found, ok = taken(have, names)
	}
	return wanted, found, ok
}

func taken(list []any, names []string) (map[string]any, bool) {
	byKey := map[string]any{}
	for _, item := range list {
		key, ok := elementKey(item, names)
		if _, twice := byKey[key]; !ok || twice {
			return nil, false
		}
		byKey[key] = item
	}
	return byKey, true
}

// listKeys are the keys of the lists of well-known kinds, as the API server merges them.
func listKeys(p Path, items []any) []string {
	switch p.last() {
	case "containers", "initContainers", "ephemeralContainers", "env", "volumes", "imagePullSecrets":
		return []string{"name"}
	case "volumeMounts":
		return []string{"mountPath"}
	case "volumeDevices":
		return []string{"devicePath"}
	case "hostAliases":
		return []string{"ip"}
	case "ports":
		for _, name := range []string{"containerPort", "port"} {
			if _, ok := taken(items[:min(1, len(items))], []string{name}); ok {
				return []string{name, "protocol"}
			}
		}
	}
	return nil
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// same compares scalars as the API server does: a quantity may be written in several ways.
func same(p Path, a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, isNumber := number(a)
	y, isNumberToo := number(b)
	if isNumber && isNumberToo {
		return x == y
	}
	return p.isQuantity() && sameQuantity(a, b)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
