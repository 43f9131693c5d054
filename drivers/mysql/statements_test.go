package mysql

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store/sqltext"
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
	b := freshBackend(t)
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
	tx, err := b.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	a := args{}
	for _, name := range b.texts[s].Params {
		switch {
		case strings.Contains(b.texts[s].SQL, "JSON_TABLE(:"+name):
			a[name] = "[]"
		case name == "args" || name == "headers" || name == "bytes":
			a[name] = []byte{}
		case name == "name":
			a[name] = "name"
		case s == insertJobs && slices.Contains([]string{"run_at", "created_at", "slot"}, name):
			a[name] = datetime(time.Now())
		default:
			a[name] = 0
		}
	}
	text, err := b.texts[s].complete(s, a, sqltext.Conditions(b.texts[s].SQL)...)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(t.Context(), text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	return columns, errors.Join(err, rows.Err())
}

func freshBackend(t *testing.T) *Backend {
	url, _ := newDatabase(t, "")
	b, err := Open(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { b.Close() })
	_, err = b.MigrateUp(t.Context())
	must(t, err)
	return b
}

// TestLiteralsHaveACharacterSet: a literal without a character set has the collation of the session, which differs from the
// collation of parameters, so that some servers refuse to compare both.
func TestLiteralsHaveACharacterSet(t *testing.T) {
	plain := regexp.MustCompile(`(?i)(^|[ (,=<>])'(|every:|@|A)'`)
	for s, text := range freshBackend(t).texts {
		if found := plain.FindString(text.SQL); found != "" {
			t.Errorf("%v: %q needs _utf8mb4", sources[s], found)
		}
	}
}
