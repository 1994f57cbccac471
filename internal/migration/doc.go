// Package migration says of SQL migrations, in PostgreSQL's dialect, whether the
// application version before them can go on reading and writing once they are
// applied, and whether they can be taken back.
//
// Files are read with PostgreSQL's own grammar and never run. The rules are
// deliberately plain: a statement without a rule is unknown, and so is whatever
// is no statement. The old version is taken to use everything that existed, to
// name its columns, to write any row the old schema took and to meet any row it
// could hold.
//
// Not modelled: locks, time, clashes of overloaded functions, limits on index
// entries, privileges on new sequences, TRUNCATE of a table that a new foreign
// key points at.
package migration
