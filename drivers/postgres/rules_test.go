package postgres

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
)

// The tests in this file hold the statements of Finish, Rescue, Leave and
// ChangeJobs against the rules of package store: they write random rows, make
// one call, and compare all rows with what the rules return for the old rows.

// firstJob is the number of the first random job, greater than the numbers that
// the database gives to the jobs of hooks. No job has the number noJob.
const firstJob, noJob = int64(1_000_000), int64(5_000_000)

// ruleRounds is how many random tables a test compares.
const ruleRounds = 150

// ruleJob is a job's rows in the tables job, history, cancel_request and attempt.
type ruleJob struct {
	State                         store.State
	Token, Node, Schedule         int64
	Attempt, MaxAttempts          int16
	Losses, Refunds               int16 // history has no refunds
	Snoozes                       int64
	Result                        string
	OnLoss                        store.OnLoss
	Origin                        store.Origin
	RunAt, Slot, Finished         time.Time
	Kind, Unique, Reason          string
	Asked                         bool
	Why                           string               // of the cancel request
	Ended                         store.AttemptOutcome // of the attempt's record
	RecordError, Trace, OutputHex string               // of the attempt's record
	begun                         bool                 // by the claim; not compared
}

// record adds the record of an attempt.
func (j *ruleJob) record(a store.AttemptRecord, is bool) {
	if is {
		j.Ended, j.RecordError, j.Trace, j.OutputHex = a.Outcome, a.Error, a.Trace, fmt.Sprintf("%x", a.Output)
	}
}

func (j *ruleJob) group() store.SerialGroup { return store.SerialGroupOf(j.Schedule, j.Origin) }

// ruleTable is a table of jobs that a test changes as the rules say.
type ruleTable struct {
	jobs  map[int64]*ruleJob
	marks map[int64]time.Time // of the schedules
	now   time.Time
}

// state returns the state of a serial group.
func (t *ruleTable) state(group store.SerialGroup) store.GroupState {
	var live []store.LiveJob
	for id, j := range t.jobs {
		if group.Schedule != 0 && j.group() == group && !j.State.Finished() {
			live = append(live, store.LiveJob{ID: id, Slot: j.Slot, Waiting: j.State == store.StateWaiting})
		}
	}
	return store.GroupStateOf(live)
}

// release makes a job of a group ready if one may run next.
func (t *ruleTable) release(groups ...store.SerialGroup) {
	for _, group := range groups {
		if id := t.state(group).Next(); id != 0 {
			t.jobs[id].State = store.StateReady
		}
	}
}

// apply applies an effect to a job.
func (t *ruleTable) apply(j *ruleJob, e store.Effect) {
	if e.Unchanged {
		return
	}
	c := e.Counters(store.Counters{Attempt: j.Attempt, Refunds: j.Refunds, Losses: j.Losses, Snoozes: j.Snoozes})
	j.State, j.Attempt, j.Refunds, j.Losses, j.Snoozes = e.State, c.Attempt, c.Refunds, c.Losses, c.Snoozes
	if e.State == store.StateReady {
		j.RunAt = t.now.Add(e.Delay)
		return
	}
	j.Reason, j.Finished, j.Refunds, j.Asked, j.Why = e.Reason, t.now, 0, false, ""
}

// ruleTest is one schema with random rows.
type ruleTest struct {
	*testing.T
	*rand.Rand
	b       *Backend
	conn    *pgxpool.Pool
	nodes   []int64
	table   ruleTable
	started time.Time
}

func newRuleTest(t *testing.T) *ruleTest {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("HOURBELL_STORETEST_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		must(t, err)
	}
	t.Logf("HOURBELL_STORETEST_SEED=%d", seed)
	r := &ruleTest{T: t, Rand: rand.New(rand.NewPCG(seed, 0)), b: fresh(t), conn: newPool(t)}
	r.started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r.table = ruleTable{now: r.started.Add(time.Hour), marks: map[int64]time.Time{}}
	must(t, r.schedules(3))
	return r
}

func (r *ruleTest) exec(text string, args ...any) {
	r.Helper()
	_, err := r.conn.Exec(r.Context(), withSchema(text, r.b.schema), args...)
	must(r, err)
}

