package postgres

import (
	"embed"
	"fmt"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/sqltext"
)

//go:generate go run github.com/hourbell/hourbell/store/sqltext/declare

//go:embed sql/*.sql sql/macros/*.sql
var sqlFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
//
// They look rows of job and history up by id = ANY (ARRAY[…]), and sort by id + 0,
// where id = … and id would do: after a vacuum of an emptied table the planner takes
// it for empty, and would rather walk its whole index for the order that it has.
type statement uint16

// source is where the text of a statement comes from, and what its callers agree on
// with it. Names are separated by spaces.
type source struct {
	file    string // in sql/, without ".sql"
	given   string // the conditions whose lines belong to the statement
	params  string // the parameters, in the order in which callers pass them
	columns string // the columns, in the order in which callers scan them
}

// texts holds the text of each statement, with the schema and the numbers of the
// parameters filled in.
type texts [statementCount]string

// readTexts reads the text of each statement; see package sqltext for what the files
// may have besides SQL.
func readTexts(schema string) (all texts, err error) {
	rules, err := rulesOf(schema).WithMacros(sqlFiles, "sql/macros")
	if err != nil {
		return all, err
	}
	for s, from := range sources {
		text, err := sqlFiles.ReadFile("sql/" + from.file + ".sql")
		if err != nil {
			return all, fmt.Errorf("read statements: %w", err)
		}
		all[s], err = rules.Complete(string(text), strings.Fields(from.given)...)
		if err == nil {
			all[s], err = sqltext.Number(all[s], rules.Names(from.params))
		}
		if err != nil {
			return all, fmt.Errorf("read statement %v: %w", statement(s), err)
		}
	}
	return all, nil
}

// String returns the name of the statement's file, and its conditions.
func (s statement) String() string {
	return strings.TrimSpace(sources[s].file + " " + sources[s].given)
}

// q returns the text of a statement.
func (b *Backend) q(s statement) string { return b.sql[s] }

// rulesOf returns the rules for the texts of statements.
func rulesOf(schema string) sqltext.Rules {
	lists := specLists()
	lists["schedule_columns"], lists["limit_columns"] = scheduleList, limitList
	words := schemaWords(schema)
	maps.Copy(words, store.OriginWords())
	return sqltext.Rules{Words: words, Lists: lists}
}

// schemaWords are what statements and migrations have in braces: {schema}, the quoted
// name, and {schema_text}, the same inside a string literal.
func schemaWords(schema string) map[string]string {
	quoted := pgx.Identifier{schema}.Sanitize()
	return map[string]string{"schema": quoted, "schema_text": strings.ReplaceAll(quoted, "'", "''")}
}
