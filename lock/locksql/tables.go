package locksql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/sqltext"
)

// stateSuffix makes the name of the state table from the name of the lock table.
const stateSuffix = "_state"

// readTableName reads and checks the name of a table that a user gave.
func (d *Dialect) readTableName(name string) (schema, table string, err error) {
	table = name
	before, after, found := strings.Cut(name, ".")
	found = found && d.Qualified
	if found {
		schema, table = before, after
	}
	bad := func(part string) bool {
		control := func(r rune) bool { return r < ' ' || r == 0x7f }
		return part == "" || !utf8.ValidString(part) || strings.ContainsFunc(part, control)
	}
	if bad(table) || found && bad(schema) || !d.Fits(schema, table) {
		return "", "", fmt.Errorf("lock table %q: %s", name, d.TableAdvice)
	}
	return schema, table, nil
}

// qualify returns the quoted name of a table, with its schema if the schema is
// known.
func (d *Dialect) qualify(schema, table string) string {
	if schema == "" {
		return d.Quote(table)
	}
	return d.Quote(schema) + "." + d.Quote(table)
}

// names are the names in braces.
func (d *Dialect) names(schema, table string) sqltext.Rules {
	words := map[string]string{}
	for word, suffix := range map[string]string{"table": "", "state": stateSuffix, "function": "_token", "inserted": "_inserted", "updated": "_updated"} {
		words[word] = d.qualify(schema, table+suffix)
	}
	if d.Names != nil {
		maps.Copy(words, d.Names(schema, table))
	}
	return sqltext.Rules{Words: words}
}

// command returns the commands of a statement that does not depend on the types
// of columns.
func (d *Dialect) command(st statement, schema, table string, v *values) ([]Command, error) {
	parts, err := d.compile(st, nil, d.names(schema, table))
	if err != nil {
		return nil, err
	}
	return bind(parts, v), nil
}

// shape has the properties of the tables that the statements depend on.
type shape struct {
	schema      string // the schema in which the tables are
	templates   [statementCount][]template
	name, owner Column // zero values without columns.sql
}

// shapeOf reads the properties of the tables, once.
func (p *Provider) shapeOf(ctx context.Context, conn Conn) (*shape, error) {
	p.mu.Lock()
	known := p.shape
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	read, err := p.readShape(ctx, conn)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.shape = read
	p.mu.Unlock()
	return read, nil
}

func (p *Provider) readShape(ctx context.Context, conn Conn) (*shape, error) {
	if !p.dialect.has(columnsSQL) {
		return p.newShape(p.schema, nil)
	}
	found, err := p.columns(ctx, conn)
	if err != nil {
		return nil, err
	}
	if len(found.columns) == 0 {
		return nil, p.missing(true)
	}
	shape, err := p.fit(found)
	if err != nil {
		return nil, err
	}
	if !found.hasState {
		return nil, p.missing(false)
	}
	if p.dialect.CheckSession != nil {
		if err := p.dialect.CheckSession(ctx, conn); err != nil {
			return nil, err
		}
	}
	return shape, nil
}

// forget makes the next call read the properties of the tables again, and
// returns the remedy for tables that have changed or are missing.
func (p *Provider) forget() string {
	p.mu.Lock()
	p.shape = nil
	p.mu.Unlock()
	if p.dialect.has(columnsSQL) {
		return "the lock tables have changed; try again, because the next call reads their columns"
	}
	return p.remedy()
}

// missing returns the error for a table that is missing: the lock table, or the
// state table.
func (p *Provider) missing(lockTable bool) error {
	name := p.table
	if !lockTable {
		name += stateSuffix
	}
	if p.schema != "" {
		name = p.schema + "." + name
	}
	return fmt.Errorf("%w: there is no table %s; %s", store.ErrSchema, name, p.remedy())
}

// remedy returns how to create the tables.
func (p *Provider) remedy() string {
	if p.dialect.Migrated && p.table == p.dialect.Table {
		return "run `hourbell migrate up`, or call CreateTables"
	}
	return "call CreateTables, or run what TablesSQL returns"
}

// foundTables are the tables as the database has them.
type foundTables struct {
	schema   string
	columns  []Column // of the lock table; empty: there is no lock table
	hasState bool
}

// columns reads the columns of the lock table.
func (p *Provider) columns(ctx context.Context, conn Conn) (foundTables, error) {
	v := values{pTable: p.table, pSchema: p.schema}
	var out foundTables
	commands, err := p.dialect.command(columnsSQL, p.schema, p.table, &v)
	if err != nil {
		return out, err
	}
	err = conn.Query(ctx, commands[0], func(r Row) error {
		var c Column
		err := r.Scan(&out.schema, &c.Name, &c.Kind, &c.Length, &c.Precision, &c.Charset, &c.Unique, &out.hasState)
		c.Name = strings.ToLower(c.Name)
		out.columns = append(out.columns, c)
		return err
	})
	return out, err
}

// fit is newShape for a lock table that exists.
func (p *Provider) fit(found foundTables) (*shape, error) {
	shape, err := p.newShape(found.schema, found.columns)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", p.dialect.qualify(found.schema, p.table), err)
	}
	return shape, nil
}

