package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/sqltext"
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
	statement statement
	given     string // the conditions of a listing
	want      []string
	sorts     bool // a sort of few rows is in order
	walks     bool // a walk over a whole table is in order
}{
	{statement: findDueStreams, want: []string{
		"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=?)",
		"SEARCH d USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)",
		"SEARCH d USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at<?)",
	}},
	{statement: claimJobs, want: []string{
		"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)",
		"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)",
	}},
	{statement: claimStreams, want: streamPlan},
	{statement: claimDigestedStreams, want: append([]string{
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at<?)",
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at=? AND id>?)",
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at>? AND run_at<?)",
	}, streamPlan...)},
	{statement: agedStreams, want: streamPlan, sorts: true}, // the jobs that it takes
	{statement: agedDigestedStreams, want: append([]string{
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at=? AND id>?)",
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at>? AND run_at<?)",
	}, streamPlan...), sorts: true},
	{statement: limitedJobs, want: []string{
		"SEARCH hourbell_job USING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)",
		"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)",
	}},
	{statement: lockNewLaneJobs, sorts: true, want: []string{ // of the jobs that are read
		"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)",
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at<?)",
		"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)",
	}},
	{statement: findOvertakingJobs, sorts: true, want: []string{ // of the jobs that it finds
		"SEARCH hourbell_job USING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)",
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at<?)",
		"SEARCH l USING INDEX sqlite_autoindex_hourbell_lane_1 (limit_id=? AND key=?)",
	}},
	{statement: findUndigested, want: []string{"SEARCH j USING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at<?)"}},
	{statement: updateDigests, want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: findUniqueJobs, want: []string{"SEARCH j USING COVERING INDEX hourbell_job_unique (kind=? AND unique_key=?)"}},
	{statement: sqlrows.FindKept, want: []string{
		"SEARCH u USING COVERING INDEX hourbell_key_hold_job (job_id=? AND until>?)", "SEARCH j USING INTEGER PRIMARY KEY (rowid=?)",
		"SEARCH e EXISTS USING PRIMARY KEY (on_id=?)",
	}},
	{statement: sqlrows.FindKeyHolders, want: []string{
		"SEARCH h USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH j USING COVERING INDEX hourbell_job_unique (kind=? AND unique_key=?)",
	}},
	{statement: sqlrows.ReviveJobs, want: []string{"SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.FindNextDue, want: []string{
		"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=?)",
		"SEARCH j USING COVERING INDEX hourbell_job_ready (queue=? AND kind>?)",
		"SEARCH hourbell_job USING COVERING INDEX hourbell_job_ready (queue=? AND kind=? AND digest=? AND priority=? AND run_at>?)",
		"SEARCH hourbell_job USING INDEX hourbell_job_digested (queue=? AND kind=? AND priority=? AND run_at>?)",
	}},
	{statement: lockClaims, want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.CheckRecorded, want: []string{"SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.EndJobs, want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.EndJobsWithResults, want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.DeleteEndedJobs, want: []string{"SEARCH hourbell_job USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.DeleteCancels, want: []string{"SEARCH hourbell_cancel_request USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.RequeueJobs, want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.InsertAttempts, want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.PruneAttempts, want: []string{
		"SEARCH a USING COVERING INDEX sqlite_autoindex_hourbell_attempt_1 (job_id=? AND token<?)",
		"SEARCH t USING COVERING INDEX sqlite_autoindex_hourbell_attempt_1 (job_id=?)",
	}},
	{statement: sqlrows.ListClaims, want: []string{"SEARCH j USING INDEX hourbell_job_running (node=?)"}, sorts: true},
	{statement: sqlrows.LockHeldJobs, want: []string{"SEARCH j USING INDEX hourbell_job_running (node=?)"}, sorts: true},
	{statement: sqlrows.LockFailing, want: []string{"SEARCH f USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: lockWaitingJobs, want: []string{
		"SEARCH w USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH f USING INDEX hourbell_job_serial_group (schedule_id=?)", "SEARCH j USING INDEX hourbell_job_schedule (schedule_id=?)",
	}},
	{statement: sqlrows.ReleaseJobs, want: []string{"SEARCH hourbell_job USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.CountFailing, want: []string{"SEARCH f USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.ResetFailures, want: []string{"SEARCH hourbell_failing USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.EndFailing, want: []string{"SEARCH hourbell_failing USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.ListQueues, want: []string{
		"USING COVERING INDEX hourbell_job_ready", "USING COVERING INDEX hourbell_job_running", "USING COVERING INDEX hourbell_job_waiting",
	}},
	{statement: sqlrows.ListKinds, want: []string{
		"USING COVERING INDEX hourbell_job_ready", "USING INDEX hourbell_job_running",
	}},
	{statement: sqlrows.FindDueSchedules, want: []string{"SEARCH hourbell_schedule USING INDEX hourbell_schedule_due (next_at>? AND next_at<?)"}},
	{statement: sqlrows.FindDueSchedulesNamed, want: []string{"SEARCH hourbell_schedule USING INDEX sqlite_autoindex_hourbell_schedule_1 (name=?)"}, sorts: true},
	{statement: sqlrows.FindNextSchedule, want: []string{"SEARCH hourbell_schedule USING COVERING INDEX hourbell_schedule_due (next_at>?)"}},
	{statement: sqlrows.LockDueSchedules, want: []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.LockLiveJobs, want: []string{"SEARCH j USING INDEX hourbell_job_schedule (schedule_id=?)"}, sorts: true},
	{statement: sqlrows.FindFiredSlots, want: []string{"SEARCH r USING COVERING INDEX hourbell_slot_fired (schedule_id=? AND slot=?)"}},
	{statement: sqlrows.FindNewestSlots, want: []string{"SEARCH n USING COVERING INDEX hourbell_slot_schedule (schedule_id=?)"}},
	{statement: sqlrows.AdvanceSchedules, want: []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.ExtendSlots, want: []string{"SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.LockSchedules, want: []string{"SEARCH hourbell_schedule USING INDEX sqlite_autoindex_hourbell_schedule_1 (name=?)"}},
	{statement: sqlrows.LockCalendarUsers, want: []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH u USING PRIMARY KEY (calendar=?)"}},
	{statement: sqlrows.ReviseSchedules, want: []string{"SEARCH hourbell_schedule USING COVERING INDEX sqlite_autoindex_hourbell_schedule_1 (name=?)"}},
	{statement: sqlrows.DeleteCalendarUses, want: []string{"SEARCH hourbell_calendar_use USING COVERING INDEX hourbell_calendar_use_schedule (schedule_id=?)"}},
	{statement: sqlrows.InsertCalendarUses, want: []string{"SEARCH s USING COVERING INDEX sqlite_autoindex_hourbell_schedule_1 (name=?)"}},
	{statement: sqlrows.LockOwnedSchedules, want: []string{"SEARCH hourbell_schedule USING INDEX hourbell_schedule_owner (owner=?)"}, sorts: true},
	{statement: pruneCompletedJobs, want: []string{"SEARCH h USING INDEX hourbell_history_finished (state=? AND <expr>=? AND finished_at<?)"}},
	{statement: pruneFailedJobs, want: []string{"SEARCH h USING INDEX hourbell_history_finished (state=? AND <expr>=? AND finished_at<?)"}},
	{statement: pruneKeptJobs, want: []string{"SEARCH h USING INDEX hourbell_history_keep (keep_until<?)"}},
	{statement: sqlrows.PruneSlots, want: []string{"SEARCH hourbell_slot USING COVERING INDEX hourbell_slot_recorded (recorded_at<?)"}},
	{statement: sqlrows.ListStats, want: []string{"SEARCH hourbell_stats USING PRIMARY KEY (span=? AND at>? AND at<?)"}},
	{statement: sqlrows.PruneStats, want: []string{"SEARCH hourbell_stats USING PRIMARY KEY (span=? AND at<?)"}},
	{statement: sqlrows.ListJobs, want: []string{"MERGE (UNION ALL)", "SEARCH j USING INTEGER PRIMARY KEY (rowid<?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid<?)"}},
	{statement: sqlrows.ListJobs, given: "batch", want: []string{"SEARCH j USING INDEX hourbell_job_of_batch (batch=? AND id<?)", "SEARCH h USING INDEX hourbell_history_of_batch (batch=? AND id<?)"}},
	{statement: sqlrows.FindDecidedEdges, want: []string{"SEARCH e USING INDEX hourbell_edge_job (job_id=?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"}, walks: true},
	{statement: sqlrows.ListLinks, want: []string{"SEARCH hourbell_edge USING INDEX hourbell_edge_job (job_id=?)", "SEARCH hourbell_edge USING PRIMARY KEY (on_id=?)"}, walks: true, sorts: true},
	{statement: sqlrows.LockBatchJob, want: []string{"SEARCH hourbell_job USING COVERING INDEX hourbell_job_of_batch (batch=?)"}},
	{statement: sqlrows.ListJobs, given: "kind first_of_kind", want: []string{
		"MERGE (UNION ALL)", "SEARCH j USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "SEARCH r USING COVERING INDEX hourbell_job_ready (queue=? AND kind=?)",
	}},
	{statement: sqlrows.ListJobs, given: "narrowed", want: []string{"MERGE (UNION ALL)", "SEARCH j USING INTEGER PRIMARY KEY (rowid<?)"}, sorts: true},
	{statement: sqlrows.ListJobs, given: "ids", want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.ListJobs, given: "schedule", want: []string{"SEARCH j USING INDEX hourbell_job_schedule (schedule_id=?", "SEARCH h USING INDEX hourbell_history_schedule (schedule_id=?"}},
	{statement: sqlrows.ListJobs, given: "hosts", want: []string{"(name>? AND name<?)", "SEARCH j USING INDEX hourbell_job_schedule (schedule_id=?", "SEARCH h USING INDEX hourbell_history_schedule (schedule_id=?"}, sorts: true},
	{statement: sqlrows.ListJobs, given: "group", want: []string{"SEARCH j USING INDEX hourbell_job_group (group_name=?", "SEARCH h USING INDEX hourbell_history_group (group_name=?"}, sorts: true},
	{statement: sqlrows.ListJobs, given: "key", want: []string{"SEARCH j USING INDEX hourbell_job_key (job_key=?", "SEARCH h USING INDEX hourbell_history_key (job_key=?"}, sorts: true},
	{statement: sqlrows.ListJobs, given: "unique", want: []string{"SEARCH h USING INDEX hourbell_history_unique (unique_key=?"}, sorts: true},
	{statement: sqlrows.ListJobs, given: "states kind created_since from_errors", want: []string{
		"MERGE (UNION ALL)", "SEARCH j USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid=?)",
		"SEARCH a USING INDEX sqlite_autoindex_hourbell_attempt_1 (job_id>? AND job_id<?)", "SEARCH f USING INDEX hourbell_history_failed (id>? AND id<?)",
	}, sorts: true},
	{statement: sqlrows.ListJobs, given: "after kind", want: []string{"MERGE (UNION ALL)", "SEARCH j USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}},
	{statement: sqlrows.ListJobsOldestFirst, given: "after", want: []string{"MERGE (UNION ALL)", "SEARCH j USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}},
	{statement: sqlrows.ListJobsOldestFirst, given: "kind unique", want: []string{"SEARCH j USING INDEX hourbell_job_unique (kind=? AND unique_key=?"}},
	{statement: sqlrows.ListJobs, given: "states failures finished_since", want: []string{"MERGE (UNION ALL)", "SEARCH h USING INDEX hourbell_history_failed (id<?)"}},
	{statement: sqlrows.MatchJobs, given: "ids states error", want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.UpdateJobs, want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.CountJobs, given: "ids kind before from_errors", want: []string{"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH h USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.CountJobs, given: "states finished_since", want: []string{"SEARCH h USING COVERING INDEX hourbell_history_finished (state=? AND <expr>=? AND finished_at>?)"}, walks: true},
	{statement: sqlrows.ListAttempts, want: []string{"SEARCH a USING INDEX sqlite_autoindex_hourbell_attempt_1 (job_id=?)"}, sorts: true},
	{statement: sqlrows.ListSchedules, given: "living", want: []string{"SEARCH hourbell_schedule USING INDEX sqlite_autoindex_hourbell_schedule_1 (name>?)", "SEARCH f USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.LockFollowers, want: []string{"SEARCH p USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH c USING PRIMARY KEY (predecessor=?)", "SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"}, sorts: true},
	{statement: sqlrows.FindLastEnds, want: []string{"SEARCH e USING PRIMARY KEY (schedule_id=?)"}},
	{statement: sqlrows.UpdateNext, want: []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.FindDueEnds, want: []string{"SEARCH e USING INDEX hourbell_chain_end_open (schedule_id=?)"}, sorts: true},
	{statement: sqlrows.FindFollowedEnds, want: []string{"SEARCH e USING COVERING INDEX hourbell_chain_end_job (schedule_id=? AND job_id=?)", "SEARCH r USING COVERING INDEX hourbell_slot_fired (schedule_id=? AND slot=?)"}},
	{statement: sqlrows.CloseChainEnds, want: []string{"SEARCH e USING INDEX hourbell_chain_end_open (schedule_id=?)", "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.AwaitChainEnds, want: []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH e USING COVERING INDEX hourbell_chain_end_open (schedule_id=?)"}},
	{statement: sqlrows.PruneChainEnds, want: []string{"hourbell_chain_end_slot (slot<?)"}},
	{statement: sqlrows.FindChain, want: []string{"SEARCH d USING INDEX sqlite_autoindex_hourbell_schedule_1 (name=?)", "SEARCH c USING COVERING INDEX hourbell_chain_schedule (schedule_id=?)"}},
	{statement: sqlrows.DeleteChain, want: []string{"hourbell_chain_schedule (schedule_id=?)"}},
	{statement: sqlrows.MarkPredecessors, want: []string{"SEARCH hourbell_schedule USING INTEGER PRIMARY KEY (rowid=?)", "sqlite_autoindex_hourbell_schedule_1 (name=?)", "(name>? AND name<?)", "SEARCH c USING PRIMARY KEY (predecessor=?)"}},
	{statement: sqlrows.MarkScheduleJobs, want: []string{"SEARCH hourbell_job USING INDEX hourbell_job_schedule (schedule_id=?)", "SEARCH s USING INDEX sqlite_autoindex_hourbell_schedule_1 (name=?)", "(name>? AND name<?)"}},
	{statement: sqlrows.FindScheduleRelease, want: []string{"SEARCH p USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH c USING PRIMARY KEY (predecessor=?)", "SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"}, walks: true},
	{statement: sqlrows.ListEvents, want: []string{"SEARCH e USING INTEGER PRIMARY KEY (rowid>?)"}},
	{statement: sqlrows.ListNewestEvents, want: []string{"SEARCH e USING INTEGER PRIMARY KEY (rowid>?)"}},
	{statement: pruneEvents, want: []string{"SCAN hourbell_event"}, walks: true},
	{statement: sqlrows.ListAudit, want: []string{"SCAN a USING INDEX hourbell_audit_at"}},
	{statement: sqlrows.ListAuditSubjects, want: []string{"SEARCH hourbell_audit_subject USING PRIMARY KEY (entry_id=?)"}},
	{statement: sqlrows.ListAudit, given: "since", want: []string{"SEARCH a USING INDEX hourbell_audit_at (at>?)"}},
	{statement: sqlrows.ListAudit, given: "before", want: []string{"SEARCH a USING INDEX hourbell_audit_at (at<?)"}},
	{statement: sqlrows.ListAudit, given: "actor", want: []string{"SEARCH a USING INDEX hourbell_audit_actor (actor=?)"}},
	{statement: sqlrows.ListAudit, given: "action", want: []string{"SEARCH a USING INDEX hourbell_audit_action (action=?)"}},
	{statement: sqlrows.ListAudit, given: "subject", want: []string{"SEARCH a USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH s USING COVERING INDEX hourbell_audit_subject_name (kind=? AND name=?)"}, sorts: true},
	{statement: sqlrows.LockOldAudit, want: []string{"SEARCH hourbell_audit USING COVERING INDEX hourbell_audit_at (at<?)"}},
	{statement: sqlrows.UpdateAudit, want: []string{"SEARCH hourbell_audit USING INTEGER PRIMARY KEY (rowid=?)"}},
	{statement: sqlrows.DeleteAuditSubjects, want: []string{"SEARCH hourbell_audit_subject USING PRIMARY KEY (entry_id=?)"}},
	{statement: sqlrows.ListSchedules, given: "failed", want: []string{"SCAN x USING INDEX hourbell_history_failed", "SEARCH hourbell_schedule USING INTEGER PRIMARY KEY (rowid=?)"}, sorts: true},
	{statement: sqlrows.ListSlots, want: []string{"SCAN r USING INDEX hourbell_slot_time"}},
	{statement: sqlrows.ListSlots, given: "from", want: []string{"SEARCH r USING INDEX hourbell_slot_time (slot>?)", "SEARCH x USING INDEX hourbell_slot_spans (last>?)"}, sorts: true},
	{statement: sqlrows.ListSlots, given: "before", want: []string{"SEARCH r USING INDEX hourbell_slot_time (slot<?)"}},
	{statement: sqlrows.ListSlots, given: "schedule", want: []string{"SEARCH r USING INDEX hourbell_slot_schedule (schedule_id=?)"}},
	{statement: sqlrows.ListSlots, given: "number", want: []string{"SEARCH r USING INDEX hourbell_slot_schedule (schedule_id=?)", "SEARCH h USING INTEGER PRIMARY KEY", "SEARCH j USING INTEGER PRIMARY KEY"}},
	{statement: sqlrows.ListSlots, given: "hosts", want: []string{"SEARCH r USING INDEX hourbell_slot_schedule (schedule_id=?)", "(name>? AND name<?)"}, sorts: true},
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
		text := b.texts[p.statement].SQL
		if sources[p.statement].Lists {
			text = sqltext.Pick(text, strings.Fields(sources[p.statement].Given+" "+p.given)...)
		}
		plan := strings.Join(explainPlan(t, b, text), "\n")
		for _, line := range p.want {
			if !strings.Contains(plan, line) {
				t.Errorf("%v %s: the plan lacks %q:\n%s", sources[p.statement], p.given, line, plan)
			}
		}
		if !p.sorts && strings.Contains(plan, "USE TEMP B-TREE FOR ORDER BY") {
			t.Errorf("%v %s: the plan sorts:\n%s", sources[p.statement], p.given, plan)
		}
		for line := range strings.Lines(plan) {
			if !p.walks && fullScan(strings.TrimSpace(line)) {
				t.Errorf("%v %s: the plan scans a whole table:\n%s", sources[p.statement], p.given, plan)
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
	case "hourbell_job", "hourbell_history", "hourbell_schedule", "hourbell_slot", "hourbell_attempt", "hourbell_failing", "hourbell_chain", "hourbell_chain_end", "j", "h", "s", "r", "n", "a", "f", "p", "c", "d", "e":
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
		put := store.PutSchedule{Name: fmt.Sprint("s", i), Definition: []byte("{}")}
		if i > 0 {
			put.After = []string{fmt.Sprint("s", i/2)}
		}
		puts = append(puts, put)
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
			Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 5}, Slot: s.NextAt, Origin: store.OriginSchedule}},
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
	for _, name := range sqltext.Parameters(text) {
		a[name] = "[1]"
	}
	rows, err := b.reader.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, named(a)...) //nolint:rowserrcheck // EachRow returns rows.Err
	var lines []string
	err = sqlrows.EachRow(rows, err, func(r row) error {
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

// SQLite plans a prepared statement again whenever another value is bound to a
// bare parameter in LIMIT; see claim_jobs.sql.
func TestLimitsDoNotReplan(t *testing.T) {
	texts, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	for s, text := range texts {
		if strings.Contains(text.SQL, "LIMIT :") {
			t.Errorf("%v: write LIMIT +:name", sources[s])
		}
	}
}
