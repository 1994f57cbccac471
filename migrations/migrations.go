// Package migrations embeds the database schema's migrations, in goose's format.
package migrations

import "embed"

// Files are the migrations, in the order of their numbers.
//
//go:embed *.sql
var Files embed.FS
