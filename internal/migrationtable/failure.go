package migrationtable

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// inWords says what went wrong without the driver's own words: they name hosts, users and databases, and gates are read by many.
func inWords(ctx context.Context, err error, table string) error {
	var (
		odd    oddity
		server *pgconn.PgError
		lookup *net.DNSError
		errno  syscall.Errno
	)
	switch {
	case errors.As(err, &odd):
		return fmt.Errorf("%s %w", table, odd)
	case errors.As(err, &server):
		return errors.New(refusal(server, table))
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return errors.New("it gave no answer in time")
	case errors.As(err, &lookup):
		return errors.New("the name of its host is not known")
	case errors.As(err, &errno):
		return fmt.Errorf("it could not be reached: %w", errno)
	case table == "":
		return errors.New("it could not be reached, or does not speak as PostgreSQL does")
	}
	return fmt.Errorf("%s was not read whole: the answer broke off, or is not as the tool writes it", table)
}

// refusal is by the server's code. What the server says itself may name who asked.
func refusal(e *pgconn.PgError, table string) string {
	switch {
	case strings.HasPrefix(e.Code, "28"):
		return "it does not accept Sluice's credentials (" + e.Code + ")"
	case e.Code == "42P01" || e.Code == "3F000":
		return fmt.Sprintf("it has no table %s that Sluice's role finds: name it with its schema as table of application_databases", table)
	case e.Code == "42501":
		return fmt.Sprintf("Sluice's role may not read all of %s: GRANT SELECT on it, and USAGE on its schema", table)
	case e.Code == "42703":
		return fmt.Sprintf("%s has other columns than the tool's table: it is of another tool or version", table)
	case e.Code == "57014":
		return "it gave no answer in time"
	case e.Code == "3D000":
		return "the database that the address names does not exist"
	}
	return fmt.Sprintf("it refused with SQLSTATE %s", e.Code)
}
