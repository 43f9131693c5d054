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
	url := testdb.New(t)
	var out strings.Builder
	if err := run(t.Context(), url, &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "welcome, ada@example.org\n" {
		t.Errorf("the example prints %q", out.String())
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var accounts, greeted, completed int
	query := "SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM accounts WHERE greeted), (SELECT count(*) FROM hourbell.history)"
	if err := db.QueryRowContext(t.Context(), query).Scan(&accounts, &greeted, &completed); err != nil || accounts != 1 || greeted != 1 || completed != 1 {
		t.Errorf("%d accounts, %d greeted, %d completed jobs, want one of each: %v", accounts, greeted, completed, err)
	}
}
