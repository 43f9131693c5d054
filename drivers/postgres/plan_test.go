package postgres

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// hot are the statements that run all the time, and the tables that they may
// never walk from end to end.
var hot = map[statement]string{
	claimJobs: "job|schedule", takeJobs: "job|schedule", lockDueJobs: "job", lockSuspects: "job", findDueJobs: "job", findSuspect: "job", findPauseWork: "job",
	countRunningJobs: "job", beginJobs: "lease|job", countLosses: "job", findBehindCursors: "job", findNextDue: "job", finishJobs: "job|history|feed", finishJobsWithResults: "job|history|feed", finishKeptJobs: "job|history|feed", forgetJobs: "feed|job|attempt|history|key_hold|progress|edge", lockClaims: "job", requeueJobs: "job", endJobs: "job|feed",
	insertAttempts: "job|attempt", upsertOutput: "job|output", listOutput: "job|output", deleteOutput: "output", readPrinted: "attempt", checkRecorded: "history|job", lockJobs: "job", lockFinishedJobs: "history", matchJobs: "job|history|attempt", updateJobs: "job", findScheduleJobs: "job|schedule",
	deleteJobs: "job|history|attempt|key_hold", reviveJobs: "job|history|key_hold|edge", findKeyHolders: "job|history|key_hold", pullJobs: "job", lockHeldJobs: "job", listClaims: "job", listCancelledClaims: "job", listPausedClaims: "job",
	lockSchedules: "schedule", updateSchedules: "schedule", findDueSchedules: "schedule", findDueSchedulesNamed: "schedule", findNextSchedule: "schedule",
	lockLiveJobs: "job", findFiredSlots: "slot", findNewestSlots: "slot", extendSlots: "slot", advanceSchedules: "schedule", uncountFiredSlots: "schedule",
	pruneJobs: "history|attempt|key_hold", lockHistoryBatches: "history_batch", deleteHistoryBatches: "history_batch", cutHistoryBatch: "history_batch", pruneNotedJobs: "history|attempt|key_hold", pruneKeptJobs: "history|attempt|key_hold|progress", pruneSlots: "slot", pruneNodes: "node",
	lockWaitingJobs: "job", releaseJobs: "job", lockSerialGroups: "schedule", lockSerialGroupJobs: "job", countFailing: "failing", resetFailures: "failing",
	findPredecessors: "job|history", markReleases: "job", findEnds: "history", updateWaits: "job", lockDependents: "job", updateEdges: "edge", findOpenEdges: "edge", findEdges: "edge", reopenEdges: "edge", findReopenings: "edge|history", reopenJobs: "history|edge", lockNotStarted: "history", lockFreeNotStarted: "history", findNotStarted: "history", listEdges: "edge", listLinks: "edge", findDecidedEdges: "edge|history", lockBatchJob: "job", findBatch: "batch", updateBatch: "batch", listBatchJobs: "job|history", listBatchOldestFirst: "job|history", lockReleases: "release", updateRelease: "release", deleteReleases: "release", lockFreeDependents: "job", findBusyDependents: "job|history", findQueues: "job",
	lockFollowers: "schedule|chain", findLastEnds: "chain_end", updateNext: "schedule", findDueEnds: "chain_end", findFollowedEnds: "chain_end|slot", closeChainEnds: "chain_end|schedule", awaitChainEnds: "chain_end|schedule", pruneChainEnds: "chain_end",
	findScheduleRelease: "schedule|chain", findChain: "schedule|chain", insertChain: "schedule", deleteChain: "chain", markPredecessors: "schedule|chain", markScheduleJobs: "job",
	lockCalendarUsers: "schedule|calendar_use", reviseSchedules: "schedule", deleteCalendarUses: "calendar_use", insertCalendarUses: "schedule", holdCalendars: "calendar",
	lockFailing: "failing", renewFailing: "failing", endFailing: "failing",
	listEvents: "event", listNewestEvents: "event", pruneEvents: "event", insertEvents: "event|feed",
	updateAudit: "audit|audit_subject", pruneAudit: "audit|audit_subject",
	upsertStats: "stats", listStats: "stats", pruneStats: "stats",
	updateUniqueJobs: "job", upsertKeyHolds: "key_hold", pruneKeyHolds: "key_hold", deleteNewJobs: "job", insertUniqueJob: "key_hold", insertKeyedJobs: "key_hold",
	takeVacancies: "vacancy", findLanes: "lane", findDueLanes: "lane", findGates: "lane|vacancy", insertLanes: "lane", findLaneKeys: "lane", lockLanes: "lane", updateLanes: "lane", deleteLanes: "lane",
	findNewLaneJobs: "job", findOvertakers: "job|lane", lockNewLaneJobs: "job", findLaneJobs: "job", lockLaneJobs: "job", findOccupiedLanes: "job", findWrongLanes: "job", returnIdlePermits: "job", allotPermits: "job", addPermits: "job", lockPermittedJobs: "job", returnPausedPermits: "job", lockRunningLaneJobs: "job",
	insertStep: "job|step", extendLease: "heartbeat", findUniqueJobs: "job|key_hold", findBusySchedules: "schedule|job", lockRetriedSchedules: "schedule|history", lockTriggeredSchedules: "schedule",
}

