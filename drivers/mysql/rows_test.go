package mysql

import (
	"slices"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// TestUsualJobs compares the values that inserts leave out with the defaults of the table.
func TestUsualJobs(t *testing.T) {
	b, db := fresh(t)
	must(t, b.db.PingContext(t.Context()))
	_, err := db.ExecContext(t.Context(), "INSERT INTO hourbell_job (run_at, created_at, kind, args) VALUES (UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'k', '{}')")
	must(t, err)
	for column, usual := range usualJob {
		var same bool
		must(t, db.QueryRowContext(t.Context(), "SELECT "+column+" <=> "+usual+" FROM hourbell_job").Scan(&same))
		if !same {
			t.Errorf("the default of %s is not %s", column, usual)
		}
	}
}

// TestAnInsertLeavesOutDefaults looks at the columns of inserts of jobs: a column is there if one of the jobs needs it.
func TestAnInsertLeavesOutDefaults(t *testing.T) {
	url, _ := newDatabase(t, "")
	b := openStore(t, url)
	plain := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "default", Priority: 5, MaxAttempts: 25}}
	grouped, urgent := plain, plain
	grouped.Group, urgent.Priority = "g", 1
	for want, jobs := range map[string][]store.NewJob{
		"run_at created_at args kind":                          {plain, plain},
		"run_at created_at rare args kind group_name":          {plain, grouped},
		"run_at created_at rare args priority kind group_name": {grouped, urgent},
	} {
		text, n, err := b.texts[insertJobs].rows.complete(insertJobs, len(jobs), b.rowBytes, func(i int) args {
			a := args{}
			setJob(a, &jobs[i], jobs[i].RunAt)
			return a
		})
		must(t, err)
		columns, values, _ := strings.Cut(text, "VALUES")
		if got := elements(inParentheses(columns)); n != len(jobs) || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("an insert of %d jobs has the columns %q, want %s", n, got, want)
		}
		for row := range strings.Lines(strings.TrimSpace(values)) {
			if got := elements(inParentheses(row)); len(got) != len(strings.Fields(want)) {
				t.Errorf("a row has the values %q, want %s", got, want)
			}
		}
	}
}
