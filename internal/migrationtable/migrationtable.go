// Package migrationtable reads which migrations an application's own PostgreSQL has applied, as goose, golang-migrate and Flyway
// record them. It reads in a transaction that may not write.
package migrationtable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Database is the database of one application in one environment.
type Database struct {
	URL   func() (string, error) // read anew for each look, so that a password may change; the error must not hold it
	Table string                 // of the tool, with its schema if need be; empty: the tool's usual name
}

var _ promotion.AppliedReader = Database{}

// timeout bounds one look: gates wait for it.
const timeout = 5 * time.Second

// mostRows bounds what is taken of a table.
const mostRows = 100_000

// Applied implements promotion.AppliedReader.
func (d Database) Applied(ctx context.Context, tool string) (promotion.AppliedMigrations, error) {
	read, known := tables[tool]
	if !known {
		return promotion.AppliedMigrations{}, fmt.Errorf("%s keeps no table of what it has applied that Sluice can read", tool)
	}
	table := read.table
	if d.Table != "" {
		table = d.Table
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	applied := promotion.AppliedMigrations{Table: table, Versions: []string{}}
	conn, err := d.connect(ctx)
	if err != nil {
		return applied, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	if err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return read.in(ctx, tx, table, &applied)
	}); err != nil {
		return applied, inWords(ctx, err, table)
	}
	return applied, nil
}

// connect speaks the simple protocol and sets nothing at start, since poolers in between refuse more.
func (d Database) connect(ctx context.Context) (*pgx.Conn, error) {
	url, err := d.URL()
	if err != nil {
		return nil, fmt.Errorf("its address could not be read: %w", err)
	}
	c, err := pgx.ParseConfig(url)
	if err != nil { // which has the address
		return nil, errors.New("its address is none of PostgreSQL: give postgres://user:password@host/database")
	}
	c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, inWords(ctx, err, "")
	}
	return conn, nil
}

// in has a server that would hide rows refuse instead, and one that is waited for give up.
func (t table) in(ctx context.Context, tx pgx.Tx, name string, applied *promotion.AppliedMigrations) error {
	if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL row_security = off; SET LOCAL statement_timeout = %d", timeout.Milliseconds())); err != nil {
		return err
	}
	query := fmt.Sprintf("SELECT %s FROM %s ORDER BY %s LIMIT %d", t.columns, pgx.Identifier(strings.Split(name, ".")).Sanitize(), t.order, mostRows+1)
	rows, err := tx.Query(ctx, query)
	if err != nil {
		return err
	}
	return t.read(rows, applied)
}