func (r *ruleTest) schedules(n int) error {
	var puts []store.PutSchedule
	for i := range n {
		puts = append(puts, store.PutSchedule{Name: fmt.Sprint("s", i), Definition: []byte("{}")})
	}
	_, err := r.b.PutSchedules(r.Context(), store.PutSchedulesRequest{Now: r.started, Schedules: puts})
	if err != nil {
		return err
	}
	rows, err := store.List[store.Schedule](r.Context(), r.b, store.ListRequest{Limit: n})
	for _, row := range rows {
		r.table.marks[row.ID] = row.Mark
	}
	return err
}

// node registers a node that is heard at an instant.
func (r *ruleTest) node(at time.Time) int64 {
	res, err := r.b.Register(r.Context(), store.RegisterRequest{Now: at, Name: "n", Lease: time.Minute})
	must(r, err)
	return res.Node
}

// small returns a number that is often the least or the greatest.
func (r *ruleTest) small(least int16) int16 {
	switch r.IntN(5) {
	case 0:
		return math.MaxInt16 - int16(r.IntN(2))
	case 1:
		return least
	}
	return least + int16(r.IntN(4))
}

func (r *ruleTest) chance(percent int) bool { return r.IntN(100) < percent }

// about returns an instant near now, at or around the bounds that matter.
func (r *ruleTest) about() time.Time {
	offsets := []time.Duration{0, -time.Hour, time.Hour, store.MostAhead, store.MostAhead + time.Microsecond, store.MostAhead / 2, -time.Microsecond}
	return r.table.now.Add(offsets[r.IntN(len(offsets))])
}

// fill replaces all rows by random rows.
func (r *ruleTest) fill(n int) {
	r.exec("DELETE FROM {schema}.job; DELETE FROM {schema}.history; DELETE FROM {schema}.attempt; DELETE FROM {schema}.cancel_request; DELETE FROM {schema}.lease; DELETE FROM {schema}.heartbeat")
	r.nodes = []int64{r.node(r.started), r.node(r.started)}
	schedules := slices.Sorted(maps.Keys(r.table.marks))
	for _, id := range schedules {
		r.table.marks[id] = r.about()
		r.exec("UPDATE {schema}.schedule SET mark = $2 WHERE id = $1", id, r.table.marks[id])
	}
	r.table.jobs = map[int64]*ruleJob{}
	for i := range int64(n) {
		r.table.jobs[firstJob+i*3] = r.job(schedules)
	}
	for _, j := range r.table.jobs { // as every call leaves the groups
		r.table.release(j.group())
	}
	r.write()
}

// job returns a random job.
func (r *ruleTest) job(schedules []int64) *ruleJob {
	j := &ruleJob{
		State: store.State(r.IntN(6)), Token: 1 + r.Int64N(3), Node: r.nodes[r.IntN(len(r.nodes))], RunAt: r.about(), Kind: "k" + strconv.Itoa(r.IntN(2)),
		Attempt: r.small(1), MaxAttempts: r.small(1), Losses: r.small(0), Snoozes: r.Int64N(3), OnLoss: store.OnLoss(r.IntN(2)), begun: r.chance(70),
	}
	if r.chance(70) {
		j.Schedule, j.Origin = schedules[r.IntN(len(schedules))], store.Origin(r.IntN(7))
		if r.chance(80) {
			j.Slot = r.about()
		}
	}
	if j.State == store.StateWaiting {
		j.Attempt, j.Token, j.Node, j.Losses, j.Snoozes = 0, 0, 0, 0, 0
		j.Schedule, j.Slot = schedules[r.IntN(len(schedules))], r.about()
	}
	if j.State.Finished() {
		j.Finished = r.started
	} else {
		j.Refunds = r.small(0)
	}
	if j.State == store.StateRunning && r.chance(30) {
		j.Asked, j.Why = true, "enough"
	}
	if r.chance(30) && !r.keyTaken(j) {
		j.Unique = "u" + strconv.Itoa(r.IntN(2))
		if r.keyTaken(j) {
			j.Unique = ""
		}
	}
	return j
}

// keyTaken reports whether a live job has the key of a live job.
func (r *ruleTest) keyTaken(j *ruleJob) bool {
	_, taken := r.liveKeys()[store.JobKey{Kind: j.Kind, Unique: j.Unique}]
	return taken && !j.State.Finished()
}

