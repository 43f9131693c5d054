package sqlrows

import (
	"embed"
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/store/sqltext"
)

//go:generate go run github.com/hourbell/hourbell/store/sqltext/declare

// Statement is one of the SQL statements that a driver sends. Numbers below Shared are the statements of this package, for which
// each driver has a file; a driver numbers its own statements from Shared on.
type Statement uint16

// Source is where the text of a statement comes from, and what it returns. Names are separated by spaces.
type Source struct {
	File    string // in the folder sql, without ".sql"
	Given   string // the conditions whose lines belong to the statement
	Columns string // the columns, in the order in which callers scan them
	Lists   bool   // the statement is a listing: each call gives further conditions
}

// String returns the name of the statement's file, and its conditions.
func (s Source) String() string { return strings.TrimSpace(s.File + " " + s.Given) }

// Text is the text of a statement, the names of the parameters that it has, and of its columns.
type Text struct {
	SQL     string // of a listing: with all lines that its calls may give
	Params  []string
	Columns []string
}

// Sources are the sources of the statements of a driver, by their numbers.
type Sources []Source

// WithShared adds the sources of the statements below Shared to the sources of a driver's own statements, whose places are their
// numbers. The driver may have other conditions for a shared statement.
func WithShared(own []Source) Sources {
	for s, from := range shared {
		if other := own[s]; other.File != "" {
			from.Given = other.Given
		}
		own[s] = from
	}
	return own
}

// Read reads the text of each statement from the folder sql of files, and completes it with the macros of its folder macros; see package
// sqltext for what the files may have besides SQL. expand is called before the rules; it may be nil. What comes after a statement is cut: SQLite keeps only
// statements prepared that end with the text.
func (all Sources) Read(files embed.FS, rules sqltext.Rules, expand func(sql string) string) ([]Text, error) {
	rules, err := rules.WithMacros(files, "sql/macros")
	if err != nil {
		return nil, err
	}
	texts := make([]Text, len(all))
	for i, from := range all {
		file, err := files.ReadFile("sql/" + from.File + ".sql")
		if err != nil {
			return nil, fmt.Errorf("read statements: %w", err)
		}
		sql := strings.TrimSpace(string(file))
		if expand != nil {
			sql = expand(sql)
		}
		if sql, err = rules.Complete(sql, all.conditions(from, sql)...); err != nil {
			return nil, fmt.Errorf("read statement %v: %w", from, err)
		}
		texts[i] = Text{sql, sqltext.Parameters(sql), rules.Names(from.Columns)}
	}
	return texts, nil
}

// conditions returns the conditions whose lines belong to a statement. A listing also has the lines of the conditions that its
// calls give.
func (all Sources) conditions(of Source, file string) []string {
	given := strings.Fields(of.Given)
	if !of.Lists {
		return given
	}
	other := map[string]bool{} // given by other statements of the file
	for _, from := range all {
		for _, condition := range strings.Fields(from.Given) {
			other[condition] = other[condition] || from.File == of.File
		}
	}
	for _, condition := range sqltext.Conditions(file) {
		if !other[condition] {
			given = append(given, condition)
		}
	}
	return given
}