// TestPlans pins the plans on tables that are empty and never analysed, where
// the first plans are made, and on filled ones.
func TestPlans(t *testing.T) {
	b := fresh(t, MaxConns(2))
	t.Run("empty", func(t *testing.T) { checkPlans(t, b) })
	fill(t, b)
	t.Run("filled", func(t *testing.T) { checkPlans(t, b) })
	execute(t, withSchema("analyze {schema}.job; analyze {schema}.history; analyze {schema}.schedule; analyze {schema}.slot; analyze {schema}.calendar; analyze {schema}.calendar_use; analyze {schema}.failing; analyze {schema}.event; analyze {schema}.chain; analyze {schema}.chain_end; analyze {schema}.audit; analyze {schema}.audit_subject", b.schema))
	t.Run("analysed", func(t *testing.T) { checkPlans(t, b) })
	t.Run("emptied", func(t *testing.T) {
		b := fresh(t, MaxConns(2))
		fill(t, b)
		execute(t, withSchema("delete from {schema}.job", b.schema))
		execute(t, withSchema("vacuum (truncate off) {schema}.job", b.schema))
		checkPlans(t, b)
		checkWalks(t, b)
	})
}

// checkWalks looks for indexes that are walked from end to end. After a vacuum that
// found no living row a table counts as empty, however many there are soon after:
// then an order that an index has, for a join or for ORDER BY, costs nothing, and to
// look rows up costs something. Statements must not let such an order be of use: they
// compare with ANY, by which nothing is merged, sort by what no index has, and look
// with OFFSET 0 for what must not be.
func checkWalks(t *testing.T, b *Backend) {
	ordered := []statement{
		claimJobs, lockDueJobs, lockSuspects, findDueJobs, findNextDue, pruneJobs, // these want it, and stop in time
		lockPermittedJobs, returnPausedPermits, findWrongLanes, returnIdlePermits, // and job_permit has few jobs
	}
	for name := range hot {
		plan := planOf(t, b, name)
		walks := regexp.MustCompile(`Index (Only )?Scan using \w+ on (job)\b.*\n(.*)`)
		for _, found := range walks.FindAllStringSubmatch(plan, -1) {
			if !strings.Contains(found[3], "Index Cond") && !slices.Contains(ordered, name) {
				t.Errorf("%v walks over a whole index\n%s", name, plan)
			}
		}
	}
}

