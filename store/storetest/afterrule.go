package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/store"
)

// afterEnd is a way in which a predecessor ends.
type afterEnd struct {
	name string
	// What becomes of a job that waits for this predecessor alone.
	success, failure, either store.State
	why                      string // the reason of a dependent that is not started
	// prepare makes the predecessor. cause is the number in the reason, and end is the call that ends
	// the predecessor; a repetition of this call is harmless.
	prepare func(e *env, node int64) (predecessor, cause int64, end endCall)
}

type endCall func(ctx context.Context, b store.Backend) error

const (
	starts = store.StateReady
	waits  = store.StateWaiting
	never  = store.StateNotStarted
)

// afterEnds is the rule of edges, for all ends of a predecessor.
var afterEnds = []afterEnd{
	// the predecessor is; then on success, on failure, on either; the reason
	{"completed", starts, never, starts, "job %d completed", endsByOutcome(store.Completed)},
	{"failed", never, starts, starts, "job %d failed", endsByOutcome(store.Failed)},
	{"failed as lost", never, starts, starts, "job %d failed", endsLost},
	{"cancelled, waiting", never, starts, starts, "job %d was cancelled", endsByChange(store.CancelJobs)},
	{"cancelled, running", never, starts, starts, "job %d was cancelled", endsByOutcome(store.Cancelled)},
	{"superseded by a slot", never, starts, starts, "job %d was cancelled", endsSuperseded},
	{"superseded by a job", never, starts, starts, "job %d was cancelled", endsGivingWay},
	{"deleted", never, starts, starts, "job %d was deleted", endsByChange(store.DeleteJobs)},
	{"not started", never, never, never, "job %d failed", endsNotStarted},
}

func (a *afterEnd) want(on store.On) store.State {
	return [...]store.State{a.success, a.failure, a.either}[on]
}

func endsByOutcome(result store.Result) func(*env, int64) (int64, int64, endCall) {
	return func(e *env, node int64) (int64, int64, endCall) {
		id := e.insertOne(newJob())
		c := e.claimOne(node)
		e.want(c.ID, id, "the predecessor must be claimed")
		return id, id, e.finishing(outcome(c, result))
	}
}

func endsByChange(action store.JobAction) func(*env, int64) (int64, int64, endCall) {
	return func(e *env, _ int64) (int64, int64, endCall) {
		id := e.insertOne(newJob())
		return id, id, func(ctx context.Context, b store.Backend) error {
			_, err := b.ChangeJobs(ctx, store.ChangeJobsRequest{Now: e.now, Action: action, IDs: []int64{id}})
			return err
		}
	}
}

// endsLost ends a job that must not start twice, and whose node has died.
func endsLost(e *env, node int64) (int64, int64, endCall) {
	id := e.insertOne(with(func(j *store.NewJob) { j.OnLoss = store.OnLossFail }))
	e.want(e.claimOne(e.node("dead")).ID, id, "the predecessor must be claimed")
	e.tick(time.Minute)
	e.heartbeat(node)
	return id, id, func(ctx context.Context, b store.Backend) error {
		_, err := b.Rescue(ctx, e.rescueBy(node))
		return err
	}
}

// endsSuperseded ends a job that awaits a retry when the next slot of its schedule fires.
func endsSuperseded(e *env, node int64) (int64, int64, endCall) {
	name := fmt.Sprint("schedule ", e.now.UnixMicro())
	e.planned(name)
	id := e.ring(name)
	e.finishWell(retryIn(e.claimOne(node), time.Hour))
	row := e.schedule(name)
	e.now = row.NextAt
	return id, id, func(ctx context.Context, b store.Backend) error {
		_, err := b.Fire(ctx, store.FireRequest{Now: e.now, Firings: []store.Firing{ringing(row)}})
		return err
	}
}

