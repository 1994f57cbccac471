package main

import (
	"strings"
	"testing"
)

func TestMigrationsCheckSince(t *testing.T) {
	t.Parallel()
	dir := writeMigrations(t, map[string]string{
		"00001_parcel.sql": "-- +goose Up\nCREATE TABLE parcel (id int, note varchar(5));\n",
		"00002_longer.sql": "-- +goose Up\nALTER TABLE parcel ALTER COLUMN note TYPE varchar(9);\n",
		"00003_note.sql":   "-- +goose Up\nALTER TABLE parcel DROP COLUMN note;\n",
	})
	for _, test := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"all of them", []string{"--fail-on", "breaking"}, 0, "The set is compatible"},
		{"types are read from those before", []string{"--since", "1"}, 0, "00002_longer.sql:2: ALTER TABLE: compatible, reversible unknown (type-widening)"},
		{"breaking", []string{"--since", "2", "--fail-on", "breaking"}, 3, "00003_note.sql:2: ALTER TABLE: breaking, reversible no (drop-column)"},
		{"breaking where unknown fails", []string{"--since", "00002_longer.sql", "--fail-on", "unknown"}, 3, "The set is breaking"},
		{"none", []string{"--since", "3", "--fail-on", "unknown"}, 0, "The set is compatible"},
		{"no such version", []string{"--since", "4"}, 2, ""},
		{"no such verdict", []string{"--fail-on", "compatible"}, 2, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out, code := offline(t, newMigrationsCommand(), append([]string{"check", "--tool", "goose", dir}, test.args...)...)
			if code != test.status || !strings.Contains(out, test.says) {
				t.Errorf("status %d, want %d: %s", code, test.status, out)
			}
		})
	}
}