func fill(t *testing.T, b *Backend) {
	t.Helper()
	execute(t, withSchema(`
		insert into {schema}.job (run_at, created_at, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, args, schedule_id)
		select now() + i * interval '1 second', now(), 0, 1 + i % 9, 1, 0, 0, 'q', 'k', '{}', nullif(i % 100, 0) from generate_series(-10000, 10000) i;
		insert into {schema}.history (id, run_at, created_at, finished_at, token, timeout_ns, priority, state, attempt, max_attempts, on_loss, origin, queue, kind, args, reason)
		select -i, now(), now(), now(), 1, 0, 1, 3 + i % 3, 1, 1, 0, 0, 'q', 'k', '{}', '' from generate_series(1, 10000) i;
		insert into {schema}.schedule (revision, anchor, mark, next_at, created_at, updated_at, name, owner, definition)
		select 1, now(), now(), now() + i * interval '1 second', now(), now(), 's' || i, '', '{}' from generate_series(-5000, 5000) i;
		insert into {schema}.calendar (name, revision, definition, updated_at) select 'c' || i, 1, '{}', now() from generate_series(1, 2000) i;
		insert into {schema}.calendar_use (calendar, schedule_id) select 'c' || i % 10, i from generate_series(1, 5000) i;
		insert into {schema}.failing (schedule_id, since) select i, now() from generate_series(1, 2000) i;
		insert into {schema}.key_hold (job_id, until, kind, unique_key) select -i, now() + i * interval '1 second', 'k', 'key ' || i from generate_series(-5000, 5000) i;
		insert into {schema}.edge (on_id, job_id, delay_us, "on", state, any_of) select i, i + 10000, 0, 0, 0, false from generate_series(1, 10000) i;
		insert into {schema}.edge (on_id, job_id, delay_us, "on", state, any_of) select 1, i, 0, 0, 0, false from generate_series(20001, 30000) i;
		insert into {schema}.release (ids, ended_at, states, reasons) select array[i], now(), array[3]::smallint[], array[''] from generate_series(1, 2000) i;
		insert into {schema}.chain (schedule_id, predecessor) select i, 's' || i % 500 from generate_series(1, 5000) i;
		insert into {schema}.chain_end (schedule_id, slot, job_id, ended_at, state, paused, open, predecessor, reason)
		select i % 500, now() + i * interval '1 second', i, now(), 3, false, i % 100 = 0, 's' || i % 500, '' from generate_series(-10000, 10000) i;
		insert into {schema}.slot (schedule_id, slot, last, count, recorded_at, outcome, reason)
		select i % 100, now() + i * interval '1 second', now(), 1, now(), 0, '' from generate_series(1, 10000) i;
		insert into {schema}.audit (at, actor, source, action, count, detail) select now() + i * interval '1 second', 'a' || i % 100, '', 'act' || i % 20, 1, '' from generate_series(1, 20000) i;
		insert into {schema}.audit_subject (entry_id, place, kind, name) select i, p, 'job', i / 10 from generate_series(1, 20000) i, generate_series(0, 1) p;
		insert into {schema}.event (tx, at, type, subjects) select i, now(), 3, array[i] from generate_series(1, 10000) i`, b.schema))
}

