package main

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/examples/internal/testdb"
)

// TestRun runs the example: the job of the committed transaction runs, and its completion is committed with the row that it
// changes; the job and the row of the transaction that was rolled back never existed.
func TestRun(t *testing.T) {
	dsn := testdb.NewMySQL(t)
	var out strings.Builder
	if err := run(t.Context(), dsn, &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "welcome, ada@example.org\n" {
		t.Errorf("the example prints %q", out.String())
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var accounts, greeted, completed int
	query := "SELECT (SELECT COUNT(*) FROM accounts), (SELECT COUNT(*) FROM accounts WHERE greeted), (SELECT COUNT(*) FROM hourbell_history)"
	if err := db.QueryRowContext(t.Context(), query).Scan(&accounts, &greeted, &completed); err != nil || accounts != 1 || greeted != 1 || completed != 1 {
		t.Errorf("%d accounts, %d greeted, %d completed jobs, want one of each: %v", accounts, greeted, completed, err)
	}
}
