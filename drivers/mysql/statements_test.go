package mysql

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store/sqltext"
)

// TestEveryStatementHasAFile compares the statements with the files in sql/, both ways. Each file
// begins with a comment.
func TestEveryStatementHasAFile(t *testing.T) {
	entries, err := sqlFiles.ReadDir("sql")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		files = append(files, strings.TrimSuffix(entry.Name(), ".sql"))
	}
	sent := map[string]statement{}
	for s := range statementCount {
		if other, twice := sent[s.String()]; twice {
			t.Errorf("statements %d and %d are both %v", other, s, s)
		}
		sent[s.String()] = s
		if !slices.Contains(files, sources[s].file) {
			t.Errorf("statement %d (%v) has no file", s, s)
		}
	}
	for _, file := range files {
		text, err := sqlFiles.ReadFile("sql/" + file + ".sql")
		if err != nil || !strings.HasPrefix(string(text), "-- ") {
			t.Errorf("%s.sql does not begin with a comment, %v", file, err)
		}
		if !slices.ContainsFunc(sources[:], func(from source) bool { return from.file == file }) {
			t.Errorf("%s.sql is no statement", file)
		}
		checkConditions(t, file, string(text))
	}
}

// checkConditions looks for conditions of a file that no statement gives.
func checkConditions(t *testing.T, file, text string) {
	var given []string
	for s, from := range sources {
		if statement(s).lists() && from.file == file {
			return // its calls give the conditions
		}
		if from.file == file {
			given = append(given, strings.Fields(from.given)...)
		}
	}
	for _, condition := range sqltext.Conditions(text) {
		if !slices.Contains(given, condition) {
			t.Errorf("%s.sql: no statement gives the condition %s", file, condition)
		}
	}
}

// TestStatementsFitTheirCallers runs every statement in a transaction that is rolled
// back, and compares its parameters and columns with what its callers pass and scan.
func TestStatementsFitTheirCallers(t *testing.T) {
	b := freshBackend(t)
	for s, text := range b.texts {
		s := statement(s)
		used := slices.Sorted(slices.Values(sqltext.Parameters(text.sql)))
		if passed := slices.Sorted(slices.Values(text.params)); !slices.Equal(passed, used) {
			t.Errorf("%v has the parameters %q, its callers pass %q", s, used, passed)
			continue
		}
		columns, err := columnsOf(t, b, s)
		if err != nil {
			t.Errorf("%v: %v", s, err)
		}
		if scanned := text.columns; !slices.Equal(columns, scanned) {
			t.Errorf("%v returns %q, its callers scan %q", s, strings.Join(columns, " "), strings.Join(scanned, " "))
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
	for _, name := range b.texts[s].params {
		switch {
		case strings.Contains(b.texts[s].sql, "JSON_TABLE(:"+name):
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
	text, err := b.texts[s].complete(s, a, sqltext.Conditions(b.texts[s].sql)...)
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

// TestLiteralsHaveACharacterSet: a literal without a character set has the collation of the session, which differs from that
// of parameters, so that some servers refuse to compare both.
func TestLiteralsHaveACharacterSet(t *testing.T) {
	plain := regexp.MustCompile(`(?i)(^|[ (,=<>])'(|every:|@|A)'`)
	for s, text := range freshBackend(t).texts {
		if found := plain.FindString(text.sql); found != "" {
			t.Errorf("%v: %q needs _utf8mb4", statement(s), found)
		}
	}
}
