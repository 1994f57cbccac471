package postgres

import (
	"encoding/json"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// The domain writes zero values for what is absent, the database NULL.

func nullID(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func nullText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func value[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func rolesToText(roles []promotion.Role) []string {
	text := make([]string, len(roles))
	for i, r := range roles {
		text[i] = string(r)
	}
	return text
}

func rolesFromText(text []string) []promotion.Role {
	roles := make([]promotion.Role, len(text))
	for i, t := range text {
		roles[i] = promotion.Role(t)
	}
	return roles
}

// document encodes what the domain built itself, which always encodes.
func document(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return json.Marshal(v)
}
