package postgres

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store/sqltext/sqltexttest"
)

// TestEveryStatementHasAFile compares the statements with the files in sql/; see sqltexttest.Files.
func TestEveryStatementHasAFile(t *testing.T) {
	statements := make([]sqltexttest.Statement, len(sources))
	for s, from := range sources {
		statements[s] = sqltexttest.Statement{Name: statement(s).String(), File: from.file, Given: from.given}
	}
	sqltexttest.Files(t, sqlFiles, statements)
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
