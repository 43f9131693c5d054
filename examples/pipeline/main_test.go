package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRun runs the pipeline, and the pipeline with an export that fails: the report is not started, and the last job runs.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		rows map[string]int
		want string
	}{
		{map[string]int{"north": 12, "south": 30}, "report: 42 rows of 2 shops\ncleaned up\n"},
		{map[string]int{"north": 12}, "failed: the shop south has no rows\ncleaned up\n"},
	} {
		var out strings.Builder
		if err := run(t.Context(), filepath.Join(t.TempDir(), "pipeline.db"), c.rows, &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("the example prints %q, want %q", out.String(), c.want)
		}
	}
}