func checkPlans(t *testing.T, b *Backend) {
	for name, tables := range hot {
		plan := planOf(t, b, name)
		walks := regexp.MustCompile(`(?m)Seq Scan on (` + tables + `)\b`)
		if found := walks.FindString(plan); found != "" {
			t.Errorf("%v: %s\n%s", name, found, plan)
		}
	}
	// These statements read in the order of an index. A plan that sorts would read
	// the whole backlog.
	for _, name := range []statement{claimJobs, lockDueJobs, lockSuspects, findDueJobs, findBehindCursors, findNextDue, finishJobs, finishJobsWithResults, findDueSchedules, findNextSchedule, pruneSlots} {
		// Not counted: a claim sorts the jobs that it has claimed, at most a batch, to
		// select the jobs that may begin at once.
		plan := regexp.MustCompile(`Sort  \(.*\n.*Sort Key: .*\n.*CTE Scan on claimed`).ReplaceAllString(planOf(t, b, name), "")
		if strings.Contains(plan, "Sort") && !strings.Contains(plan, "Incremental Sort") {
			t.Errorf("%v sorts\n%s", name, plan)
		}
	}
	wantInPlan(t, b, claimJobs, "Index Scan using job_ready", "(queue = ", "(priority = ", "(run_at <= ", "Tid Scan on job", "hashed SubPlan")
	wantInPlan(t, b, lockDueJobs, "Index Scan using job_ready", "(queue = ", "(priority = ", "(run_at <= ", "hashed SubPlan")
	for _, name := range []statement{claimJobs, lockDueJobs, lockSuspects} {
		if plan := planOf(t, b, name); !regexp.MustCompile(`LockRows .*\n +-> +Index Scan using job_`).MatchString(plan) {
			t.Errorf("%v does not read the jobs of a priority in the order of the index\n%s", name, plan)
		}
	}
	wantInPlan(t, b, lockSuspects, "Index Scan using job_suspect", "(queue = ", "(priority = ", "(run_at <= ")
	wantInPlan(t, b, findSuspect, "using job_suspect")
	wantInPlan(t, b, takeJobs, "Index Scan using job_pkey")
	wantInPlan(t, b, findBehindCursors, "Index Scan using job_ready", "ROW(run_at, id) <= ")
	wantInPlan(t, b, finishJobs, "Index Scan using job_pkey")
	wantInPlan(t, b, finishJobsWithResults, "Index Scan using job_pkey")
	wantInPlan(t, b, advanceSchedules, "Index Scan using schedule_pkey")
	wantInPlan(t, b, findFiredSlots, "ROW(schedule_id, slot) >= ", "Index Only Scan using slot_fired_once")
	wantInPlan(t, b, findDueSchedules, "using schedule_due")
	wantInPlan(t, b, findUniqueJobs, "using job_unique", "using key_hold_pkey")
	wantInPlan(t, b, updateUniqueJobs, "using job_unique", "using job_pkey")
	wantInPlan(t, b, findKeyHolders, "using job_unique")
	wantInPlan(t, b, findOpenEdges, "Index Scan using edge_pkey", "(on_id = ", "(job_id > ")
	wantInPlan(t, b, updateEdges, "Index Scan using edge_", "(on_id = ANY", "(job_id = ANY")
	wantInPlan(t, b, listEdges, "using edge_job")
	wantInPlan(t, b, lockReleases, "Index Scan using release_pkey", "(id > ")
	for _, name := range []statement{lockDependents, lockFreeDependents, findBusyDependents, updateWaits, markReleases, findQueues} {
		wantInPlan(t, b, name, "Index Scan using job_pkey")
	}
	wantInPlan(t, b, lockHeldJobs, "Index Scan using job_pkey")
	wantInPlan(t, b, findDueEnds, "using chain_end_open", "(schedule_id = ANY")
	wantInPlan(t, b, awaitChainEnds, "using chain_end_open", "(schedule_id = s.id)")
	wantInPlan(t, b, closeChainEnds, "using chain_end_open")
	wantInPlan(t, b, findFollowedEnds, "using chain_end_job", "(schedule_id = ", "(job_id = ", "using slot_")
	wantInPlan(t, b, findLastEnds, "Scan Backward using chain_end_pkey")
	wantInPlan(t, b, pruneChainEnds, "using chain_end_slot", "(slot < ")
	wantInPlan(t, b, lockFollowers, "using chain_pkey")
}

