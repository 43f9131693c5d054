package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// env is a test with its own store and clock. Unless stated otherwise, calls go
// to client a, and their effects are read through client b.
type env struct {
	t   *testing.T
	ctx context.Context
	Store
	a, b store.Backend
	now  time.Time // the Now of requests; the zero time selects the store's clock
}

// epoch is far from any real time, and has microseconds.
var epoch = time.Date(2035, 3, 4, 5, 6, 7, 891234000, time.UTC)

func newEnv(t *testing.T, s Store) *env {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return &env{t: t, ctx: ctx, Store: s, a: s.Clients[0], b: s.Clients[1], now: epoch}
}

// tick moves the test's clock.
func (e *env) tick(d time.Duration) { e.now = e.now.Add(d) }

// want fails the test with the rule if got and want differ.
func (e *env) want(got, want any, rule string) {
	e.t.Helper()
	if !reflect.DeepEqual(got, want) {
		e.t.Errorf("%s\n got: %s\nwant: %s", rule, show(got), show(want))
	}
}

// ok fails the test with the rule if holds is false.
func (e *env) ok(holds bool, rule string, more ...any) {
	e.t.Helper()
	if !holds {
		e.t.Errorf("%s%s", rule, fmt.Sprintln(append([]any{""}, more...)...))
	}
}

// is fails the test with the rule if err is not the sentinel; nil means
// success.
func (e *env) is(err, sentinel error, rule string) {
	e.t.Helper()
	if !errors.Is(err, sentinel) {
		e.t.Errorf("%s\n got error: %v\nwant error: %v", rule, err, sentinel)
	}
}

// must ends the test on an unexpected error.
func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatalf("unexpected error: %v", err)
	}
}

// show prints a value, shortened.
func show(v any) string { return shorten(fmt.Sprintf("%+v", v), 2000) }

// shorten cuts a text after some bytes.
func shorten(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size], "") + "…"
}

// newJob returns a plain job: queue q, kind k, due at once.
func newJob() store.NewJob {
	return store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte(`{}`), Priority: 5, MaxAttempts: 5}}
}

// with returns a changed plain job.
func with(change func(*store.NewJob)) store.NewJob {
	j := newJob()
	change(&j)
	return j
}

func (e *env) insert(jobs ...store.NewJob) []int64 {
	e.t.Helper()
	res, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: jobs})
	e.must(err)
	if len(res.Jobs) != len(jobs) {
		e.t.Fatalf("Insert of %d jobs returned %d answers", len(jobs), len(res.Jobs))
	}
	return res.IDs()
}

// insertOne inserts one job.
func (e *env) insertOne(job store.NewJob) int64 {
	e.t.Helper()
	return e.insert(job)[0]
}

// insertN inserts n plain jobs.
func (e *env) insertN(n int) []int64 {
	e.t.Helper()
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = newJob()
	}
	return e.insert(jobs...)
}

// node registers a node with a lease of 15 s.
func (e *env) node(name string) int64 {
	e.t.Helper()
	return e.nodeFor(name, 15*time.Second)
}

func (e *env) nodeFor(name string, lease time.Duration) int64 {
	e.t.Helper()
	res, err := e.a.Register(e.ctx, store.RegisterRequest{
		Now: e.now, Name: name, Lease: lease, Version: "v1", Queues: []string{"q"}, Kinds: []string{"k"},
	})
	e.must(err)
	return res.Node
}

// claim claims jobs of kind k from queue q.
func (e *env) claim(node int64, limit int) []store.Claimed {
	e.t.Helper()
	req := store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: limit}
	res, err := e.a.Claim(e.ctx, req)
	for n := 0; err == nil && n < heldUp && asksAgain(res); n++ {
		time.Sleep(20 * time.Millisecond)
		res, err = e.a.Claim(e.ctx, req)
	}
	e.must(err)
	return res.Jobs
}

// heldUp is how often a claim is repeated that other work of the server held up.
const heldUp = 50

// asksAgain reports whether a claim without jobs asks for another claim at once.
func asksAgain(res store.ClaimResult) bool {
	return len(res.Jobs) == 0 && !res.NextDue.IsZero() && !res.NextDue.After(res.Now)
}

// claimOne claims exactly one job.
func (e *env) claimOne(node int64) store.Claimed {
	e.t.Helper()
	jobs := e.claim(node, 1)
	if len(jobs) != 1 {
		e.t.Fatalf("a due job must be claimed: got %d jobs", len(jobs))
	}
	return jobs[0]
}

