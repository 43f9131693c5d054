package main

import (
	"strings"
	"testing"

	"github.com/hourbell/hourbell/examples/internal/testdb"
)

// TestRun runs the example: the job of the committed transaction runs, and the job of the
// transaction that was rolled back never existed.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), testdb.New(t), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "welcome, ada@example.org\n" {
		t.Errorf("the example prints %q", out.String())
	}
}
