package postgres

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

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
	for _, from := range sources {
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

// ownClock are the files of statements that read the server's clock although their requests may have a
// Now: they serve optional abilities, examine the server, or only prepare a transaction.
var ownClock = []string{"enter_transaction", "estimate_groups", "estimate_kinds", "estimate_queues", "find_behind_cursors", "find_old_transaction"}

// TestStatementsTakeTheInstantOfTheirRequest checks that the server's clock is read only where a
// request has no Now.
func TestStatementsTakeTheInstantOfTheirRequest(t *testing.T) {
	clock := regexp.MustCompile(`(:now::timestamptz, )?\b(now|\w+_timestamp)\(\)`)
	for _, from := range sources {
		if slices.Contains(ownClock, from.file) {
			continue
		}
		text, err := sqlFiles.ReadFile("sql/" + from.file + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range clock.FindAllString(string(text), -1) {
			if !strings.HasPrefix(found, ":now") {
				t.Errorf("%s.sql reads the server's clock without coalesce(:now::timestamptz, …)", from.file)
			}
		}
	}
}

// TestStatementsFitTheirCallers prepares every statement and compares its parameters
// and columns with what its callers pass and scan. A parameter's name means one type, or
// an array of it, everywhere.
func TestStatementsFitTheirCallers(t *testing.T) {
	b := fresh(t, MaxConns(2))
	conn, err := b.pool.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	types := map[string]string{}
	for s, text := range b.sql {
		prepared, err := conn.Conn().Prepare(t.Context(), "", text)
		if err != nil {
			t.Errorf("%v: %v", statement(s), err)
			continue
		}
		params := rulesOf(DefaultSchema).Names(sources[s].params)
		if len(params) != len(prepared.ParamOIDs) {
			t.Errorf("%v has %d parameters, its callers pass %q", statement(s), len(prepared.ParamOIDs), params)
			continue
		}
		for i, name := range params {
			kind := strings.TrimPrefix(typeName(conn.Conn(), prepared.ParamOIDs[i]), "_")
			if other := types[name]; other != "" && other != kind {
				t.Errorf("%v: parameter %s is a %s here and a %s elsewhere", statement(s), name, kind, other)
			}
			types[name] = kind
		}
		var columns []string
		for _, field := range prepared.Fields {
			columns = append(columns, field.Name)
		}
		if want := rulesOf(DefaultSchema).Names(sources[s].columns); !slices.Equal(columns, want) {
			t.Errorf("%v returns %q, its callers scan %q", statement(s), strings.Join(columns, " "), strings.Join(want, " "))
		}
	}
}

func typeName(conn *pgx.Conn, oid uint32) string {
	if kind, known := conn.TypeMap().TypeForOID(oid); known {
		return kind.Name
	}
	return fmt.Sprint("type ", oid)
}