func claimedIDs(jobs []store.Claimed) []int64 {
	var ids []int64
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

func (e *env) finish(outcomes ...store.Outcome) []store.ClaimRef {
	e.t.Helper()
	res, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: outcomes})
	e.must(err)
	return res.Refused
}

// finishWell fails the test if the outcome is refused.
func (e *env) finishWell(o store.Outcome) {
	e.t.Helper()
	if refused := e.finish(o); len(refused) != 0 {
		e.t.Fatalf("the outcome of a claim that is still valid must be accepted: %+v refused", refused)
	}
}

// outcome returns an outcome for a claim, with the hint that nodes send.
func outcome(j store.Claimed, r store.Result) store.Outcome {
	return store.Outcome{ID: j.ID, Token: j.Token, Result: r, Alone: j.Schedule == 0}
}

// retryIn asks for another attempt after a delay.
func retryIn(j store.Claimed, delay time.Duration) store.Outcome {
	o := outcome(j, store.Retry)
	o.Delay = delay
	return o
}

func (e *env) change(req store.ChangeJobsRequest) []store.JobChange {
	e.t.Helper()
	req.Now = e.now
	res, err := e.a.ChangeJobs(e.ctx, req)
	e.must(err)
	return res.Changes
}

// cancel cancels one job and returns the change.
func (e *env) cancel(id int64) store.Change {
	e.t.Helper()
	return e.changeOne(store.CancelJobs, id)
}

func (e *env) changeOne(action store.JobAction, id int64) store.Change {
	e.t.Helper()
	changes := e.change(store.ChangeJobsRequest{Action: action, IDs: []int64{id}, Reason: "asked by the test"})
	if len(changes) != 1 || changes[0].ID != id {
		e.t.Fatalf("ChangeJobs must answer for job %d, and for it alone: %+v", id, changes)
	}
	return changes[0].Change
}

func (e *env) list(req store.ListJobsRequest) []store.JobInfo {
	e.t.Helper()
	if req.Limit == 0 {
		req.Limit = 1000
	}
	req.Now = e.now
	jobs, err := e.b.ListJobs(e.ctx, req)
	e.must(err)
	return jobs
}

func (e *env) listIDs(req store.ListJobsRequest) []int64 {
	e.t.Helper()
	var ids []int64
	for _, j := range e.list(req) {
		ids = append(ids, j.ID)
	}
	return ids
}

// job reads one job with all fields.
func (e *env) job(id int64) store.JobInfo {
	e.t.Helper()
	jobs := e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Attempts: true})
	if len(jobs) != 1 {
		e.t.Fatalf("job %d must be listed once: got %d", id, len(jobs))
	}
	return jobs[0]
}

func (e *env) state(id int64) store.State {
	e.t.Helper()
	return e.job(id).State
}

func (e *env) tryPut(req store.PutSchedulesRequest) (store.PutSchedulesResult, error) {
	req.Now = e.now
	return e.a.PutSchedules(e.ctx, req)
}

// put puts one schedule without an owner and returns its row.
func (e *env) put(name, definition string) store.Schedule {
	e.t.Helper()
	_, err := e.tryPut(store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: name, Definition: []byte(definition)}}})
	e.must(err)
	return e.schedule(name)
}

// planned puts a schedule whose next slot is in one minute.
func (e *env) planned(name string) store.Schedule {
	e.t.Helper()
	row := e.put(name, "every minute")
	f := firing(row, e.now, e.now.Add(time.Minute))
	res := e.fire(f)
	if len(res.Lost) != 0 {
		e.t.Fatalf("a firing decided from the row as it is must not be lost: %+v", f)
	}
	return e.schedule(name)
}

// plan does what a node does with a schedule that was put: it accounts for the
// time before now.
func (e *env) plan(names ...string) {
	e.t.Helper()
	for _, name := range names {
		e.fire(firing(e.schedule(name), e.now, e.now.Add(time.Hour)))
	}
}

// due puts a schedule whose slot is due now.
func (e *env) due(name string) store.Schedule {
	e.t.Helper()
	row := e.planned(name)
	e.tick(row.NextAt.Sub(e.now))
	return row
}

// schedule reads one schedule, also a deleted one.
func (e *env) schedule(name string) store.Schedule {
	e.t.Helper()
	rows := e.schedules(store.ListRequest{Names: []string{name}, Deleted: true})
	if len(rows) != 1 {
		e.t.Fatalf("schedule %q must be listed once: got %d", name, len(rows))
	}
	return rows[0]
}