func (r *ruleTest) liveKeys() map[store.JobKey]int64 {
	keys := map[store.JobKey]int64{}
	for id, j := range r.table.jobs {
		if !j.State.Finished() && j.Unique != "" {
			keys[store.JobKey{Kind: j.Kind, Unique: j.Unique}] = id
		}
	}
	return keys
}

// write writes the table to the database.
func (r *ruleTest) write() {
	var live, finished, cancels, leases []map[string]any
	for _, id := range r.ids() {
		j := r.table.jobs[id]
		row := map[string]any{
			"id": id, "run_at": j.RunAt, "created_at": r.started, "started_at": r.started, "slot": when(j.Slot), "schedule_id": orNull(j.Schedule),
			"node": orNull(j.Node), "token": j.Token, "timeout_ns": 0, "priority": 5, "attempt": j.Attempt, "max_attempts": j.MaxAttempts,
			"on_loss": j.OnLoss, "origin": j.Origin, "queue": "q", "kind": j.Kind, "args": "{}", "unique_key": orNull(j.Unique), "losses": j.Losses,
			"snoozes": orNull(j.Snoozes), "releases": id%3 == 0,
		}
		if j.State.Finished() {
			row["state"], row["finished_at"], row["reason"], row["noted"] = j.State, j.Finished, j.Reason, false
			finished = append(finished, row)
			continue
		}
		row["state"], row["running"], row["refunds"] = 0, j.State == store.StateRunning, j.Refunds
		if j.State == store.StateWaiting {
			row["state"] = 1
		}
		live = append(live, row)
		if j.Asked {
			cancels = append(cancels, map[string]any{"job_id": id, "node": j.Node, "asked_at": r.started, "reason": j.Why})
		}
		if j.State == store.StateRunning {
			begun := []int64{0}
			if j.begun {
				begun = append(begun, id)
			}
			leases = append(leases, map[string]any{"id": id, "node": j.Node, "ids": []int64{id}, "begun": begun})
		}
	}
	for table, rows := range map[string][]map[string]any{"job": live, "history": finished, "cancel_request": cancels, "lease": leases} {
		text, err := json.Marshal(append([]map[string]any{}, rows...))
		must(r, err)
		r.exec("INSERT INTO {schema}."+table+" SELECT * FROM jsonb_populate_recordset(NULL::{schema}."+table+", $1::jsonb)", string(text))
	}
}

// ids returns the numbers of the jobs in order.
func (r *ruleTest) ids() []int64 { return slices.Sorted(maps.Keys(r.table.jobs)) }

// read reads the table from the database, except jobs of hooks, whose kinds it
// returns in order.
func (r *ruleTest) read() (jobs map[int64]*ruleJob, hooks []string) {
	rows, err := r.conn.Query(r.Context(), withSchema(`
		SELECT j.*, c.job_id IS NOT NULL, coalesce(c.reason, ''), coalesce(a.outcome, 0), coalesce(a.error, ''), coalesce(a.trace, ''), coalesce(encode(a.output, 'hex'), '')
		FROM (
			SELECT id, CASE WHEN running THEN 2 ELSE state END AS state, token, node, schedule_id, attempt, max_attempts, losses, snoozes, refunds, on_loss, origin,
				run_at, slot, NULL::timestamptz AS finished_at, kind, unique_key, '' AS reason, NULL AS result FROM {schema}.job
			UNION ALL SELECT id, state, token, node, schedule_id, attempt, max_attempts, losses, snoozes, 0, on_loss, origin,
				run_at, slot, finished_at, kind, unique_key, reason, result FROM {schema}.history
		) AS j LEFT JOIN {schema}.cancel_request AS c ON c.job_id = j.id LEFT JOIN {schema}.attempt AS a ON a.job_id = j.id AND a.token = j.token
		ORDER BY j.id`, r.b.schema))
	must(r, err)
	jobs = map[int64]*ruleJob{}
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (id int64, err error) {
		var j ruleJob
		err = row.Scan(&id, &j.State, &j.Token, (*number)(&j.Node), (*number)(&j.Schedule), &j.Attempt, &j.MaxAttempts, &j.Losses, (*number)(&j.Snoozes), &j.Refunds, &j.OnLoss, &j.Origin,
			into(&j.RunAt), into(&j.Slot), into(&j.Finished), &j.Kind, (*word)(&j.Unique), &j.Reason, (*word)(&j.Result), &j.Asked, &j.Why, &j.Ended, &j.RecordError, &j.Trace, &j.OutputHex)
		if j.Kind[0] == 'h' {
			hooks = append(hooks, j.Kind)
		} else {
			jobs[id] = &j
		}
		return id, err
	})
	must(r, err)
	return jobs, hooks
}

