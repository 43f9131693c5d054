package mysql

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store/sqltext"

	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// filled returns a store with many rows that no claim may take: jobs for later and finished jobs.
func filled(t *testing.T, rows int) (*Backend, *sql.DB) {
	t.Helper()
	b, db := fresh(t)
	numbers := fmt.Sprintf("(SELECT @n := @n + 1 AS i FROM (SELECT 1 FROM information_schema.collations LIMIT 100) AS a, (SELECT 1 FROM information_schema.collations LIMIT %d) AS b, (SELECT @n := 0) AS c) AS n", rows/100)
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	for _, text := range []string{
		`INSERT INTO hourbell_job (run_at, created_at, timeout, priority, state, max_attempts, on_loss, origin, queue, kind, args, schedule_id)
			SELECT UTC_TIMESTAMP(6) + INTERVAL (i + 3600) SECOND, UTC_TIMESTAMP(6), 0, 1 + i % 9, 0, 1, 0, 0, 'q', 'k', '{}', NULLIF(i % 100, 0) FROM ` + numbers,
		`INSERT INTO hourbell_history (id, run_at, created_at, finished_at, token, timeout, priority, state, attempt, max_attempts, on_loss, origin, queue, kind, args, node_name, reason)
			SELECT 1000000 + i, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL i SECOND, 1, 0, 1, 3 + i % 3, 1, 1, 0, 0, 'q', 'k', '{}', '', '' FROM ` + numbers,
		`INSERT INTO hourbell_schedule (name, owner, revision, definition, anchor, mark, next_at, created_at, updated_at)
			SELECT CONCAT('s', i), '', 1, '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL i SECOND, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM ` + numbers,
		`INSERT INTO hourbell_slot (schedule_id, slot, last, count, outcome, reason, recorded_at)
			SELECT i % 100, UTC_TIMESTAMP(6) + INTERVAL i SECOND, UTC_TIMESTAMP(6), 1, 0, '', UTC_TIMESTAMP(6) FROM ` + numbers,
		`UPDATE hourbell_job SET rare = 1 WHERE schedule_id IS NOT NULL`,
		`INSERT INTO hourbell_job_rare (job_id, run_at, schedule_id, priority, state, losses, lane, group_name, job_key)
			SELECT id, run_at, schedule_id, priority, state, losses, id % 10, CONCAT('g', id % 10), CONCAT('k', id % 10) FROM hourbell_job WHERE rare = 1`,
		`ANALYZE TABLE hourbell_job, hourbell_job_rare, hourbell_history, hourbell_schedule, hourbell_slot`,
	} {
		rows, err := conn.QueryContext(t.Context(), text) //nolint:rowserrcheck // EachRow returns rows.Err
		must(t, sqlrows.EachRow(rows, err, func(row) error { return nil }))
	}
	return b, db
}

// step is a line of EXPLAIN.
type step struct{ kind, table, access, key, extra string }

// planOf explains a statement with plain parameters.
func planOf(t *testing.T, b *Backend, s statement, a args) (plan []step) {
	t.Helper()
	for _, name := range b.texts[s].Params {
		if _, given := a[name]; given {
			continue
		}
		switch {
		case strings.Contains(b.texts[s].SQL, "JSON_TABLE(:"+name):
			a[name] = `[{"id":1},{"id":2}]`
		case name == "now", name == "soon", name == "before", name == "until":
			a[name] = time.Now().UnixMicro()
		case name == "queue" || name == "kind" || strings.HasPrefix(name, "name"):
			a[name] = "q"
		default:
			a[name] = 1
		}
	}
	text, err := b.texts[s].complete(s, a, sqltext.Conditions(b.texts[s].SQL)...)
	must(t, err)
	rows, err := b.db.QueryContext(t.Context(), "EXPLAIN "+text)
	if err != nil {
		t.Errorf("%v: %v", s, err)
		return nil
	}
	names, err := rows.Columns()
	must(t, err)
	must(t, sqlrows.EachRow(rows, nil, func(r row) error {
		values := make([]sql.NullString, len(names))
		targets := make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		err := r.Scan(targets...)
		of := func(name string) string { return values[slices.Index(names, name)].String }
		plan = append(plan, step{of("select_type"), of("table"), of("type"), of("key"), of("Extra")})
		return err
	}))
	return plan
}

// claimArgs are the parameters of a claim.
func claimArgs(limit int) args {
	return args{"queue": "q", "now": time.Now().UnixMicro(), "kinds": []string{"k"}, "exact_kinds": []string(nil), "exact": []string(nil), "priority": 5, "first": time.Now().Add(-time.Hour).UnixMicro(), "limit": limit, "window": 4 * limit, "offset": 0}
}