func (e *env) schedules(req store.ListRequest) []store.Schedule {
	e.t.Helper()
	if req.Limit == 0 {
		req.Limit = 1000
	}
	rows, err := store.List[store.Schedule](e.ctx, e.b, req)
	e.must(err)
	return rows
}

func scheduleNames(rows []store.Schedule) []string {
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
	}
	return names
}

func (e *env) tryChangeSchedules(action store.ScheduleAction, names ...string) error {
	return e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{Now: e.now, Action: action, Names: names})
}

func (e *env) changeSchedules(action store.ScheduleAction, names ...string) {
	e.t.Helper()
	e.must(e.tryChangeSchedules(action, names...))
}

// firing returns a firing that accounts for a schedule's time up to mark,
// without a slot.
func firing(row store.Schedule, mark, next time.Time) store.Firing {
	return store.Firing{
		Schedule: row.ID, Revision: row.Revision, Mark: row.Mark, NextAt: row.NextAt, PausedAt: row.LastPausedAt(), NewMark: mark, NewNextAt: next,
	}
}

// ringing returns a firing of a schedule's next slot; the slot after it is a
// minute later.
func ringing(row store.Schedule) store.Firing {
	f := firing(row, row.NextAt, row.NextAt.Add(time.Minute))
	f.Jobs = []store.NewJob{slotJob(row, row.NextAt)}
	return f
}

// slotJob returns the job of a slot.
func slotJob(row store.Schedule, slot time.Time) store.NewJob {
	return with(func(j *store.NewJob) {
		j.Schedule, j.Slot, j.RunAt, j.Origin = row.ID, slot, slot, store.OriginSchedule
	})
}

func (e *env) fire(firings ...store.Firing) store.FireResult {
	e.t.Helper()
	res, err := e.a.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: firings})
	e.must(err)
	return res
}

// ring fires the next slot of a schedule, moving the clock there, and returns
// the slot's job.
func (e *env) ring(name string) int64 {
	e.t.Helper()
	row := e.schedule(name)
	if row.NextAt.After(e.now) {
		e.now = row.NextAt
	}
	res := e.fire(ringing(row))
	if len(res.Fired) != 1 {
		e.t.Fatalf("a due slot must fire: %+v", res)
	}
	return res.Fired[0].Job
}

func (e *env) slots(req store.ListRequest) []store.SlotInfo {
	e.t.Helper()
	if req.Limit == 0 {
		req.Limit = 1000
	}
	slots, err := store.List[store.SlotInfo](e.ctx, e.b, req)
	e.must(err)
	return slots
}

// rescue requests a rescue by a living node, after a heartbeat, so that the
// node may rescue.
func (e *env) rescue(node int64) store.RescueResult {
	e.t.Helper()
	e.heartbeat(node)
	return e.rescueUnheard(node)
}

// rescueUnheard requests a rescue without a heartbeat before.
func (e *env) rescueUnheard(node int64) store.RescueResult {
	e.t.Helper()
	res, err := e.a.Rescue(e.ctx, e.rescueBy(node))
	e.must(err)
	return res
}

// rescueBy returns the request of a rescue by a node that knows the answers to all its heartbeats.
func (e *env) rescueBy(node int64) store.RescueRequest {
	e.t.Helper()
	return store.RescueRequest{Now: e.now, Node: node, Beat: e.nodes()[node].Beats}
}

func (e *env) heartbeat(node int64) store.HeartbeatResult {
	e.t.Helper()
	res, err := e.a.Heartbeat(e.ctx, store.HeartbeatRequest{Now: e.now, Node: node})
	e.must(err)
	return res
}

func (e *env) claims(node int64, cancelled bool) []store.ClaimRef {
	e.t.Helper()
	refs, err := e.b.Claims(e.ctx, store.ClaimsRequest{Node: node, Cancelled: cancelled})
	e.must(err)
	slices.SortFunc(refs, func(a, b store.ClaimRef) int { return int(a.ID - b.ID) })
	return refs
}

func (e *env) nodes() map[int64]store.NodeInfo {
	e.t.Helper()
	nodes, err := store.List[store.NodeInfo](e.ctx, e.b, store.ListRequest{})
	e.must(err)
	out := map[int64]store.NodeInfo{}
	for _, n := range nodes {
		out[n.ID] = n
	}
	return out
}

// both calls a function concurrently for both clients and waits.
func (e *env) both(f func(i int, client store.Backend)) {
	start := make(chan struct{})
	done := make(chan struct{})
	for i, client := range e.Clients {
		go func() {
			defer func() { done <- struct{}{} }()
			<-start
			f(i, client)
		}()
	}
	close(start)
	<-done
	<-done
}
