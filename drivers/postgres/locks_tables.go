package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

//go:embed sql/locks/*.sql
var lockFiles embed.FS

// lockText is a file of sql/locks. The files are part of the program, so that
// they cannot be missing.
func lockText(name string) string {
	text, err := lockFiles.ReadFile("sql/locks/" + name + ".sql")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// readTableName reads "table" or "schema.table".
func readTableName(name string) (schema, table string, err error) {
	table = name
	if before, after, found := strings.Cut(name, "."); found {
		schema, table = before, after
		if err := checkSchemaName(schema); err != nil {
			return "", "", fmt.Errorf("lock table %q: %w", name, err)
		}
	}
	// The names of the state table and the trigger's function have six bytes more.
	if err := checkSchemaName(table); err != nil || len(table) > 63-len("_state") || strings.Contains(table, ".") {
		return "", "", fmt.Errorf("lock table %q: give a name of 1 to 57 bytes, such as shedlock or app.shedlock", name)
	}
	return schema, table, nil
}

// lockShape is what the statements have to know of the tables.
type lockShape struct {
	texts               map[string]string // the statements, by the names of their files
	nameMost, ownerMost int               // how many characters the columns take; 0: any number
	channel             string            // on which releases are notified
}

// column is one of a lock table.
type column struct {
	name, kind string
	modifier   int // of the type: what is in its parentheses, as PostgreSQL keeps it
	unique     bool
}

// errNoTable: the lock table is not there.
var errNoTable = errors.New("no such table")

// shapeOf finds out about the tables, once.
func (l *Locks) shapeOf(ctx context.Context, c lockConn) (*lockShape, error) {
	l.mu.Lock()
	known := l.shape
	l.mu.Unlock()
	if known != nil {
		return known, nil
	}
	schema, columns, hasState, err := l.columns(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 || !hasState {
		return nil, fmt.Errorf("%w: %w: %s", store.ErrSchema, errNoTable, l.missing(len(columns) == 0))
	}
	shape, err := newShape(schema, l.table, columns)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", pgx.Identifier{schema, l.table}.Sanitize(), err)
	}
	l.mu.Lock()
	l.shape = shape
	l.mu.Unlock()
	return shape, nil
}

// forget lets the next call look at the tables anew.
func (l *Locks) forget() {
	l.mu.Lock()
	l.shape = nil
	l.mu.Unlock()
}

// missing says which table is not there and how to come by it.
func (l *Locks) missing(all bool) string {
	name := l.table
	if !all {
		name += "_state"
	}
	if l.schema != "" {
		name = l.schema + "." + name
	}
	if l.table == "lock" {
		return fmt.Sprintf("there is no table %s; run `hourbell migrate up`, or call CreateTables", name)
	}
	return fmt.Sprintf("there is no table %s; call CreateTables, or run what TablesSQL returns", name)
}

// columns reads those of the lock table, and in which schema it is.
func (l *Locks) columns(ctx context.Context, c lockConn) (schema string, columns []column, hasState bool, err error) {
	_, err = c.query(ctx, lockText("columns"), []any{l.schema, l.table, l.table + "_state"}, func(r row) error {
		var col column
		err := r.Scan(&schema, &col.name, &col.kind, &col.modifier, &col.unique, &hasState)
		columns = append(columns, col)
		return err
	})
	return schema, columns, hasState, err
}

// newShape checks the columns and makes the statements that fit them.
func newShape(schema, table string, columns []column) (*lockShape, error) {
	found := map[string]column{}
	for _, c := range columns {
		found[c.name] = c
	}
	nameMost, err := textColumn(found, "name")
	ownerMost, ownerErr := textColumn(found, "locked_by")
	until, untilErr := timeColumn(found, "lock_until")
	at, atErr := timeColumn(found, "locked_at")
	if err := errors.Join(err, ownerErr, untilErr, atErr); err != nil {
		return nil, err
	}
	if !found["name"].unique {
		return nil, errors.New("column name has no unique index, so that two could hold one lock; make it the primary key")
	}
	channel := channelOf("lock:" + schema + "." + table)
	shape := &lockShape{texts: map[string]string{}, nameMost: nameMost, ownerMost: ownerMost, channel: channel}
	fill := strings.NewReplacer(
		"{channel}", "'"+strings.ReplaceAll(channel, "'", "''")+"'",
		"{table}", pgx.Identifier{schema, table}.Sanitize(), "{state}", pgx.Identifier{schema, table + "_state"}.Sanitize(),
		"{until_zone}", until.zone, "{until_up}", until.up, "{until_down}", until.down, "{at_zone}", at.zone, "{at_down}", at.down, "{at_least}", at.least)
	for _, name := range []string{"take", "look", "seed", "extend", "release", "free", "list"} {
		text := nowMark.ReplaceAllString(lockText(name), "coalesce(${1}::timestamptz, now())")
		shape.texts[name] = fill.Replace(lateMark.ReplaceAllString(text, "coalesce(${1}::timestamptz, clock_timestamp())"))
	}
	return shape, nil
}

// The clock in a statement, with the parameter that replaces it: when it began,
// and when it looks, which is later if it had to wait for a row.
var (
	nowMark  = regexp.MustCompile(`\{now (\$\d)\}`)
	lateMark = regexp.MustCompile(`\{clock (\$\d)\}`)
)

// textColumn says how many characters a column takes, 0 for any number.
func textColumn(columns map[string]column, name string) (most int, err error) {
	const header = 4 // the modifier of varchar counts it
	switch c := columns[name]; {
	case c.kind == "text", c.kind == "varchar" && c.modifier < 0:
		return 0, nil
	case c.kind == "varchar":
		return c.modifier - header, nil
	case c.kind == "":
		return 0, fmt.Errorf("it has no column %s; a lock table has name, lock_until, locked_at and locked_by", name)
	default:
		return 0, fmt.Errorf("column %s is of type %s; make it text or varchar", name, c.kind)
	}
}

// timeText is how statements bring an instant to a column's type: its zone, what
// makes its precision round up, or down, and what makes up for it when an
// at-least time ($4) counts from there.
type timeText struct{ zone, up, down, least string }

// timeColumn is the timeText of a column. A column of less than microseconds
// rounds to the nearest by itself: half a step minus a microsecond more is up,
// half a step less is down.
func timeColumn(columns map[string]column, name string) (text timeText, err error) {
	c := columns[name]
	switch c.kind {
	case "timestamptz":
	case "timestamp":
		text.zone = " AT TIME ZONE 'UTC'"
	case "":
		return text, fmt.Errorf("it has no column %s; a lock table has name, lock_until, locked_at and locked_by", name)
	default:
		return text, fmt.Errorf("column %s is of type %s; make it timestamp or timestamptz", name, c.kind)
	}
	if c.modifier >= 0 && c.modifier < 6 {
		half := 500_000
		for range c.modifier {
			half /= 10
		}
		text.up = fmt.Sprintf(" + interval '%d microseconds'", half-1)
		text.down = fmt.Sprintf(" - interval '%d microseconds'", half)
		if step := 2 * half; step > 1000 { // to the millisecond is good enough
			text.least = fmt.Sprintf(" + sign($4::bigint) * interval '%d microseconds'", step-1)
		}
	}
	return text, nil
}

// check refuses what the columns would cut or refuse.
func (s *lockShape) check(name, owner string) error {
	if n := utf8.RuneCountInString(name); s.nameMost > 0 && n > s.nameMost {
		return &lock.FieldError{
			Field: "name", Value: name, Problem: fmt.Sprintf("is %d characters long, and the lock table's column takes %d", n, s.nameMost),
			Remedy: "use a shorter name, or widen the column name",
		}
	}
	if n := utf8.RuneCountInString(owner); s.ownerMost > 0 && n > s.ownerMost {
		return &lock.FieldError{
			Field: "owner", Value: owner, Problem: fmt.Sprintf("is %d characters long, and the lock table's column takes %d", n, s.ownerMost),
			Remedy: "widen the column locked_by to 255",
		}
	}
	return nil
}

// TablesSQL is what CreateTables runs, for the program's own tools.
func (l *Locks) TablesSQL() string {
	text := l.tablesSQL(l.schema)
	if l.schema != "" {
		text = "CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{l.schema}.Sanitize() + ";\n\n" + text
	}
	return text
}

func (l *Locks) tablesSQL(schema string) string {
	text, err := migrationFiles.ReadFile("migrations/0003_locks.sql")
	if err != nil {
		panic(err) // it is part of the program
	}
	return strings.NewReplacer(
		"{schema}.lock_state", qualified(schema, l.table+"_state"), "{schema}.lock", qualified(schema, l.table),
	).Replace(string(text))
}

// qualified is a table's quoted name, with its schema if that is known.
func qualified(schema, table string) string {
	if schema == "" {
		return pgx.Identifier{table}.Sanitize()
	}
	return pgx.Identifier{schema, table}.Sanitize()
}

// CreateTables creates the lock table, if it is missing, and its state beside
// it. Where both are there it only reads, and needs no rights to create. Several
// processes may call at once.
func (l *Locks) CreateTables(ctx context.Context) error {
	return l.connected(ctx, "create the lock tables", func(ctx context.Context, c lockConn) error {
		schema, columns, hasState, err := l.columns(ctx, c)
		if err != nil || len(columns) > 0 && hasState {
			return err
		}
		if schema == "" {
			schema = l.schema
		}
		_, err = c.exec(ctx, createTables(schema, l.tablesSQL(schema)), nil)
		return err
	})
}

// createTables is one statement, which is one transaction behind any pooler and
// under any driver. Processes that come at once take turns. A schema that is
// there is left alone, for that needs no right to create one.
func createTables(schema, tables string) string {
	text := "DO $create$ BEGIN\nPERFORM pg_advisory_xact_lock(hashtextextended('hourbell create lock tables', 0));\n"
	if schema != "" {
		text += fmt.Sprintf("IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '%s') THEN CREATE SCHEMA %s; END IF;\n",
			strings.ReplaceAll(schema, "'", "''"), pgx.Identifier{schema}.Sanitize())
	}
	return text + tables + "\nEND $create$"
}

// TriggerSQL is a trigger for the program's own tools to create: it draws a
// token for each acquisition by others than Hourbell, ShedLock in Java for one.
// Then tokens also tell their order, and Java reads its own with
//
//	SELECT token FROM shedlock_state WHERE name = ?
//
// after it has taken the lock. It reads the tables first, which must be there.
func (l *Locks) TriggerSQL(ctx context.Context) (text string, err error) {
	err = l.connected(ctx, "write the trigger of the lock table", func(ctx context.Context, c lockConn) error {
		schema, columns, hasState, err := l.columns(ctx, c)
		switch {
		case err != nil:
			return err
		case len(columns) == 0 || !hasState:
			return fmt.Errorf("%w: %s", errNoTable, l.missing(len(columns) == 0))
		}
		names := strings.NewReplacer("{table}", qualified(schema, l.table), "{state}", qualified(schema, l.table+"_state"), "{function}", qualified(schema, l.table+"_token"))
		text = names.Replace(lockText("trigger"))
		return nil
	})
	return text, err
}