// endsGivingWay ends a job whose retry gives way to a job that waits in its serial group.
func endsGivingWay(e *env, node int64) (int64, int64, endCall) {
	name := fmt.Sprint("schedule ", e.now.UnixMicro())
	e.planned(name)
	id := e.ring(name)
	c := e.claimOne(node)
	e.ringAs(name, store.OverlapQueue)
	return id, id, e.finishing(retryIn(c, time.Hour))
}

// endsNotStarted ends a job by the end of the job that it waits for.
func endsNotStarted(e *env, node int64) (int64, int64, endCall) {
	root, cause, end := endsByOutcome(store.Failed)(e, node)
	return e.insertOne(follows(on(root, store.OnSuccess))), cause, end
}

func (e *env) finishing(o store.Outcome) endCall {
	return func(ctx context.Context, b store.Backend) error {
		_, err := b.Finish(ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{o}})
		return err
	}
}

// afterOthers is what a job waits for besides the predecessor, and what that changes: the state of
// the job after an end that its edge on the predecessor matches, and after another end.
var afterOthers = []struct {
	name          string
	anyOf         bool
	other         int // index of the other predecessor, which completes: 0 none, 1 before the end, 2 after it
	on            store.On
	match, missed store.State
}{
	{"no other job", false, 0, store.OnSuccess, starts, never},
	{"all, the other matched", false, 1, store.OnSuccess, starts, never},
	{"all, the other missed", false, 1, store.OnFailure, never, never},
	{"all, the other is open", false, 2, store.OnSuccess, waits, never},
	{"any, the other matched", true, 1, store.OnSuccess, starts, starts},
	{"any, the other missed", true, 1, store.OnFailure, starts, never},
	{"any, the other is open", true, 2, store.OnSuccess, starts, waits},
}

// afterDelays are the delays of the table: 25 hours span a change of clocks, and the last delay is
// longer than a year.
var afterDelays = []time.Duration{0, 5 * time.Minute, 25 * time.Hour, 400 * 24 * time.Hour}

// afterTable tries each end of a predecessor with each choice of On, each delay, and all that
// the dependent may wait for besides.
func afterTable(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	for i := range afterEnds {
		e.clocksChange()
		e.afterEnd(node, &afterEnds[i])
	}
}

// clocksChange moves the clock to a day after which the clocks of Prague change, in that zone.
func (e *env) clocksChange() {
	prague, err := time.LoadLocation("Europe/Prague")
	if err != nil {
		return // no time zones on this machine
	}
	for e.now = e.now.In(prague); ; e.tick(12 * time.Hour) {
		_, today := e.now.Zone()
		if _, tomorrow := e.now.Add(25 * time.Hour).Zone(); tomorrow != today {
			return
		}
	}
}

// afterCase is a dependent of the table.
type afterCase struct {
	rule       string
	on         store.On
	delay      time.Duration
	state      store.State // after the end
	early      bool        // may start before the end
	otherNever bool        // is not started because of the other job
}

