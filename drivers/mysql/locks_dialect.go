package mysql

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"time"
	"unicode/utf8"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/lock/locksql"
)

//go:embed sql/locks/*.sql
var lockFiles embed.FS

// lockDialect describes MySQL to locksql. timeZone is an expression for the time
// zone of other programs' sessions.
func lockDialect(timeZone string) *locksql.Dialect {
	files, err := fs.Sub(lockFiles, "sql/locks")
	if err != nil {
		panic(err) // the files are part of the program
	}
	return &locksql.Dialect{
		Files: files, Table: "hourbell_lock", Qualified: true, QuestionMarks: true,
		Fits:        func(schema, table string) bool { return fits(table) && (schema == "" || fits(schema)) },
		TableAdvice: "give a name of 1 to 55 characters, such as shedlock or app.shedlock",
		Quote:       quoted,
		// As text, which does not depend on settings of the connection.
		Instant: func(t time.Time) any { return t.UTC().Format("2006-01-02 15:04:05.000000") },
		Array:   joined, Tick: time.Microsecond, CollationAdvice: "utf8mb4_bin or similar",
		Macros: func(until, at locksql.Column) map[string]locksql.Macro {
			return lockMacros(timeTextOf(until, timeZone), timeTextOf(at, timeZone))
		},
		Texts:        locksql.Types{Fit: []string{"varchar", "varbinary"}, Advice: "varchar"},
		Times:        locksql.Types{Fit: []string{"datetime", "timestamp"}, Advice: "timestamp(3) or datetime(3)"},
		LastRune:     lastRune,
		CheckSession: func(ctx context.Context, conn locksql.Conn) error { return checkSession(ctx, conn, timeZone) },
		Class:        classOf,
		Waited:       "waited for a connection of the pool, or for a transaction that holds a row of the lock table; look for one left open",
		Explain:      explain,
	}
}

// fits reports whether a name fits in an identifier together with "_inserted".
func fits(name string) bool {
	return utf8.RuneCountInString(name) <= 55 && !strings.ContainsAny(name, "./\\") && strings.TrimSpace(name) == name
}

// quoted returns a quoted name in SQL.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// joined returns names as one text, with a NUL before and after each name. The
// drivers for MySQL have no arrays.
func joined(names []string) any { return "\x00" + strings.Join(names, "\x00") + "\x00" }

// lastRune returns the last character that a character set is known to have.
func lastRune(charset string) rune {
	switch charset {
	case "utf8mb4":
		return utf8.MaxRune
	case "utf8", "utf8mb3":
		return 0xffff
	default:
		return 0x7f
	}
}

// checkSession refuses connections whose settings do not allow locks.
func checkSession(ctx context.Context, conn locksql.Conn, timeZone string) error {
	var autocommit bool
	var zone sql.NullString
	settings := locksql.Command{Text: "SELECT @@autocommit, CONVERT_TZ(UTC_TIMESTAMP(), " + timeZone + ", @@session.time_zone)"}
	err := conn.Query(ctx, settings, func(r locksql.Row) error { return r.Scan(&autocommit, &zone) })
	switch {
	case err != nil:
		return err
	case !autocommit:
		return errors.New("the connections have autocommit=0, so that nothing would be kept; leave that out of the DSN")
	case !zone.Valid:
		return fmt.Errorf("the server does not know the time zone %s, or the session's time zone; load its zones with "+
			"mysql_tzinfo_to_sql, or give TimeZone as +02:00", timeZone)
	}
	return nil
}

// timeText is how statements convert instants for a column: which part of the
// fraction of a second the column stores, and whether the column depends on a
// session's time zone.
type timeText struct {
	step    int    // the precision in microseconds
	foreign string // the time zone of other programs' sessions; empty: the column is in UTC
}

// timeTextOf returns the timeText of a column.
func timeTextOf(c locksql.Column, zone string) timeText {
	t := timeText{step: 1}
	for range 6 - c.Precision {
		t.step *= 10
	}
	if c.Kind == "timestamp" {
		t.foreign = zone
	}
	return t
}