// newShape checks the columns and makes the statements that fit them. Without
// columns nothing is checked.
func (p *Provider) newShape(schema string, columns []Column) (*shape, error) {
	var until, at Column
	out := &shape{schema: schema}
	if columns != nil {
		d := p.dialect
		name, nameErr := columnOf(columns, "name", d.Texts)
		owner, ownerErr := columnOf(columns, "locked_by", d.Texts)
		var untilErr, atErr error
		until, untilErr = columnOf(columns, "lock_until", d.Times)
		at, atErr = columnOf(columns, "locked_at", d.Times)
		if err := errors.Join(nameErr, ownerErr, untilErr, atErr); err != nil {
			return nil, err
		}
		if !name.Unique {
			return nil, errors.New("column name has no unique index of its own, so that two could hold one lock; make it the primary key")
		}
		out.name, out.owner = name, owner
	}
	macros, names := p.dialect.Macros(until, at), p.dialect.names(schema, p.table)
	for st := range statementCount {
		if st == tablesSQL || st == triggerSQL || st.optional() && !p.dialect.has(st) {
			continue
		}
		parts, err := p.dialect.compile(st, macros, names)
		if err != nil {
			return nil, err
		}
		out.templates[st] = parts
	}
	return out, nil
}

// columnOf returns the column with a name if its type fits.
func columnOf(columns []Column, name string, types Types) (Column, error) {
	i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, fmt.Errorf("it has no column %s; a lock table has name, lock_until, locked_at and locked_by", name)
	}
	c := columns[i]
	if !slices.Contains(types.Fit, c.Kind) {
		return c, fmt.Errorf("column %s is of type %s; make it %s", name, c.Kind, types.Advice)
	}
	return c, nil
}

// checkText refuses a value that a column would cut, refuse or change.
func (d *Dialect) checkText(c Column, field, value, remedy string) error {
	length := utf8.RuneCountInString(value)
	if c.Kind == "varbinary" {
		length = len(value)
	}
	switch {
	case c.Length > 0 && length > c.Length:
		return &check.FieldError{
			Field: field, Value: value, Remedy: remedy,
			Problem: fmt.Sprintf("has a length of %d, and the lock table's column %s takes %d", length, c.Name, c.Length),
		}
	case c.Charset != "" && strings.ContainsFunc(value, func(r rune) bool { return r > d.LastRune(c.Charset) }):
		return &check.FieldError{
			Field: field, Value: value,
			Problem: fmt.Sprintf("has characters that the lock table's column %s, of character set %s, may not keep", c.Name, c.Charset),
			Remedy:  fmt.Sprintf("use plainer characters, or give the column %s the character set utf8mb4", c.Name),
		}
	}
	return nil
}

// TablesSQL returns the SQL that creates the tables in the configured schema.
// CreateTables runs it.
func (p *Provider) TablesSQL() string { return p.script(tablesSQL, p.schema) }

// TriggerSQL returns the SQL that creates triggers on tables in a schema; empty:
// the connection's. The triggers draw a token for each grant by a program that
// draws none.
func (p *Provider) TriggerSQL(schema string) string { return p.script(triggerSQL, schema) }

// script returns the text of a file with the names of the tables.
func (p *Provider) script(st statement, schema string) string {
	text, err := p.dialect.read(st)
	if err == nil {
		text, err = p.dialect.names(schema, p.table).Fill(text)
	}
	if err != nil {
		panic(err) // the files of a driver are part of the program, and its tests call Validate
	}
	return text + "\n"
}

// CreateTables creates the lock table and its state table if they are missing.
// Several processes may call it concurrently. If the dialect has columns.sql and
// both tables exist, it only reads. A lock table that exists and does not fit,
// because of the type of a column for example, is an error, and nothing is created.
func (p *Provider) CreateTables(ctx context.Context) error {
	return p.connected(ctx, OtherUse, "create the lock tables", func(ctx context.Context, conn Conn) error {
		schema := p.schema
		if p.dialect.has(columnsSQL) {
			found, err := p.columns(ctx, conn)
			if err == nil && len(found.columns) > 0 {
				_, err = p.fit(found)
			}
			if err != nil || len(found.columns) > 0 && found.hasState {
				return err
			}
			if found.schema != "" {
				schema = found.schema
			}
		}
		text := p.script(tablesSQL, schema)
		if p.dialect.Create != nil {
			text = p.dialect.Create(schema, text)
			_, err := conn.Exec(ctx, []Command{{Text: text}})
			return err
		}
		var commands []Command
		for part := range strings.SplitSeq(strings.TrimSpace(text), separator) {
			commands = append(commands, Command{Text: part})
		}
		_, err := conn.Exec(ctx, commands)
		return err
	})
}

// Schema returns the schema in which the tables are. It reads the tables, which
// must exist.
func (p *Provider) Schema(ctx context.Context, what string) (schema string, err error) {
	err = p.connected(ctx, OtherUse, what, func(ctx context.Context, conn Conn) error {
		schema, err = p.SchemaBy(ctx, conn)
		return err
	})
	return schema, err
}

// SchemaBy is Schema with a connection of the caller.
func (p *Provider) SchemaBy(ctx context.Context, conn Conn) (string, error) {
	shape, err := p.shapeOf(ctx, conn)
	if err != nil {
		return "", err
	}
	return shape.schema, nil
}

// Statement returns the text of a statement, by the name of its file without
// ".sql", as it is sent to the tables at hand, and the names of its parameters
// in the order of the placeholders. It is for tests that look at plans; empty:
// the tables have not been read yet, or there is no such statement.
func (p *Provider) Statement(name string) (text string, names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := slices.Index(files[:], name)
	if p.shape == nil || st < 0 || p.shape.templates[st] == nil {
		return "", nil
	}
	t := p.shape.templates[st][0]
	for _, parameter := range t.order {
		names = append(names, parameters[parameter])
	}
	return t.text, names
}
