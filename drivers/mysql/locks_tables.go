package mysql

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hourbell/hourbell/lock"
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

// readTableName reads "table" or "database.table".
func readTableName(name string) (schema, table string, err error) {
	table = name
	if before, after, found := strings.Cut(name, "."); found {
		schema, table = before, after
	}
	bad := func(part string) bool {
		return part == "" || utf8.RuneCountInString(part) > 55 || strings.ContainsAny(part, "\x00./\\") || strings.TrimSpace(part) != part
	}
	if bad(table) || (strings.Contains(name, ".") && bad(schema)) {
		return "", "", fmt.Errorf("lock table %q: give a name of 1 to 55 characters, such as shedlock or app.shedlock", name)
	}
	return schema, table, nil
}

// readTimeZone makes an SQL expression from a time zone.
func readTimeZone(zone string) (string, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9_+:/-]{1,64}$`).MatchString(zone) {
		return "", fmt.Errorf("time zone %q: write it as SYSTEM, +02:00 or Europe/Berlin", zone)
	}
	return "'" + zone + "'", nil
}

// quoted returns a quoted name in SQL.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// qualified returns the quoted name of a table in the database of the lock
// table.
func (l *Locks) qualified(table string) string {
	if l.schema == "" {
		return quoted(table)
	}
	return quoted(l.schema) + "." + quoted(table)
}

// named inserts the names of tables and triggers.
func (l *Locks) named(text string) string {
	return strings.NewReplacer("{table}", l.qualified(l.table), "{state}", l.qualified(l.table+"_state"),
		"{inserted}", l.qualified(l.table+"_inserted"), "{updated}", l.qualified(l.table+"_updated")).Replace(text)
}

// lockShape has the properties of the tables that the statements depend on.
type lockShape struct {
	texts               map[string]statement // by the names of their files
	nameMost, ownerMost int                  // how many characters the columns hold
	charset             string               // of the column name
	inBytes             bool                 // nameMost is in bytes
}

// column is a column of a lock table.
type column struct {
	name, kind      string
	precision, most int
	charset         string
	unique          bool
}

// newShape checks the columns and makes the statements that fit them.
func (l *Locks) newShape(columns []column) (*lockShape, error) {
	found := map[string]column{}
	for _, c := range columns {
		found[strings.ToLower(c.name)] = c
	}
	until, untilErr := timeColumn(found, "lock_until", l.timeZone)
	at, atErr := timeColumn(found, "locked_at", l.timeZone)
	if err := errors.Join(textColumn(found, "name"), textColumn(found, "locked_by"), untilErr, atErr); err != nil {
		return nil, err
	}
	name := found["name"]
	if !name.unique {
		return nil, errors.New("column name has no unique index of its own, so that two could hold one lock; make it the primary key")
	}
	shape := &lockShape{
		texts: map[string]statement{}, nameMost: name.most, ownerMost: found["locked_by"].most,
		charset: name.charset, inBytes: name.kind == "varbinary",
	}
	for _, file := range []string{"take", "look", "seed_lock", "seed_state", "extend", "release", "owned", "free", "forget", "list"} {
		shape.texts[file] = compile(l.named(expand(lockText(file), macros(until, at))))
	}
	return shape, nil
}

func textColumn(columns map[string]column, name string) error {
	switch c := columns[name]; c.kind {
	case "varchar", "varbinary":
		return nil
	case "":
		return fmt.Errorf("it has no column %s; a lock table has name, lock_until, locked_at and locked_by", name)
	default:
		return fmt.Errorf("column %s is of type %s; make it varchar", name, c.kind)
	}
}

// check refuses values that the columns would cut, refuse or change.
func (s *lockShape) check(name, owner string) error {
	length := utf8.RuneCountInString(name)
	if s.inBytes {
		length = len(name)
	}
	switch {
	case length > s.nameMost:
		return &lock.FieldError{
			Field: "name", Value: name, Problem: fmt.Sprintf("has a length of %d, and the lock table's column takes %d", length, s.nameMost),
			Remedy: "use a shorter name, or widen the column name",
		}
	case strings.ContainsFunc(name, func(r rune) bool { return r > lastRune(s.charset) }):
		return &lock.FieldError{
			Field: "name", Value: name, Problem: fmt.Sprintf("has characters that the lock table's column, of character set %s, may not keep", s.charset),
			Remedy: "use plainer characters, or give the column name the character set utf8mb4",
		}
	case len(owner) > s.ownerMost:
		return &lock.FieldError{
			Field: "owner", Value: owner, Problem: fmt.Sprintf("has a length of %d, and the lock table's column takes %d", len(owner), s.ownerMost),
			Remedy: "widen the column locked_by to 255",
		}
	}
	return nil
}

// lastRune returns the last character that a character set is known to have.
func lastRune(charset string) rune {
	switch charset {
	case "utf8mb4", "": // a column without a character set stores bytes
		return utf8.MaxRune
	case "utf8", "utf8mb3":
		return 0xffff
	default:
		return 0x7f
	}
}

// TablesSQL returns the SQL that CreateTables runs. A program can run it with
// its own tools instead.
func (l *Locks) TablesSQL() string { return l.named(lockText("tables")) }

// CreateTables creates the lock table and its state table if they are missing.
// Several processes may call it concurrently. If both exist, it only reads, and
// needs no right to create tables.
func (l *Locks) CreateTables(ctx context.Context) error {
	return l.bounded(ctx, "create the lock tables", func(ctx context.Context) error {
		columns, hasState, err := l.columns(ctx)
		if err != nil || len(columns) > 0 && hasState {
			return err
		}
		for text := range strings.SplitSeq(strings.TrimSpace(l.TablesSQL()), ";\n\n") {
			if _, err := l.db.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// TriggerSQL returns triggers for the program's own tools to create. The
// triggers draw a token for each acquisition by a program other than Hourbell,
// such as ShedLock in Java. Then tokens show the order of all grants, and Java
// reads its token with
//
//	SELECT token FROM shedlock_state WHERE name = ?
//
// after it has taken the lock. Each statement ends in ";" and an empty line,
// and contains semicolons, so the mysql program needs another DELIMITER.
func (l *Locks) TriggerSQL() string { return l.named(lockText("trigger")) }