func (e *env) afterEnd(node int64, end *afterEnd) {
	e.t.Helper()
	predecessor, cause, call := end.prepare(e, node)
	inQueue := func(queue string) store.NewJob { return with(func(j *store.NewJob) { j.Queue = queue }) }
	others := []int64{0, e.insertOne(inQueue("before")), e.insertOne(inQueue("after"))}
	complete := func(queue string) (ids []int64) {
		var outcomes []store.Outcome
		for _, c := range e.claimFrom(queue, node, 1000) {
			ids, outcomes = append(ids, c.ID), append(outcomes, outcome(c, store.Completed))
		}
		if len(outcomes) > 0 {
			e.want(len(e.finish(outcomes...)), 0, "outcomes must be accepted")
		}
		slices.Sort(ids)
		return ids
	}
	complete("before")
	var cases []afterCase
	var jobs []store.NewJob
	for _, on := range []store.On{store.OnSuccess, store.OnFailure, store.OnEither} {
		for _, other := range afterOthers {
			for _, delay := range afterDelays {
				job := inQueue("dependents")
				job.Any, job.After = other.anyOf, []store.Edge{{Job: predecessor, On: on, Delay: delay}}
				if other.other > 0 {
					job.After = append(job.After, store.Edge{Job: others[other.other], On: other.on})
				}
				one := afterCase{
					rule: fmt.Sprintf("predecessor %s, on %v, %s, delay %v", end.name, on, other.name, delay),
					on:   on, delay: delay, state: other.missed,
					early:      other.anyOf && other.other == 1 && other.on == store.OnSuccess,
					otherNever: !other.anyOf && other.other == 1 && other.on == store.OnFailure,
				}
				if end.want(on) == starts {
					one.state = other.match
				}
				cases, jobs = append(cases, one), append(jobs, job)
			}
		}
	}
	ids := e.insert(jobs...)
	e.tick(time.Second)
	e.must(call(e.ctx, e.a))
	ended := e.now

	found := map[int64]store.JobInfo{}
	for _, job := range e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Attempts: true}) {
		found[job.ID] = job
	}
	due := map[time.Duration][]int64{}
	var open []int64
	for i, one := range cases {
		job := found[ids[i]]
		e.want(job.State, one.state, one.rule)
		switch {
		case job.State == waits:
			open = append(open, job.ID)
		case job.State == starts && one.early:
			due[0] = append(due[0], job.ID)
		case job.State == starts:
			due[one.delay] = append(due[one.delay], job.ID)
			e.want(job.RunAt.UTC(), ended.Add(one.delay).UTC(), one.rule+": the delay counts from the end")
		case one.otherNever:
			e.want(job.Reason, fmt.Sprintf("job %d completed", others[1]), one.rule)
		case job.State == never:
			e.want(job.Reason, fmt.Sprintf(end.why, cause), one.rule)
			e.want(job.FinishedAt.UTC(), ended.UTC(), one.rule+": the end of the dependent")
		}
		for _, edge := range job.After {
			if edge.Job != predecessor {
				continue
			}
			state := store.EdgeMissed
			if end.want(one.on) == starts {
				state = store.EdgeMatched
			}
			e.want(edge.State, state, one.rule+": the edge")
		}
	}
	for _, delay := range slices.Sorted(maps.Keys(due)) {
		if e.now = ended.Add(delay - time.Microsecond); delay > 0 {
			e.want(complete("dependents"), []int64(nil), fmt.Sprintf("%s: nothing starts before a delay of %v has passed", end.name, delay))
		}
		e.now = ended.Add(delay)
		e.want(complete("dependents"), due[delay], fmt.Sprintf("%s: these jobs start after a delay of %v", end.name, delay))
	}
	complete("after")
	if e.now.Sub(ended) < afterDelays[3] { // an end that starts no job at all
		e.now = ended.Add(afterDelays[3])
	}
	e.want(complete("dependents"), open, end.name+": these jobs start when the other job has completed")
	e.cancelLive()
}

// cancelLive cancels all jobs that have not ended.
func (e *env) cancelLive() {
	e.t.Helper()
	ids := e.listIDs(store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{starts, waits, store.StateRunning}}})
	if len(ids) > 0 {
		e.change(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: ids})
	}
}

// cutContext ends when it is looked at for a number of times.
type cutContext struct {
	context.Context
	end   context.CancelFunc
	after int64
	looks atomic.Int64
}

func newCutContext(ctx context.Context, after int64) *cutContext {
	c := &cutContext{after: after}
	c.Context, c.end = context.WithCancel(ctx)
	return c
}

func (c *cutContext) look() {
	if c.looks.Add(1) >= c.after {
		c.end()
	}
}

// Done implements context.Context.
func (c *cutContext) Done() <-chan struct{} {
	c.look()
	return c.Context.Done()
}

// Err implements context.Context.
func (c *cutContext) Err() error {
	c.look()
	return c.Context.Err()
}

