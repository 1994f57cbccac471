package drift

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// isQuantity tells whether a field holds an amount of a resource: elsewhere 1000m and 1 are two texts.
func (p Path) isQuantity() bool {
	fields := p.Fields()
	return slices.ContainsFunc(fields, func(f string) bool {
		return slices.Contains([]string{"limits", "requests", "sizeLimit", "capacity", "hard", "divisor", "averageValue"}, f)
	})
}

var suffixes = map[string]*big.Rat{
	"n": power(10, -9), "u": power(10, -6), "m": power(10, -3), "": power(10, 0), "k": power(10, 3), "M": power(10, 6), "G": power(10, 9),
	"T": power(10, 12), "P": power(10, 15), "E": power(10, 18), "Ki": power(1024, 1), "Mi": power(1024, 2), "Gi": power(1024, 3),
	"Ti": power(1024, 4), "Pi": power(1024, 5), "Ei": power(1024, 6),
}

func power(base, exponent int64) *big.Rat {
	n := new(big.Int).Exp(big.NewInt(base), big.NewInt(max(exponent, -exponent)), nil)
	r := new(big.Rat).SetInt(n)
	if exponent < 0 {
		return r.Inv(r)
	}
	return r
}

func sameQuantity(a, b any) bool {
	x, y := quantity(a), quantity(b)
	return x != nil && y != nil && x.Cmp(y) == 0
}

// quantity is nil for what is none.
func quantity(v any) *big.Rat {
	text := fmt.Sprint(v)
	end := strings.LastIndexAny(text, "0123456789.") + 1
	scale, known := suffixes[text[end:]]
	if !known || len(text) > 40 || strings.ContainsAny(text[:end], "/eE") {
		return nil
	}
	n, ok := new(big.Rat).SetString(text[:end])
	if !ok {
		return nil
	}
	return n.Mul(n, scale)
}