// utc returns the expression that reads the column.
func (t timeText) utc(column string) string {
	if t.foreign == "" {
		return column
	}
	return fmt.Sprintf("CONVERT_TZ(%s, @@session.time_zone, %s)", column, t.foreign)
}

// write converts an instant in UTC to the column's type.
func (t timeText) write(instant string) string {
	if t.foreign == "" {
		return instant
	}
	return fmt.Sprintf("CONVERT_TZ(%s, %s, @@session.time_zone)", instant, t.foreign)
}

// up and down round to the column's precision, because some servers round
// values and others cut them.
func (t timeText) up(instant string) string {
	if t.step == 1 {
		return instant
	}
	return fmt.Sprintf("(%[1]s + INTERVAL MOD(%[2]d - MOD(MICROSECOND(%[1]s), %[2]d), %[2]d) MICROSECOND)", instant, t.step)
}

func (t timeText) down(instant string) string {
	if t.step == 1 {
		return instant
	}
	return fmt.Sprintf("(%[1]s - INTERVAL MOD(MICROSECOND(%[1]s), %[2]d) MICROSECOND)", instant, t.step)
}

// least converts an at-least time from milliseconds to microseconds, for a time
// that counts from the stored value of a column: it adds the part that the
// column cut, if that is more than a millisecond.
func (t timeText) least(duration string) string {
	if t.step <= 1000 {
		return duration + " * 1000"
	}
	return fmt.Sprintf("(%[1]s * 1000 + SIGN(%[1]s) * %[2]d)", duration, t.step-1)
}

// lockMacros returns the macros of the statements.
func lockMacros(until, at timeText) map[string]locksql.Macro {
	return map[string]locksql.Macro{
		"now":        func(string) string { return "COALESCE(CAST(:now AS DATETIME(6)), UTC_TIMESTAMP(6))" },
		"micros":     func(x string) string { return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + x + ")" },
		"until":      func(x string) string { return until.write(until.up("(" + x + ")")) },
		"until_down": func(x string) string { return until.write(until.down(x)) },
		"at":         func(x string) string { return at.write(at.down(x)) },
		"at_least":   at.least,
		"utc_until":  until.utc,
		"utc_at":     at.utc,
	}
}

// The server's error numbers that this package handles.
const (
	errRecordChanged      = 1020
	errTooManyConnections = 1040
	errAccessDenied       = 1045
	errNoColumn           = 1054
	errTableAccessDenied  = 1142
	errNoTable            = 1146
	errTooManyOfUser      = 1203 // by max_user_connections of the server
	errLockWaitTimeout    = 1205
	errDeadlock           = 1213
	errUserLimit          = 1226 // of the user
	errNoSavepoint        = 1305
	errReadOnly           = 1290
	errQueryInterrupted   = 1317
	errStatementTimeout   = 1969 // of MariaDB
	errExecutionTimeout   = 3024 // of MySQL
)

// numberOf returns the server's number of an error, or 0.
func numberOf(err error) uint16 {
	var server *driver.MySQLError
	if errors.As(err, &server) {
		return server.Number
	}
	return 0
}

// classOf returns the class of an error.
func classOf(err error) locksql.Class {
	switch numberOf(err) {
	case errDeadlock, errRecordChanged:
		return locksql.Passing
	case errLockWaitTimeout, errQueryInterrupted, errStatementTimeout, errExecutionTimeout, errTooManyConnections, errTooManyOfUser, errUserLimit:
		return locksql.Busy
	case errNoTable, errNoColumn:
		return locksql.Changed
	case errTableAccessDenied:
		return locksql.Denied
	}
	return locksql.Other
}

// explain adds the operation to an error and, if there is one, the remedy.
func explain(what string, err error) error {
	switch numberOf(err) {
	case errAccessDenied:
		return fmt.Errorf("%s: the database server refuses this user or password; see that they are right: %w", what, err)
	case errReadOnly:
		return fmt.Errorf("%s: the server is a read-only replica; connect to the one that takes writes: %w", what, err)
	}
	var dial *net.OpError
	if errors.As(err, &dial) {
		return fmt.Errorf("%s: cannot reach the database; see that it runs and that host and port are right: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