// TestListingPlans pins that listings of few of many jobs read in the order of an index,
// and that a part of the filter that no job can meet costs nothing. Their plans are made
// for the values of each call.
func TestListingPlans(t *testing.T) {
	b := fresh(t, MaxConns(2))
	fill(t, b)
	execute(t, withSchema("delete from {schema}.history where state >= 4 and id % 100 <> 0; reindex table {schema}.history; analyze {schema}.job; analyze {schema}.history", b.schema))
	for name, c := range map[string]struct {
		filter store.JobFilter
		want   []string
		never  []string
	}{
		"page":           {store.JobFilter{}, []string{"Index Scan Backward using job_pkey", "Index Scan Backward using history_pkey"}, []string{"Seq Scan on job", "Seq Scan on history"}},
		"of a kind":      {store.JobFilter{Kind: "k", CreatedSince: time.Now().Add(-time.Hour)}, []string{"Index Scan Backward using job_pkey", "Index Scan Backward using history_pkey"}, nil},
		"by number":      {store.JobFilter{IDs: []int64{1, 2}}, []string{"job_pkey", "history_pkey"}, []string{"Seq Scan on job", "Seq Scan on history"}},
		"of a schedule":  {store.JobFilter{Schedule: "s1", States: []store.State{store.StateReady}}, []string{"job_schedule"}, []string{"history"}},
		"of hosts":       {store.JobFilter{HostsOf: "s1", States: []store.State{store.StateReady}}, []string{"job_schedule", "schedule_name_key"}, []string{"history"}},
		"by key":         {store.JobFilter{Kind: "k", Unique: "u", States: []store.State{store.StateReady}}, []string{"job_unique"}, []string{"history"}},
		"of a key":       {store.JobFilter{Key: "key"}, []string{"using job_of_key", "using history_of_key"}, []string{"Seq Scan"}},
		"of a group":     {store.JobFilter{Group: "group"}, []string{"using job_group", "using history_group"}, []string{"Seq Scan on history"}},
		"of any state":   {store.JobFilter{Schedule: "s1"}, []string{"using history_schedule"}, []string{"Seq Scan on history"}},
		"unique":         {store.JobFilter{Unique: "u"}, []string{"using history_unique"}, []string{"Seq Scan on history"}},
		"failed":         {store.JobFilter{States: []store.State{store.StateFailed}}, []string{"Index Scan Backward using history_failed"}, []string{"on job"}},
		"failed, by end": {store.JobFilter{States: []store.State{store.StateFailed, store.StateCancelled}, FinishedSince: time.Now()}, []string{"history_failed", "Index Cond: (finished_at >= "}, []string{"on job"}},
		"by error":       {store.JobFilter{Error: "x", States: []store.State{store.StateFailed}}, []string{"attempt", "history_failed", "Index Cond: (id = ANY ($"}, []string{"on job"}},
	} {
		plan := listingPlan(t, b, listJobs, append(jobFilterValues(c.filter, time.Time{}), nil, nil, 20, false))
		for _, part := range c.want {
			if !strings.Contains(plan, part) {
				t.Errorf("%s: the plan lacks %q\n%s", name, part, plan)
			}
		}
		for _, part := range c.never {
			if strings.Contains(plan, part) {
				t.Errorf("%s: the plan has %q\n%s", name, part, plan)
			}
		}
	}
	part := listingPlan(t, b, listJobs, append(jobFilterValues(store.JobFilter{Error: "x", Group: "g"}, time.Time{}), 100, 200, 20, false))
	if strings.Count(part, "(id > '100'::bigint) AND (id < '200'::bigint))\n") != 3 ||
		strings.Count(part, "Index Cond: ((job_id > '100'::bigint) AND (job_id < '200'::bigint))") != 2 || strings.Contains(part, "Seq Scan on") {
		t.Errorf("a part of a search reads other numbers\n%s", part)
	}
	count := listingPlan(t, b, countJobs, append(jobFilterValues(store.JobFilter{States: []store.State{store.StateFailed}}, time.Time{}), nil, nil))
	if strings.Contains(count, "on job") {
		t.Errorf("a count of finished jobs reads live jobs\n%s", count)
	}
}

