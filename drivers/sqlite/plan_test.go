package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// streamPlan is how claims of several streams find their rows.
var streamPlan = []string{
	"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)",
	"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at=? AND id>?)",
	"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at>? AND run_at<?)",
	"SEARCH f USING INTEGER PRIMARY KEY (rowid=?)",
	"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)",
}

// plans pins how statements that run often find their rows. Each line has to
// occur in the plan; full scans of tables that grow, and sorts where there is
// a backlog, must not.
var plans = []struct {
	statement string
	given     string // the conditions of a listing
	want      []string
	sorts     bool // a sort of few rows is in order
}{
	{statement: "find_due_streams", want: []string{
		"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=?)",
		"SEARCH d USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)",
		"SEARCH d USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at<?)",
	}},
	{statement: "claim_jobs", want: []string{
		"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)",
		"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)",
	}},
	{statement: "claim_streams", want: streamPlan},
	{statement: "claim_digested_streams", want: append([]string{
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at<?)",
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at=? AND id>?)",
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at>? AND run_at<?)",
	}, streamPlan...)},
	{statement: "find_undigested", want: []string{"SEARCH j USING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)"}},
	{statement: "update_digests", want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "find_unique_job", want: []string{"SEARCH hourbell_job USING COVERING INDEX hourbell_job_unique (kind=? AND unique_key=?)"}},
	{statement: "find_key_holders", want: []string{
		"SEARCH h USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH j USING COVERING INDEX hourbell_job_unique (kind=? AND unique_key=?)",
	}},
	{statement: "revive_jobs", want: []string{"SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "find_next_due", want: []string{
		"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=?)",
		"SEARCH j USING COVERING INDEX hourbell_job_ready (queue=? AND kind>?)",
		"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at>?)",
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at>?)",
	}},
	{statement: "lock_claims", want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "check_recorded", want: []string{"SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "end_jobs", want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "delete_ended_jobs", want: []string{"SEARCH hourbell_job USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "delete_cancels", want: []string{"SEARCH hourbell_cancel_request USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "requeue_jobs", want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "insert_attempts", want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "list_claims", want: []string{"SEARCH j USING INDEX hourbell_job_running (node=?)"}, sorts: true},
	{statement: "lock_held_jobs", want: []string{"SEARCH j USING INDEX hourbell_job_running (node=?)"}, sorts: true},
	{statement: "lock_failing", want: []string{"SEARCH f USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "lock_waiting_jobs", want: []string{"SEARCH w EXISTS USING INDEX hourbell_job_lane (schedule_id=?)"}},
	{statement: "release_jobs", want: []string{"SEARCH hourbell_job USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH w USING INDEX hourbell_job_lane (schedule_id=?)", "SEARCH j USING INDEX hourbell_job_schedule (schedule_id=?)"}},
	{statement: "count_failing", want: []string{"SEARCH f USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "reset_failures", want: []string{"SEARCH hourbell_failing USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "end_failing", want: []string{"SEARCH hourbell_failing USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "list_queues", want: []string{
		"USING COVERING INDEX hourbell_job_ready", "USING COVERING INDEX hourbell_job_running", "USING COVERING INDEX hourbell_job_waiting",
	}},
	{statement: "find_due_schedules", want: []string{"SEARCH hourbell_schedule USING INDEX hourbell_schedule_due (next_at>? AND next_at<?)"}},
	{statement: "find_due_schedules_named", want: []string{"SEARCH hourbell_schedule USING INDEX sqlite_autoindex_hourbell_schedule_1 (name=?)"}, sorts: true},
	{statement: "find_next_schedule", want: []string{"SEARCH hourbell_schedule USING COVERING INDEX hourbell_schedule_due (next_at>?)"}},
	{statement: "lock_due_schedules", want: []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "lock_live_jobs", want: []string{"SEARCH j USING INDEX hourbell_job_schedule (schedule_id=?)"}, sorts: true},
	{statement: "find_fired_slots", want: []string{"SEARCH r USING COVERING INDEX hourbell_slot_fired (schedule_id=? AND slot=?)"}},
	{statement: "find_newest_slots", want: []string{"SEARCH n USING COVERING INDEX hourbell_slot_schedule (schedule_id=?)"}},
	{statement: "advance_schedules", want: []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "extend_slots", want: []string{"SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "lock_schedules", want: []string{"SEARCH hourbell_schedule USING INDEX sqlite_autoindex_hourbell_schedule_1 (name=?)"}},
	{statement: "lock_calendar_users", want: []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH u USING PRIMARY KEY (calendar=?)"}},
	{statement: "revise_schedules", want: []string{"SEARCH hourbell_schedule USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH u USING PRIMARY KEY (calendar=?)"}},
	{statement: "delete_calendar_uses", want: []string{"SEARCH hourbell_calendar_use USING COVERING INDEX hourbell_calendar_use_schedule (schedule_id=?)"}},
	{statement: "insert_calendar_uses", want: []string{"SEARCH s USING COVERING INDEX sqlite_autoindex_hourbell_schedule_1 (name=?)"}},
	{statement: "lock_owned_schedules", want: []string{"SEARCH hourbell_schedule USING INDEX hourbell_schedule_owner (owner=?)"}, sorts: true},
	{statement: "prune_completed_jobs", want: []string{"SEARCH hourbell_history USING COVERING INDEX hourbell_history_finished (state=? AND finished_at<?)"}},
	{statement: "prune_failed_jobs", want: []string{"SEARCH hourbell_history USING COVERING INDEX hourbell_history_finished (state=? AND finished_at<?)"}},
	{statement: "prune_slots", want: []string{"SEARCH hourbell_slot USING COVERING INDEX hourbell_slot_recorded (recorded_at<?)"}},
	{statement: "list_jobs", want: []string{"MERGE (UNION ALL)", "SEARCH j USING INTEGER PRIMARY KEY (rowid<?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid<?)"}},
	{statement: "list_jobs", given: "narrowed", want: []string{"MERGE (UNION ALL)", "SEARCH j USING INTEGER PRIMARY KEY (rowid<?)"}, sorts: true},
	{statement: "list_jobs", given: "ids", want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "list_jobs", given: "schedule", want: []string{"SEARCH j USING INDEX hourbell_job_schedule (schedule_id=?", "SEARCH h USING INDEX hourbell_history_schedule (schedule_id=?"}},
	{statement: "list_attempts", want: []string{"SEARCH a USING INDEX sqlite_autoindex_hourbell_attempt_1 (job_id=?)"}, sorts: true},
	{statement: "list_schedules", given: "living", want: []string{"SEARCH hourbell_schedule USING INDEX sqlite_autoindex_hourbell_schedule_1 (name>?)", "SEARCH f USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: "list_slots", want: []string{"SCAN r USING INDEX hourbell_slot_time"}},
	{statement: "list_slots", given: "before", want: []string{"SEARCH r USING INDEX hourbell_slot_time (slot<?)"}},
	{statement: "list_slots", given: "schedule", want: []string{"SEARCH r USING INDEX hourbell_slot_schedule (schedule_id=?)"}},
}

// TestPlans explains on an empty file, on a filled one, and on one whose owner
// ran ANALYZE.
func TestPlans(t *testing.T) {
	b := openFile(t, newFile(t), Synchronous("NORMAL"))
	t.Run("empty", func(t *testing.T) { checkPlans(t, b) })
	fill(t, b)
	t.Run("filled", func(t *testing.T) { checkPlans(t, b) })
	if _, err := b.writer.Exec("ANALYZE"); err != nil {
		t.Fatal(err)
	}
	b.reader.SetMaxIdleConns(0) // new connections read the statistics
	t.Run("analyzed", func(t *testing.T) { checkPlans(t, b) })
}

func checkPlans(t *testing.T, b *Backend) {
	for _, p := range plans {
		text := b.texts[p.statement]
		if strings.HasPrefix(p.statement, "list_") {
			text = pick(text, p.given)
		}
		plan := strings.Join(explainPlan(t, b, text), "\n")
		for _, line := range p.want {
			if !strings.Contains(plan, line) {
				t.Errorf("%s %s: the plan lacks %q:\n%s", p.statement, p.given, line, plan)
			}
		}
		if !p.sorts && strings.Contains(plan, "USE TEMP B-TREE FOR ORDER BY") {
			t.Errorf("%s %s: the plan sorts:\n%s", p.statement, p.given, plan)
		}
		for line := range strings.Lines(plan) {
			if fullScan(strings.TrimSpace(line)) {
				t.Errorf("%s %s: the plan scans a whole table:\n%s", p.statement, p.given, plan)
			}
		}
	}
}

// fullScan reports whether a line of a plan scans a whole table.
func fullScan(line string) bool {
	alias, found := strings.CutPrefix(line, "SCAN ")
	if !found {
		return false
	}
	switch alias {
	case "hourbell_job", "hourbell_history", "hourbell_schedule", "hourbell_slot", "hourbell_attempt", "hourbell_failing", "j", "h", "s", "r", "n", "a", "f":
		return true
	}
	return false
}

// fill brings in some thousand rows of everything.
func fill(t *testing.T, b *Backend) {
	t.Helper()
	node := register(t, b, time.Hour)
	insertPlain(t, b, 3_000)
	for range 2 {
		jobs := claimPlain(t, b, node, 1_000)
		outcomes := make([]store.Outcome, 500)
		for i := range outcomes {
			outcomes[i] = store.Outcome{ID: jobs[i].ID, Token: jobs[i].Token, Result: store.Result(i % 4), Error: "e", Delay: time.Hour}
		}
		if _, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: outcomes}); err != nil {
			t.Fatal(err)
		}
	}
	var puts []store.PutSchedule
	for i := range 2_000 {
		puts = append(puts, store.PutSchedule{Name: fmt.Sprint("s", i), Definition: []byte("{}")})
	}
	if _, err := b.PutSchedules(t.Context(), store.PutSchedulesRequest{Owner: "o", Schedules: puts}); err != nil {
		t.Fatal(err)
	}
	fireAll(t, b, time.Now().Add(time.Hour))
}

// fireAll fires every schedule once.
func fireAll(t *testing.T, b *Backend, next time.Time) []store.FiredSlot {
	t.Helper()
	due, err := b.DueSchedules(t.Context(), store.DueSchedulesRequest{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	var firings []store.Firing
	for _, s := range due.Schedules {
		firings = append(firings, store.Firing{
			Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, NewMark: s.NextAt, NewNextAt: next,
			Jobs: []store.NewJob{{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 5, Slot: s.NextAt, Origin: store.OriginSchedule}},
		})
	}
	res, err := b.Fire(t.Context(), store.FireRequest{Firings: firings})
	if err != nil {
		t.Fatal(err)
	}
	return res.Fired
}

// explainPlan returns the lines of a statement's plan.
func explainPlan(t *testing.T, b *Backend, text string) []string {
	t.Helper()
	a := args{}
	for _, name := range parameters(text) {
		a[name] = "[1]"
	}
	rows, err := b.reader.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, named(a)...)
	var lines []string
	err = eachRow(rows, err, func(r row) error {
		var id, parent, unused int
		var detail string
		err := r.Scan(&id, &parent, &unused, &detail)
		lines = append(lines, detail)
		return err
	})
	if err != nil {
		t.Fatalf("explain %s: %v", text, err)
	}
	return lines
}

// parameters returns the names after colons in a statement.
func parameters(text string) []string {
	var names []string
	for _, part := range strings.Split(text, ":")[1:] {
		end := strings.IndexFunc(part, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
		if end < 0 {
			end = len(part)
		}
		if end > 0 {
			names = append(names, part[:end])
		}
	}
	return names
}

// SQLite plans a prepared statement again whenever another value is bound to a
// bare parameter in LIMIT; see claim_jobs.sql.
func TestLimitsDoNotReplan(t *testing.T) {
	texts, err := readStatements()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		if strings.Contains(text, "LIMIT :") {
			t.Errorf("%s: write LIMIT +:name", name)
		}
	}
}
