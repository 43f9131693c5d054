package sqlite

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/store/sqltext/sqltexttest"
)

// TestEveryStatementHasAFile compares the statements with the files in sql/; see sqltexttest.Files.
func TestEveryStatementHasAFile(t *testing.T) {
	statements := make([]sqltexttest.Statement, len(sources))
	for s, from := range sources {
		statements[s] = sqltexttest.Statement{Name: from.String(), File: from.File, Given: from.Given, Lists: from.Lists}
	}
	sqltexttest.Files(t, sqlFiles, statements)
}

// TestStatementsFitTheirCallers runs every statement in a transaction that is rolled
// back, and compares its columns with what it declares, which its callers scan, and its parameters with what callers name.
func TestStatementsFitTheirCallers(t *testing.T) {
	b := openFile(t, newFile(t))
	code := sqltexttest.Strings(t, ".", "../../store/rowwise/sqlrows")
	for s, text := range b.texts {
		s, from := statement(s), sources[s]
		sqltexttest.Given(t, from.String(), text.Params, code)
		columns, err := columnsOf(t, b, s)
		if err != nil {
			t.Errorf("%v: %v", from, err)
		}
		if declared := text.Columns; !slices.Equal(columns, declared) {
			t.Errorf("%v returns %q, but declares %q", from, strings.Join(columns, " "), strings.Join(declared, " "))
		}
	}
}

// columnsOf runs a statement with an empty value for each parameter.
func columnsOf(t *testing.T, b *Backend, s statement) ([]string, error) {
	t.Helper()
	tx, err := b.writer.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	a := args{}
	for _, name := range b.texts[s].Params {
		switch {
		case strings.Contains(b.texts[s].SQL, "_each(:"+name+")"):
			a[name] = "[]"
		case name == "args" || name == "headers" || name == "bytes":
			a[name] = []byte{}
		default:
			a[name] = 0
		}
	}
	rows, err := tx.QueryContext(t.Context(), b.texts[s].SQL, named(a)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	return columns, errors.Join(err, rows.Err())
}
