// Package sqltexttest has the tests of statements that each driver with package sqltext runs. Users of Hourbell do not need
// this package.
package sqltexttest

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/store/sqltext"
)

// Statement is a statement of a driver.
type Statement struct {
	Name  string // unique among the statements
	File  string // in the folder sql, without .sql
	Given string // the conditions that the statement gives, separated by spaces
	Lists bool   // calls give further conditions
}

// Files compares statements with the files in the folder sql, both ways: each statement has a name of its own and a file; each
// file belongs to a statement, begins with a comment, and has only conditions that a statement gives. Each macro in the folder sql/macros
// begins with a comment, and is used.
func Files(t *testing.T, files embed.FS, statements []Statement) {
	t.Helper()
	entries, err := files.ReadDir("sql")
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		unused[strings.TrimSuffix(entry.Name(), ".sql")] = true
	}
	users := map[string][]Statement{}
	names := map[string]bool{}
	for _, s := range statements {
		if names[s.Name] {
			t.Errorf("two statements have the name %s", s.Name)
		}
		names[s.Name] = true
		if users[s.File] == nil && !unused[s.File] {
			t.Errorf("statement %s has no file", s.Name)
		}
		delete(unused, s.File)
		users[s.File] = append(users[s.File], s)
	}
	for file := range unused {
		t.Errorf("%s.sql is no statement", file)
	}
	for file, by := range users {
		text, err := files.ReadFile("sql/" + file + ".sql")
		if err != nil {
			t.Error(err)
		}
		checkConditions(t, file, string(text), by)
	}
	checkMacros(t, files)
}

// checkMacros looks for macros that no file uses.
func checkMacros(t *testing.T, files embed.FS) {
	t.Helper()
	var all strings.Builder
	var macros []string
	for _, folder := range []string{"sql", "sql/macros"} {
		names, err := fs.Glob(files, folder+"/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := files.ReadFile(name)
			if err != nil || !strings.HasPrefix(string(text), "-- ") {
				t.Errorf("%s does not begin with a comment (%v)", name, err)
			}
			all.Write(text)
		}
		macros = names
	}
	for _, name := range macros {
		macro := "{" + strings.TrimSuffix(path.Base(name), ".sql")
		if !strings.Contains(all.String(), macro+"(") && !strings.Contains(all.String(), macro+"}") {
			t.Errorf("no file uses %s", name)
		}
	}
}

// checkConditions looks for conditions of a file that no statement gives.
func checkConditions(t *testing.T, file, text string, by []Statement) {
	t.Helper()
	var given []string
	for _, s := range by {
		if s.Lists {
			return
		}
		given = append(given, strings.Fields(s.Given)...)
	}
	for _, condition := range sqltext.Conditions(text) {
		if !slices.Contains(given, condition) {
			t.Errorf("%s.sql: no statement gives the condition %s", file, condition)
		}
	}
}