// TestSlotPlans pins that a listing of slots reads the slots of its range of time, and before the
// range only records of several slots.
func TestSlotPlans(t *testing.T) {
	b := fresh(t, MaxConns(2))
	fill(t, b)
	execute(t, withSchema("update {schema}.slot set count = 2 where id % 1000 = 0; analyze {schema}.slot; analyze {schema}.schedule", b.schema))
	from := time.Now().Add(9000 * time.Second)
	for name, c := range map[string]struct {
		values []any // schedule from to before_slot before_id limit group_name hosts_of
		want   []string
	}{
		"all":           {[]any{nil, nil, nil, nil, 0, 20, nil, nil}, []string{"Index Scan Backward using slot_newest"}},
		"page":          {[]any{nil, nil, nil, from, 7, 20, nil, nil}, []string{"Index Cond: (ROW(slot, id) < "}},
		"since":         {[]any{nil, from, nil, nil, 0, 20, nil, nil}, []string{"Index Cond: (slot >= ", "using slot_spans", "Index Cond: (last >= "}},
		"of a schedule": {[]any{"s1", from, nil, nil, 0, 20, nil, nil}, []string{"slot_pkey", "slot_spans"}},
		"of hosts":      {[]any{nil, from, nil, nil, 0, 20, nil, "s1"}, []string{"schedule_name_key"}},
	} {
		plan := listingPlan(t, b, listSlots, c.values)
		for _, part := range c.want {
			if !strings.Contains(plan, part) {
				t.Errorf("%s: the plan lacks %q\n%s", name, part, plan)
			}
		}
		if strings.Contains(plan, "Seq Scan on slot") {
			t.Errorf("%s: the plan walks over the table\n%s", name, plan)
		}
	}
}

// TestFailedSchedulePlans pins that the schedules with failed jobs are found by the index of jobs that did not complete, which
// is read no further than it has to be.
func TestFailedSchedulePlans(t *testing.T) {
	b := fresh(t, MaxConns(2))
	fill(t, b)
	execute(t, withSchema("update {schema}.history set state = 3 where id % 100 <> 0; analyze {schema}.schedule; analyze {schema}.history", b.schema))
	plan := listingPlan(t, b, listFailedSchedules, []any{nil, nil, nil, "", false, 20, nil, nil, nil, 100})
	if !strings.Contains(plan, "using history_failed") || !strings.Contains(plan, "schedule_pkey") || strings.Contains(plan, "Seq Scan on history") || strings.Contains(plan, "Seq Scan on schedule") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// TestScheduleSlotPlans pins that the newest records of schedules are read in the order of the primary key, and the states of
// their jobs by number.
func TestScheduleSlotPlans(t *testing.T) {
	b := fresh(t, MaxConns(2))
	fill(t, b)
	execute(t, withSchema("analyze {schema}.slot; analyze {schema}.schedule; analyze {schema}.job; analyze {schema}.history", b.schema))
	plan := listingPlan(t, b, listScheduleSlots, []any{[]int64{1, 2, 3}, 20})
	for _, part := range []string{"Index Scan Backward using slot_pkey", "using history_pkey", "using job_pkey"} {
		if !strings.Contains(plan, part) {
			t.Errorf("the plan lacks %q\n%s", part, plan)
		}
	}
	if strings.Contains(plan, "Seq Scan on slot") || strings.Contains(plan, "Seq Scan on history") || strings.Contains(plan, "Seq Scan on job") {
		t.Errorf("the plan walks over a table\n%s", plan)
	}
}

// TestCalendarPlans pins that a listing of the schedules that exclude a calendar reads these
// schedules alone, if they are few.
func TestCalendarPlans(t *testing.T) {
	b := fresh(t, MaxConns(2))
	fill(t, b)
	execute(t, withSchema("analyze {schema}.schedule; analyze {schema}.calendar_use", b.schema))
	plan := listingPlan(t, b, listCalendarSchedules, []any{nil, nil, nil, "", false, 20, "unused", nil, nil, store.FailedAmong})
	if !strings.Contains(plan, "schedule_pkey") || !strings.Contains(plan, "using calendar_use_pkey") || strings.Contains(plan, "SubPlan") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// TestAuditPlans pins that each listing of the audit reads in the order of an index, or looks
// up the entries of a subject.
func TestAuditPlans(t *testing.T) {
	b := fresh(t, MaxConns(2))
	fill(t, b)
	execute(t, withSchema("analyze {schema}.audit; analyze {schema}.audit_subject", b.schema))
	at := time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		values []any // actor action kind name since before_at before_id limit
		want   string
	}{
		"all":       {[]any{nil, nil, nil, nil, nil, nil, nil, 20}, "Index Scan Backward using audit_at"},
		"page":      {[]any{nil, nil, nil, nil, nil, at, 7, 20}, "Index Cond: (ROW(at, id) < "},
		"since":     {[]any{nil, nil, nil, nil, at, nil, nil, 20}, "Index Cond: (at >= "},
		"of actor":  {[]any{"a1", nil, nil, nil, nil, nil, nil, 20}, "Index Scan Backward using audit_actor"},
		"of action": {[]any{nil, "act1", nil, nil, nil, nil, nil, 20}, "using audit_action"},
		"of a job":  {[]any{nil, nil, "job", "12", nil, nil, nil, 20}, "using audit_subject_name"},
	} {
		plan := listingPlan(t, b, listAudit, c.values)
		if !strings.Contains(plan, c.want) || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s: the plan lacks %q, or walks over a table\n%s", name, c.want, plan)
		}
	}
}