// afterCut cuts the call that ends a predecessor at the places where the driver looks at the context,
// of many places only at some; also between the transaction of the end and the release. If the end was recorded, another
// node releases the dependents; otherwise it records the end.
func afterCut(e *env) {
	if !has[store.Deferring](e.b) {
		e.t.Skip("nodes release dependents through an ability that this store does not have")
	}
	node := e.nodeFor("n", 1e6*time.Hour)
	between := 0
	for i := range afterEnds {
		end := &afterEnds[i]
		for place, whole := int64(1), false; !whole; place += 1 + 10*place/int64(afterRounds()) {
			predecessor, cause, call := end.prepare(e, node)
			ids := e.insert(follows(on(predecessor, store.OnSuccess)), follows(on(predecessor, store.OnFailure)), follows(on(predecessor, store.OnEither)))
			e.tick(time.Second)
			cut := newCutContext(e.ctx, place)
			_ = call(cut, e.a) // the answer of a call that was cut proves nothing
			whole = cut.looks.Load() < place
			cut.end()
			rule := fmt.Sprintf("predecessor %s, cut at place %d", end.name, place)
			ended := e.hasEnded(cause)
			if releases := e.heartbeat(node).Releases; ended && e.state(ids[2]) == waits {
				between++
				e.ok(releases, rule+": a heartbeat must read that there are dependents to release")
			}
			e.repair(node, cause, call)
			for on, id := range ids {
				job := e.job(id)
				e.want(job.State, end.want(store.On(on)), fmt.Sprintf("%s, on %v", rule, store.On(on)))
				if job.State == never {
					e.want(job.Reason, fmt.Sprintf(end.why, cause), rule)
				}
			}
			e.cancelLive()
			if e.t.Failed() {
				return
			}
		}
	}
	e.ok(between > 0, "some cuts must be between an end and the release")
	e.t.Logf("%d cuts between an end and the release", between)
}

// repair does what nodes do when a call was cut, or left a job that another transaction had locked: it
// calls again, each time a second later, until the job has ended and nothing is left to release.
func (e *env) repair(node, job int64, call endCall) {
	e.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if !e.hasEnded(job) {
			e.heartbeat(node)
			e.must(call(e.ctx, e.b))
		}
		able := e.settle()
		if e.hasEnded(job) && (!able || !e.heartbeat(node).Releases) {
			return
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("job %d must end, and its dependents must be released", job)
		}
		e.tick(time.Second)
	}
}

// hasEnded reports whether a job has ended or is deleted.
func (e *env) hasEnded(id int64) bool {
	e.t.Helper()
	jobs := e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}})
	return len(jobs) == 0 || jobs[0].State.Finished()
}

// afterInsertRace inserts dependents at the moment at which their predecessor ends, in all ways.
func afterInsertRace(e *env) {
	node := e.nodeFor("n", 1e6*time.Hour)
	for i := range afterEnds {
		end := &afterEnds[i]
		refused := 0
		for range afterRounds() {
			predecessor, cause, call := end.prepare(e, node)
			e.tick(time.Second)
			var ids []int64
			e.atOnce(
				func(b store.Backend) error {
					time.Sleep(rand.N(time.Millisecond)) // the other call has more to do
					return call(e.ctx, b)
				},
				func(b store.Backend) error {
					res, err := b.Insert(e.ctx, store.InsertRequest{Now: e.now, Jobs: []store.NewJob{
						follows(on(predecessor, store.OnSuccess)), follows(on(predecessor, store.OnFailure)), follows(on(predecessor, store.OnEither)),
					}})
					if end.name == "deleted" && errors.Is(err, store.ErrNotFound) {
						return nil
					}
					ids = res.IDs()
					return err
				})
			e.repair(node, cause, call)
			if len(ids) == 0 {
				refused++
			}
			for on, id := range ids {
				job := e.job(id)
				e.want(job.State, end.want(store.On(on)), fmt.Sprintf("predecessor %s, on %v", end.name, store.On(on)))
				if job.State == never {
					e.want(job.Reason, fmt.Sprintf(end.why, cause), end.name)
				}
			}
			e.cancelLive()
			if e.t.Failed() {
				return
			}
		}
		if refused > 0 {
			e.t.Logf("%s: %d of %d inserts were refused", end.name, refused, afterRounds())
		}
	}
}
