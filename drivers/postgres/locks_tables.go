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

// lockText returns a file of sql/locks. The files are part of the program, so
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
	// The names of the state table and of the trigger's function are six bytes
	// longer.
	if err := checkSchemaName(table); err != nil || len(table) > 63-len("_state") || strings.Contains(table, ".") {
		return "", "", fmt.Errorf("lock table %q: give a name of 1 to 57 bytes, such as shedlock or app.shedlock", name)
	}
	return schema, table, nil
}

// lockShape has the properties of the tables that the statements depend on.
type lockShape struct {
	texts               map[string]string // the statements, by the names of their files
	nameMost, ownerMost int               // how many characters the columns hold; 0: any number
	channel             string            // the channel on which releases are notified
}

// column is a column of a lock table.
type column struct {
	name, kind string
	modifier   int // of the type: the number in its parentheses, as PostgreSQL stores it
	unique     bool
}

// errNoTable means that the lock table does not exist.
var errNoTable = errors.New("no such table")

// shapeOf reads the properties of the tables, once.
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

// forget makes the next call read the properties of the tables again.
func (l *Locks) forget() {
	l.mu.Lock()
	l.shape = nil
	l.mu.Unlock()
}

// missing returns which table is missing and how to create it.
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

// columns reads the columns of the lock table, and the name of its schema.
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
	for _, name := range []string{"take", "take_slot", "look", "seed", "extend", "release", "free", "list"} {
		text := nowMark.ReplaceAllString(lockText(name), "coalesce(${1}::timestamptz, now())")
		shape.texts[name] = fill.Replace(lateMark.ReplaceAllString(text, "coalesce(${1}::timestamptz, clock_timestamp())"))
	}
	return shape, nil
}

// The clock in a statement, with the parameter that replaces it: the time when
// the statement began, and the time when the clock is read, which is later if
// the statement had to wait for a row.
var (
	nowMark  = regexp.MustCompile(`\{now (\$\d)\}`)
	lateMark = regexp.MustCompile(`\{clock (\$\d)\}`)
)

// textColumn returns how many characters a column holds, 0 for any number.
func textColumn(columns map[string]column, name string) (most int, err error) {
	const header = 4 // the modifier of varchar includes it
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

// timeText is how statements convert an instant to a column's type: its time
// zone, the expressions that make its precision round up or down, and the
// correction of an at-least time ($4) that counts from the column.
type timeText struct{ zone, up, down, least string }

// timeColumn returns the timeText of a column. A column with a precision of
// less than microseconds rounds to the nearest value by itself: adding half a
// step minus a microsecond rounds up, subtracting half a step rounds down.
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
		if step := 2 * half; step > 1000 { // the correction is to the millisecond
			text.least = fmt.Sprintf(" + sign($4::bigint) * interval '%d microseconds'", step-1)
		}
	}
	return text, nil
}

// check refuses values that the columns would cut or refuse.
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

// TablesSQL returns the SQL that CreateTables runs. A program can run it with
// its own tools instead.
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
		panic(err) // the file is part of the program
	}
	return strings.NewReplacer(
		"{schema}.lock_state", qualified(schema, l.table+"_state"), "{schema}.lock", qualified(schema, l.table),
	).Replace(string(text))
}

// qualified returns a table's quoted name, with its schema if the schema is
// known.
func qualified(schema, table string) string {
	if schema == "" {
		return pgx.Identifier{table}.Sanitize()
	}
	return pgx.Identifier{schema, table}.Sanitize()
}

// CreateTables creates the lock table and its state table if they are missing.
// If both exist, it only reads, and needs no right to create tables. Several
// processes may call it concurrently.
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

// createTables returns a single statement, which is a single transaction behind
// any pooler and with any driver. Processes that run it concurrently take
// turns. An existing schema is not created again, so that no right to create a
// schema is needed.
func createTables(schema, tables string) string {
	text := "DO $create$ BEGIN\nPERFORM pg_advisory_xact_lock(hashtextextended('hourbell create lock tables', 0));\n"
	if schema != "" {
		text += fmt.Sprintf("IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '%s') THEN CREATE SCHEMA %s; END IF;\n",
			strings.ReplaceAll(schema, "'", "''"), pgx.Identifier{schema}.Sanitize())
	}
	return text + tables + "\nEND $create$"
}

// TriggerSQL returns a trigger for the program's own tools to create. The
// trigger draws a token for each acquisition by a program other than Hourbell,
// such as ShedLock in Java. Then tokens show the order of all grants, and Java
// reads its token with
//
//	SELECT token FROM shedlock_state WHERE name = ?
//
// after it has taken the lock. TriggerSQL reads the tables first, which must
// exist.
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