// listingPlan is the plan of a listing with these values. Parts that no row can meet
// are left out.
func listingPlan(t *testing.T, b *Backend, name statement, values []any) string {
	t.Helper()
	var plan []string
	must(t, b.list(t.Context(), "explain "+name.String())(func(tx pgx.Tx) (err error) {
		plan, err = collect(t.Context(), tx, pgx.RowTo[string], "explain "+b.q(name), values...)
		return err
	}))
	return strings.Join(plan, "\n")
}

func wantInPlan(t *testing.T, b *Backend, name statement, parts ...string) {
	t.Helper()
	plan := planOf(t, b, name)
	for _, part := range parts {
		if !strings.Contains(plan, part) {
			t.Errorf("%v: the plan lacks %q\n%s", name, part, plan)
		}
	}
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// planOf is the plan that the backend's own transactions use for a statement.
func planOf(t *testing.T, b *Backend, name statement) string {
	t.Helper()
	text := b.q(name)
	count := 0
	for _, match := range parameter.FindAllStringSubmatch(text, -1) {
		var n int
		fmt.Sscan(match[1], &n)
		count = max(count, n)
	}
	var plan []string
	err := b.work(t.Context(), programConns, "explain "+name.String())(func(tx pgx.Tx) (err error) {
		if _, err = tx.Exec(t.Context(), "prepare one as "+text); err != nil {
			return err
		}
		plan, err = collect(t.Context(), tx, pgx.RowTo[string], "explain execute one("+strings.Join(slices.Repeat([]string{"null"}, count), ",")+")")
		if err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(), "deallocate one")
		return err
	})
	must(t, err)
	return strings.Join(plan, "\n")
}

// TestClaimsAreHeapOnly pins that a claim touches no index.
func TestClaimsAreHeapOnly(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	const n = 2000
	insertN(t, b, n)
	before := indexBytes(t, b)
	if got := len(claimN(t, b, node, n)); got != n {
		t.Fatalf("claimed %d of %d", got, n)
	}
	if after := indexBytes(t, b); after != before {
		t.Errorf("the indexes of job grew from %d to %d bytes by a claim", before, after)
	}
}

func indexBytes(t *testing.T, b *Backend) (size int64) {
	t.Helper()
	must(t, b.pool.QueryRow(t.Context(), "select pg_indexes_size($1::regclass)", pgx.Identifier{b.schema, "job"}.Sanitize()).Scan(&size))
	return size
}