// compare compares the database with the table.
func (r *ruleTest) compare(call any, hooks []string) {
	r.Helper()
	jobs, made := r.read()
	for _, id := range slices.Sorted(maps.Keys(r.table.jobs)) {
		want := *r.table.jobs[id]
		want.begun = false
		switch got := jobs[id]; {
		case got == nil:
			r.Errorf("job %d is missing, want %+v", id, want)
		case *got != want:
			r.Errorf("job %d:\n%+v\nwant by the rules:\n%+v", id, *got, want)
		}
		delete(jobs, id)
	}
	if len(jobs) > 0 {
		r.Errorf("jobs %v should be gone", slices.Sorted(maps.Keys(jobs)))
	}
	slices.Sort(made)
	slices.Sort(hooks)
	if !slices.Equal(made, hooks) {
		r.Errorf("jobs of hooks: %v, want %v", made, hooks)
	}
	if r.Failed() {
		r.Fatalf("after %+v", call)
	}
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// hook returns a follow-up that makes a job whose kind has the number of the
// job that failed.
func hook(id int64) *store.FollowUp {
	job := noop(1)[0]
	job.Kind = hookKind(id)
	return &store.FollowUp{Failing: true, Jobs: []store.NewJob{job}}
}

func hookKind(id int64) string { return "h" + strconv.FormatInt(id, 10) }

func TestFinishKeepsTheRules(t *testing.T) {
	r := newRuleTest(t)
	for round := range ruleRounds {
		r.fill(30)
		r.finish(round%3 == 0)
	}
}

// finish records random outcomes; easy ones end their jobs without an error.
func (r *ruleTest) finish(easy bool) {
	req := store.FinishRequest{Now: r.table.now}
	for _, id := range append(r.ids(), noJob) {
		if j := r.table.jobs[id]; j != nil && r.chance(60) && (j.Token != 0 || r.chance(10)) {
			req.Outcomes = append(req.Outcomes, r.outcome(id, j, easy))
		} else if j == nil && r.chance(20) {
			req.Outcomes = append(req.Outcomes, store.Outcome{ID: id, Token: 1})
		}
	}
	r.Shuffle(len(req.Outcomes), func(i, k int) { req.Outcomes[i], req.Outcomes[k] = req.Outcomes[k], req.Outcomes[i] })

	var refused []store.ClaimRef
	var freed []store.SerialGroup
	var hooks []string
	effects := map[int64]store.Effect{}
	for _, o := range req.Outcomes {
		j := r.table.jobs[o.ID]
		switch {
		case j == nil || j.Token != o.Token || j.State.Finished() && j.State != o.Result.EndState():
			refused = append(refused, store.ClaimRef{ID: o.ID, Token: o.Token})
		case !j.State.Finished():
			effects[o.ID] = o.Effect(store.HeldJob{
				Running: j.State == store.StateRunning, Asked: j.Asked, Why: j.Why, Group: j.group(), Waits: r.table.state(j.group()).Waits(),
			})
		}
	}
	for _, o := range req.Outcomes {
		effect, counts := effects[o.ID]
		if !counts {
			continue
		}
		j := r.table.jobs[o.ID]
		j.record(o.Record(effect))
		r.table.apply(j, effect)
		if j.State.Finished() {
			j.Result = string(o.Value)
			freed = append(freed, j.group())
		}
		if o.Follows(effect) && o.After != nil {
			hooks = append(hooks, o.After.Jobs[0].Kind)
		}
	}
	r.table.release(freed...)

	res, err := r.b.Finish(r.Context(), req)
	must(r, err)
	byID := func(a, b store.ClaimRef) int { return int(a.ID - b.ID) }
	slices.SortFunc(refused, byID)
	slices.SortFunc(res.Refused, byID)
	if len(refused)+len(res.Refused) > 0 {
		same(r, "refused", res.Refused, refused)
	}
	r.compare(req, hooks)
}

// outcome returns a random outcome for a job.
func (r *ruleTest) outcome(id int64, j *ruleJob, easy bool) store.Outcome {
	o := store.Outcome{ID: id, Token: j.Token, Result: store.Result(r.IntN(6)), Alone: j.Schedule == 0}
	if r.chance(20) {
		o.Token++
	}
	if r.chance(20) {
		o.Value = []byte(`{ "n": 1}`)
	}
	if easy {
		o.Result = store.Result(r.IntN(2))
		return o
	}
	o.LeaseLost = o.Result == store.Release && r.chance(50)
	if o.Result == store.Retry || o.Result == store.Snooze {
		o.Delay = time.Duration(r.IntN(3)) * time.Second
	}
	if r.chance(40) {
		o.Error, o.Trace = "boom", "main.go"
	}
	if r.chance(20) {
		o.Output = []byte("\x00out")
	}
	if r.chance(30) {
		o.After = hook(id)
	}
	return o
}

func TestChangeJobsKeepsTheRules(t *testing.T) {
	r := newRuleTest(t)
	for range ruleRounds {
		r.fill(30)
		r.change()
	}
}

// change cancels, retries or deletes random jobs.
func (r *ruleTest) change() {
	req := store.ChangeJobsRequest{Now: r.table.now, Action: store.JobAction(r.IntN(3)), Reason: "by hand"}
	ids := r.ids()
	if req.Action == store.CancelJobs && r.chance(20) {
		schedule := slices.Sorted(maps.Keys(r.table.marks))[0]
		req.Schedule = "s0"
		ids = slices.DeleteFunc(ids, func(id int64) bool {
			return r.table.jobs[id].Schedule != schedule || r.table.jobs[id].State.Finished()
		})
	} else {
		for range 15 {
			ids = append(ids, ids[r.IntN(len(ids))], noJob)
		}
		r.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		ids = ids[:20]
		req.IDs = ids
	}
	want := r.planned(req, ids)
	res, err := r.b.ChangeJobs(r.Context(), req)
	must(r, err)
	same(r, "answers", append([]store.JobChange{}, res.Changes...), append([]store.JobChange{}, want...))
	r.compare(req, nil)
}

// planned changes the table as the rules say.
func (r *ruleTest) planned(req store.ChangeJobsRequest, ids []int64) []store.JobChange {
	states := map[int64]store.State{}
	for id, j := range r.table.jobs {
		states[id] = j.State
	}
	plan := req.Action.Plan(ids, states)
	var freed []store.SerialGroup
	for _, id := range plan.End {
		freed = append(freed, r.table.jobs[id].group())
		r.table.apply(r.table.jobs[id], store.Effect{State: store.StateCancelled, Reason: req.Reason})
	}
	for _, id := range plan.Ask {
		if j := r.table.jobs[id]; !j.Asked {
			j.Asked, j.Why = true, req.Reason
		}
	}
	for _, id := range plan.Pull {
		j := r.table.jobs[id]
		j.RunAt = store.PullTo(j.RunAt, j.Slot, r.table.now)
	}
	for _, id := range plan.Delete {
		freed = append(freed, r.table.jobs[id].group())
		delete(r.table.jobs, id)
	}
	var finished []store.FinishedJob
	for _, id := range plan.Revive {
		j := r.table.jobs[id]
		finished = append(finished, store.FinishedJob{
			ID: id, Attempt: j.Attempt, MaxAttempts: j.MaxAttempts, JobKey: store.JobKey{Kind: j.Kind, Unique: j.Unique}, Mark: r.table.marks[j.Schedule],
		})
	}
	revive, holders := store.TakeKeys(finished, r.liveKeys())
	for _, job := range revive {
		j, revival := r.table.jobs[job.ID], job.Revival(r.table.now)
		j.State, j.RunAt, j.MaxAttempts, j.Reason, j.Finished = store.StateReady, revival.RunAt, revival.MaxAttempts, "", time.Time{}
	}
	r.table.release(freed...)
	store.WithConflicts(plan.Changes, holders)
	return plan.Changes
}
