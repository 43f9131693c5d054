package postgres

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/lock/locksql"
)

//go:embed sql/locks/*.sql
var lockFiles embed.FS

// lockDialect describes PostgreSQL to locksql.
func lockDialect() *locksql.Dialect {
	files, err := fs.Sub(lockFiles, "sql/locks")
	if err != nil {
		panic(err) // the files are part of the program
	}
	return &locksql.Dialect{
		Files: files, Table: "lock", Migrated: true, Qualified: true,
		Fits: func(schema, table string) bool {
			fits := schema == "" || checkSchemaName(schema) == nil
			return fits && checkSchemaName(table) == nil && len(table) <= 63-len("_state") && !strings.Contains(table, ".")
		},
		TableAdvice: "give a name of 1 to 57 bytes, such as shedlock or app.shedlock",
		Quote:       func(name string) string { return pgx.Identifier{name}.Sanitize() },
		Instant:     func(t time.Time) any { return t.UTC().Truncate(time.Microsecond) },
		Array:       func(names []string) any { return arrayText(names) },
		Tick:        time.Microsecond, CollationAdvice: `"C"`,
		Macros: lockMacros,
		Names: func(schema, table string) map[string]string {
			return map[string]string{"channel": "'" + strings.ReplaceAll(lockChannel(schema, table), "'", "''") + "'"}
		},
		Texts:   locksql.Types{Fit: []string{"text", "varchar"}, Advice: "text or varchar"},
		Times:   locksql.Types{Fit: []string{"timestamp", "timestamptz"}, Advice: "timestamp or timestamptz"},
		Create:  createLockTables,
		Class:   lockClass,
		Waited:  "waited for the server; look for a transaction that holds a row of the lock table",
		Explain: new(Backend).explain, // as everywhere in this package
	}
}

// lockChannel returns the channel on which releases are notified.
func lockChannel(schema, table string) string { return channelOf("lock:" + schema + "." + table) }

// lockMacros returns the macros of the statements: the clock, and conversions
// between UTC and the types of the columns.
func lockMacros(until, at locksql.Column) map[string]locksql.Macro {
	untilUp, untilDown := rounding(until)
	_, atDown := rounding(at)
	return map[string]locksql.Macro{
		// now is the time when the statement began. clock is the time when the
		// clock is read, which is later if the statement had to wait for a row.
		"now":        func(string) string { return "coalesce(:now::timestamptz, now())" },
		"clock":      func(string) string { return "coalesce(:now::timestamptz, clock_timestamp())" },
		"micros":     func(x string) string { return "(extract(epoch FROM " + x + ") * 1000000)::bigint" },
		"until":      func(x string) string { return "(" + x + untilUp + ")" + inUTC(until) },
		"until_down": func(x string) string { return "(" + x + untilDown + ")" + inUTC(until) },
		"at":         func(x string) string { return "(" + x + atDown + ")" + inUTC(at) },
		"utc_until":  func(x string) string { return x + inUTC(until) },
		"utc_at":     func(x string) string { return x + inUTC(at) },
		"at_least":   func(x string) string { return x + " * interval '1 millisecond'" + remainder(at, x) },
	}
}

// inUTC converts between timestamptz and a column of type timestamp, which is in
// UTC.
func inUTC(c locksql.Column) string {
	if c.Kind == "timestamp" {
		return " AT TIME ZONE 'UTC'"
	}
	return ""
}

// rounding returns what makes a column round an instant up or down. A column
// with a precision of less than microseconds rounds to the nearest value by
// itself: adding half a step minus a microsecond rounds up, subtracting half a
// step rounds down.
func rounding(c locksql.Column) (up, down string) {
	half := stepOf(c) / 2
	if half == 0 {
		return "", ""
	}
	return fmt.Sprintf(" + interval '%d microseconds'", half-1), fmt.Sprintf(" - interval '%d microseconds'", half)
}

// stepOf returns the precision of a column in microseconds.
func stepOf(c locksql.Column) int {
	step := 1
	for range 6 - c.Precision {
		step *= 10
	}
	return step
}

// remainder returns what to add to an at-least time that counts from the stored
// value of a column: the part that the column cut, if it is more than a
// millisecond.
func remainder(c locksql.Column, duration string) string {
	step := stepOf(c)
	if step <= 1000 {
		return ""
	}
	return fmt.Sprintf(" + sign(%s) * interval '%d microseconds'", duration, step-1)
}

// createLockTables returns a single statement, which is a single transaction
// behind any pooler and with any driver. Processes that run it concurrently take
// turns. An existing schema is not created again, so that no right to create a
// schema is needed.
func createLockTables(schema, tables string) string {
	text := "DO $create$ BEGIN\nPERFORM pg_advisory_xact_lock(hashtextextended('hourbell create lock tables', 0));\n"
	if schema != "" {
		text += fmt.Sprintf("IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '%s') THEN CREATE SCHEMA %s; END IF;\n",
			strings.ReplaceAll(schema, "'", "''"), pgx.Identifier{schema}.Sanitize())
	}
	return text + tables + "\nEND $create$"
}

// lockClass returns the class of an error.
func lockClass(err error) locksql.Class {
	switch codeOf(err) {
	case "55P03", "57014": // lock_timeout or statement_timeout of the server
		return locksql.Busy
	case "40P01", "40001": // a deadlock, or a serialization failure
		return locksql.Passing
	case "42P01", "42703", "42804", "42883", "3F000", "42P10": // no such table, column, type, function, schema, constraint
		return locksql.Changed
	case "42501":
		return locksql.Denied
	}
	return locksql.Other
}