// TestPlans pins the plans of the statements that nodes repeat: no statement reads a whole table, and a statement that takes the
// first rows reads the rows in the order of an index.
func TestPlans(t *testing.T) {
	b, _ := filled(t, 3000)
	for _, s := range []statement{
		lockDueJobs, findWork, findDuePriorities, sqlrows.FindNextDue, claimJobs, claimJobsMixed, sqlrows.FindSuspect, lockSuspects, sqlrows.BeginJobs, insertRare, updateRare, deleteRare, lockSerialGroupJobs, sqlrows.LockBatchJob,
		findParkableOfGroup, findParkableOfKey, findParkedOfGroup, findParkedOfKey, findLaneJobs, findIdleHeads, lockClaims, sqlrows.CheckRecorded, sqlrows.EndJobs, endJobsAlike, sqlrows.EndJobsWithResults,
		sqlrows.DeleteEndedJobs, sqlrows.RequeueJobs, sqlrows.InsertAttempts, sqlrows.InsertReleases, findUniqueJobs, sqlrows.FindKeyHolders, sqlrows.LockHeldJobs, findHoldingNodes, sqlrows.ListClaims, sqlrows.ListCancelledClaims, sqlrows.ListNodes,
		sqlrows.FindDueSchedules, sqlrows.FindNextSchedule, findFirstSchedule, readHeartbeat, findOldSlots, findOldChainEnds, findOldKeyHolds, findOldBatches, sqlrows.LockDueSchedules, sqlrows.LockLiveJobs, sqlrows.AdvanceSchedules, sqlrows.FindFiredSlots, lockWaitingJobs, sqlrows.ReleaseJobs, sqlrows.FindNewestSlots,
		sqlrows.InsertStep, extendLease, sqlrows.HoldNode, sqlrows.FindClaim, lockClaim, sqlrows.ListStats, sqlrows.PruneStats,
	} {
		a := args{}
		for name, value := range claimArgs(10) {
			if slices.Contains(b.texts[s].Params, name) {
				a[name] = value
			}
		}
		for _, line := range planOf(t, b, s, a) {
			if line.access == "ALL" && line.kind != "INSERT" && b.large(line.table, s) {
				t.Errorf("%v reads a whole table: %+v", s, line)
			}
		}
	}
	for _, s := range []statement{lockDueJobs, sqlrows.FindNextDue, findDuePriorities, findWork, sqlrows.FindDueSchedules, findLaneJobs, findIdleHeads, findParkedOfGroup, findParkedOfKey, findParkableOfKey} {
		for _, line := range planOf(t, b, s, claimArgsOf(b, s)) {
			if strings.Contains(line.extra, "filesort") && line.table != "p" && line.table != "<derived2>" {
				t.Errorf("%v sorts: %+v", s, line)
			}
		}
	}
}

func claimArgsOf(b *Backend, s statement) args {
	a := claimArgs(10)
	for name := range a {
		if !slices.Contains(b.texts[s].Params, name) {
			delete(a, name)
		}
	}
	if slices.Contains(b.texts[s].Params, "node") {
		a["node"] = 1
	}
	return a
}

// large reports whether the name of a table in a plan of a statement stands for a table with many rows.
func (b *Backend) large(name string, s statement) bool {
	return slices.ContainsFunc([]string{"hourbell_job", "hourbell_job_rare", "hourbell_history", "hourbell_schedule", "hourbell_slot", "hourbell_stats"}, func(table string) bool {
		return name == table || strings.Contains(b.texts[s].SQL+" ", table+" AS "+name+" ")
	})
}

// readsOf runs a statement of a claim, and returns how many rows it found and how many it read.
func readsOf(t *testing.T, b *Backend, tx *sql.Tx, s statement) (found, reads int) {
	t.Helper()
	counted := func() (sum int) {
		rows, err := tx.QueryContext(t.Context(), "SHOW SESSION STATUS LIKE 'Handler_read%'") //nolint:rowserrcheck // EachRow returns rows.Err
		must(t, sqlrows.EachRow(rows, err, func(r row) error {
			var name string
			var n int
			err := r.Scan(&name, &n)
			sum += n
			return err
		}))
		return sum
	}
	before := counted()
	text, err := b.texts[s].complete(s, claimArgsOf(b, s))
	must(t, err)
	rows, err := tx.QueryContext(t.Context(), text) //nolint:rowserrcheck // EachRow returns rows.Err
	must(t, sqlrows.EachRow(rows, err, func(row) error { found++; return nil }))
	return found, counted() - before
}

// TestAClaimReadsWhatItTakes counts the rows that a claim reads while thousands of jobs are due later, and while another
// claim has locked the first jobs.
func TestAClaimReadsWhatItTakes(t *testing.T) {
	b, _ := filled(t, 3000)
	insertPlain(t, b, 90)
	for _, want := range []int{10, 0} { // ten jobs have this priority
		tx, err := b.db.BeginTx(t.Context(), nil)
		must(t, err)
		defer tx.Rollback()
		if found, reads := readsOf(t, b, tx, lockDueJobs); found != want || reads > 300 {
			t.Errorf("a claim found %d jobs, want %d, and read %d rows", found, want, reads)
		}
	}
	node := register(t, b, time.Hour)
	if jobs := claimPlain(t, b, node, 100); len(jobs) != 80 {
		t.Errorf("%d jobs were claimed while 10 were locked, want 80", len(jobs))
	}
}

// TestAClaimReadsNoBacklog counts the rows that a claim reads to find the priorities of due jobs: as many with many due jobs as with few.
func TestAClaimReadsNoBacklog(t *testing.T) {
	b, db := fresh(t)
	insertPlain(t, b, 5000)
	rows, err := db.QueryContext(t.Context(), "ANALYZE TABLE hourbell_job") // which makes the server expect many jobs of a priority //nolint:rowserrcheck // EachRow returns rows.Err
	must(t, sqlrows.EachRow(rows, err, func(row) error { return nil }))
	tx, err := b.db.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	if found, reads := readsOf(t, b, tx, findDuePriorities); found != 9 || reads > 100 {
		t.Errorf("a look for due priorities found %d, want 9, and read %d rows", found, reads)
	}
	if _, reads := readsOf(t, b, tx, findWork); reads > 150 {
		t.Errorf("a look for work read %d rows", reads)
	}
}
