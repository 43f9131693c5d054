package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// fetcher claims the jobs of one queue and passes them to the workers of the queue.
type fetcher struct {
	runner   *Runner
	queue    string
	crew     crew
	width    int // number of workers at the last look at crew
	jobs     chan *Run
	pace     pace
	inFlight atomic.Int64 // claimed jobs that are not over, without jobs whose workers are stuck and replaced
	depth    atomic.Int64 // of pace
	room     loop.Signal  // is sent when inFlight falls so far that it is not full any more
	wake     loop.Signal
	turn     *loop.Turn // decides when to claim without any other reason
	polls    bool       // the next claim is such a poll
	handled  bool       // the last claim found a handler of starts (store.ClaimResult.Handled)
	starts   starts

	// short reports whether the last claim may have left jobs of a kind that has as many runs as it may
	// have on this node.
	short   atomic.Bool
	rebound atomic.Bool // the bound of a kind has changed
	turns   int         // counts claims of parts, so that each part is first in turn

	ageing ageing

	permits *permits           // of the queue, or of the queue within which its place is
	within  string             // if the queue is the queue of a place: the queue to which the place belongs; otherwise empty
	granted store.QueuePermits // what the next claim says of permits
	leads   bool               // the next claim has a permit, because it is the turn of the fetcher
	rated   bool               // a rate of a kind or of keys concerns the queue, as far as is known
	askedAt loop.Instant       // when the last claim was sent

	session   context.Context // of the last claim; it ends with the lease
	calmUntil loop.Instant    // until then nothing is claimed in advance, because the node lost its lease

	// A queue of a place is dormant until its first job: it has no workers, and wake-ups that may be
	// for other queues make it claim at most once per dormantPause. Most places have no jobs.
	dormant bool
	workers *sync.WaitGroup // counts the workers

	claiming int          // jobs that the claim in progress may return; guarded by permits.mu
	closed   bool         // no worker waits for a permit any more; guarded by permits.mu
	wants    atomic.Int64 // the number of workers for which there is work, as far as is known; 0: as many as jobs in flight
	gated    atomic.Int64 // workers that wait for a permit

	replaced atomic.Int64 // stuck workers in whose place there are others

	begun    atomic.Int64 // jobs that workers have begun or given back
	ended    atomic.Int64 // jobs that have begun and ended
	workTime atomic.Int64 // their total run time, in nanoseconds
	// The values of ended and workTime when the pace was last limited by the speed of jobs.
	endedBefore, workTimeBefore int64
	suspectsReadAt              loop.Instant // when the queue was last searched for suspects
	noSuspects                  bool         // the last claim found that there are none (store.ClaimResult.NoSuspects)
	// Start and target of the present check for a stale prefetch: see prefetchIsStale.
	checkMarkedAt loop.Instant
	checkBegun    int64
}

// newFetcher returns a fetcher of a queue or, if within is not empty, of a place within that queue.
func newFetcher(r *Runner, queue, within string, width int, bound time.Duration, permits *permits) *fetcher {
	f := &fetcher{
		runner: r, queue: queue, within: within, width: width, permits: permits,
		dormant: within != "" && r.cfg.Travel == nil,
		jobs:    make(chan *Run, width+farDepth),
		room:    loop.NewSignal(), wake: r.wakes.Jobs(queue), turn: r.wakes.JobTurn(queue),
	}
	f.crew.resize(width)
	f.ageing.bound.Store(int64(bound))
	return f
}

// count counts runs that were left, which the fetcher will take up, as in flight and with permits.
func (f *fetcher) count(left []*Run) {
	f.inFlight.Add(int64(len(left)))
	for _, run := range left {
		if !run.permitted { // otherwise this program has left it, and it has kept its permit
			run.permitted = true
			f.permits.running.Add(1)
		}
	}
}

// run takes up the runs that were left and counted, and claims jobs until ctx ends; then it closes the channel of
// the workers. Workers release the jobs that they have not begun, and finish the jobs that run.
func (f *fetcher) run(ctx context.Context, workers *sync.WaitGroup, left []*Run) {
	f.starts.begin = func(runs []*Run) bool { return f.begin(ctx, runs) }
	for _, run := range left {
		workers.Go(func() { f.attend(run, -1, goroutineNumber()) })
	}
	if f.workers = workers; !f.dormant {
		f.hire()
	}
	defer close(f.jobs)
	defer f.releaseUnstarted("its node takes no more jobs") // all workers may be busy for long
	defer f.permits.dismiss(f, true)
	f.learn(func() {})
	poll := f.runner.cfg.PollBusy
	if f.dormant {
		poll = dormantPause
	}
	failures := 0
	for ctx.Err() == nil {
		f.runner.around.Step(ctx, f.queue)
		if f.prefetchIsStale() {
			f.releaseUnstarted(notInTime)
		}
		f.follow()
		if opened := f.runner.solo.closed(); opened != nil {
			f.awaitOpening(ctx, opened)
			continue
		}
		if f.width > 0 && !f.runner.admission.admits() {
			f.wants.Store(0)
			f.runner.cfg.Travel.Refused(f.queue)
			f.await(ctx, time.After(admissionPause), nil)
			continue
		}
		if f.width > 0 && f.runSuspect(ctx) {
			continue
		}
		f.learnSpeed()
		f.calmDown(loop.Now())
		if f.tight() && f.pace.depth > 0 {
			f.releaseUnstarted(notInTime)
		}
		if f.full() {
			f.await(ctx, f.stalePrefetchTimer(), f.room)
			continue
		}
		if f.runner.outcomes.backlog() > maxBacklog { // outcomes are written more slowly than jobs end
			_ = loop.Sleep(ctx, 2*time.Millisecond)
			continue
		}
		width := f.width
		if f.dormant && f.permits.limited() {
			width = 1 // most places have no jobs
		}
		f.permits.ask(ctx, f, width)
		most := max(min(f.pace.limit(min(f.breadth(), width), int(f.inFlight.Load())), cap(f.jobs)-len(f.jobs)), 1)
		limit := f.permits.reserve(f, most)
		if limit == 0 {
			if limit = f.awaitTurn(ctx); limit == 0 {
				continue
			}
		}
		dueFor := f.ageing.dueFor()
		started, tick := loop.Now(), f.runner.cfg.Travel.BeginClaims()
		res, err := f.claim(ctx, limit, dueFor)
		f.permits.release(f)
		refused := err == nil && (res.LimitRevision != f.granted.Revision || res.Rated && !f.rated)
		held := !res.NextStart.IsZero()                         // a rate allows no more jobs
		again := dueFor > 0 && !held                            // a claim of aged jobs leaves the other jobs to the next claim
		search := err == nil && f.noSuspects && !res.NoSuspects // for suspects, before the wait for work
		f.runner.cfg.Travel.EndClaims(f.queue, tick, &res.ClaimResult, err != nil || refused || again || search)
		if err != nil {
			if !errors.Is(err, errNoLease) {
				_ = loop.Sleep(ctx, loop.RetryWait(failures, f.runner.around.Random("claim "+f.queue))) // the loop condition checks ctx
				failures++
			}
			continue
		}
		failures = 0
		f.noSuspects = res.NoSuspects
		if f.rated = res.Rated; refused { // the next claim exchanges permits first, or starts its jobs at once
			continue
		}
		f.ageing.claimed(dueFor, len(res.Jobs) == limit || held, f.short.Load())
		if len(res.Jobs) == limit {
			if poll = f.runner.cfg.PollBusy; !f.tight() && limit == most {
				f.awaitRoom(ctx)
			}
			continue
		}
		if again || search {
			continue
		}
		poll = f.awaitWork(ctx, res, started, poll)
	}
}

// tight reports whether jobs should not be claimed in advance, because of a rate.
func (f *fetcher) tight() bool { return f.rated || f.permits.rated() }

// breadth returns how many workers may run jobs at a time, besides stuck workers. It may be called concurrently.
func (f *fetcher) breadth() int {
	return min(f.crew.width(), int(max(f.permits.width.Load()-f.permits.stuck.Load(), 1)))
}

// hire starts the workers that are missing.
func (f *fetcher) hire() {
	f.dormant = false
	for _, number := range f.crew.missing() {
		f.workers.Go(func() { f.work(number) })
	}
}

// follow takes over changes of the number of workers and of the bounds of kinds. Jobs that no worker has
// taken go back when a bound has changed, or when there are fewer workers than before.
func (f *fetcher) follow() {
	width, rebound := f.crew.width(), f.rebound.Swap(false)
	if width == f.width && !rebound {
		return
	}
	fewer := width < f.width
	f.width = width
	if fewer || rebound {
		f.releaseUnstarted(notInTime)
	} else {
		f.learn(func() {})
	}
	if !f.dormant {
		f.hire()
	}
}

// dormantPause is the shortest time between the claims of a dormant fetcher that wake-ups cause.
const dormantPause = time.Second

// awaitWork waits for more work after a claim that returned fewer jobs than its limit: until the
// store sends a wake-up, until the next job of the queue is due, or until poll has passed. It
// returns the next poll. A claim that returned few jobs does not prove that no job is due, because
// the claim skips locked rows; so poll begins short and doubles. It is shortest after a wake-up,
// because then there is a due job. Because the store's clock was read after the claim was sent, the
// wait for the next due job ends early rather than late.
//
// When poll has grown to the interval of idle nodes, the turn decides, which nodes share.
func (f *fetcher) awaitWork(ctx context.Context, res store.PartialClaim, started loop.Instant, poll time.Duration) (next time.Duration) {
	f.wants.Store(0)
	f.learn(func() { f.pace.less(f.breadth()) })
	f.turn.SetWork(f.runner.Runs() + " " + f.queue)
	next = 2 * poll
	if len(res.Jobs) > 0 {
		next = f.runner.cfg.PollBusy
	}
	now := loop.Now()
	latest := loop.Never
	if f.unbegun() > 0 {
		latest = now.Add(stalePrefetchAge)
	}
	if res.Again > 0 {
		latest = min(latest, now.Add(res.Again))
	}
	if !res.NextDue.IsZero() {
		latest = min(latest, started.Add(res.NextDue.Sub(res.Now)))
	}
	if !res.NextStart.IsZero() {
		latest = min(latest, started.Add(res.NextStart.Sub(res.Now)))
	}
	if f.short.Load() {
		latest = min(latest, now.Add(f.runner.cfg.PollBusy))
	}
	for {
		idle := f.turn.Interval()
		next = min(next, idle)
		at := min(latest, now.Add(next))
		if next == idle {
			at = min(latest, f.turn.Next())
		}
		wait := at.Until()
		if wait <= 0 {
			f.polls = next == idle && at < latest
			return next
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return next
		case <-f.wake:
			timer.Stop()
			if f.dormant {
				_ = loop.Sleep(ctx, started.Add(dormantPause).Until()) // the caller checks ctx
				return dormantPause
			}
			return f.runner.cfg.PollBusy / 8
		case <-f.turn.Changed():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// learnSpeed limits the depth by the mean run time of the jobs that have ended since the last
// claim, if there are any.
func (f *fetcher) learnSpeed() {
	ended, took := f.ended.Load(), f.workTime.Load()
	if ended > f.endedBefore && took > f.workTimeBefore {
		f.learn(func() { f.pace.bound(f.breadth(), time.Duration((took-f.workTimeBefore)/(ended-f.endedBefore))) })
		f.endedBefore, f.workTimeBefore = ended, took
	}
}

// calmBeats is for how many heartbeats after the loss of a lease nothing is claimed in advance.
const calmBeats = 3

// calmDown lets the fetcher claim nothing in advance for some time after the node has lost its lease, because the loss has handed back what
// was claimed in advance: a node that claims as much at once, and loses the lease again, only makes work for the store.
func (f *fetcher) calmDown(now loop.Instant) {
	if f.session != nil && f.session.Err() != nil {
		f.session, f.calmUntil = nil, now.Add(calmBeats*f.runner.cfg.Heartbeat)
	}
	if now < f.calmUntil && f.pace.depth > 0 {
		f.learn(func() { f.pace.depth = 0 })
	}
}

// learn changes the pace.
func (f *fetcher) learn(change func()) {
	f.pace.far = f.runner.cfg.Far()
	change()
	f.depth.Store(int64(f.pace.depth))
}

// awaitRoom waits until so many jobs of the last claim are done that the next claim is worth
// sending, and adjusts the pace by the time of this wait. The latency of the claim is not part of
// that time: with a high-latency store, larger batches have to be claimed, not smaller batches.
func (f *fetcher) awaitRoom(ctx context.Context) {
	handed, breadth := loop.Now(), f.breadth()
	for f.full() && ctx.Err() == nil && !f.prefetchIsStale() && !f.hasChanged() {
		f.await(ctx, f.stalePrefetchTimer(), f.room)
	}
	took := handed.Elapsed()
	if took < quickUse && (f.full() || f.breadth() != breadth) {
		return // the wait ended for another reason, or there is room because there are more workers: no job need be done
	}
	f.learn(func() { f.pace.used(f.breadth(), took) })
}

// hasChanged reports whether follow has something to take over.
func (f *fetcher) hasChanged() bool { return f.crew.width() != f.width || f.rebound.Load() }

// full reports whether so many jobs are in flight that another claim is not worth sending yet. It may be called concurrently.
func (f *fetcher) full() bool {
	at := pace{depth: int(f.depth.Load())}
	return int(f.inFlight.Load()) > at.refillAt(f.breadth())
}

// unbegun returns how many claimed jobs wait for a worker or for a permit.
func (f *fetcher) unbegun() int { return len(f.jobs) + int(f.gated.Load()) }

// stalePrefetchAge is how long a prefetched job may wait for a worker and a permit.
const stalePrefetchAge = 500 * time.Millisecond

// prefetchIsStale reports whether prefetched jobs have not begun in time. Each check remembers the
// last job that has not begun, and expects that job to begin within stalePrefetchAge.
func (f *fetcher) prefetchIsStale() bool {
	now, begun := loop.Now(), f.begun.Load()
	if begun >= f.checkBegun {
		f.checkMarkedAt, f.checkBegun = now, begun+int64(f.unbegun())
	}
	return begun < f.checkBegun && now.Sub(f.checkMarkedAt) >= stalePrefetchAge
}

// stalePrefetchTimer returns a channel on which a time is sent when the prefetch has to be checked
// again; nil if no job is prefetched.
func (f *fetcher) stalePrefetchTimer() <-chan time.Time {
	if f.unbegun() == 0 {
		return nil
	}
	return time.After(stalePrefetchAge)
}

// notInTime is why a job goes back that was claimed in advance.
const notInTime = "it was claimed in advance, and no worker was free in time"

// releaseUnstarted releases the jobs that have not begun, so that other nodes can claim them,
// and stops prefetching until jobs are short again.
func (f *fetcher) releaseUnstarted(why string) {
	f.learn(func() { f.pace = pace{} })
	defer f.permits.dismiss(f, false)
	for {
		select {
		case run := <-f.jobs:
			f.runner.deliver(run, result{outcome: unstarted(run.Claimed), why: why})
			f.begun.Add(1)
			f.inFlight.Add(-1)
		default:
			return
		}
	}
}

// await waits for ctx, timer or b. If several have come, it takes b, too, because the caller looks at everything again: which of them
// the runtime chooses decides nothing.
func (f *fetcher) await(ctx context.Context, timer <-chan time.Time, b loop.Signal) {
	select {
	case <-ctx.Done():
	case <-timer:
	case <-b:
	}
	select {
	case <-b:
	default:
	}
}

// errNoLease means that the claim has to wait until the lease is confirmed.
var errNoLease = errors.New("the lease is not confirmed")

// maxStopWait limits how long a stopping node waits for a claim that has been sent.
const maxStopWait = 2 * time.Second

// claim claims up to limit jobs that have been due for dueFor and passes them to the workers. When the node begins to stop, claim
// still waits for a claim that has been sent, up to maxStopWait: its jobs are released at once,
// while the jobs of a claim without an answer would wait for the lease to expire.
func (f *fetcher) claim(ctx context.Context, limit int, dueFor time.Duration) (store.PartialClaim, error) {
	if !f.runner.solo.beginClaim() {
		return store.PartialClaim{}, errNoLease
	}
	defer f.runner.solo.endClaim()
	if bounds := f.runner.bounds.all(); len(bounds) > 0 {
		return f.claimParts(ctx, limit, dueFor, bounds)
	}
	note := ""
	if f.polls && dueFor == 0 && !f.permits.limited() && !f.rated {
		note = f.turn.Note()
	}
	f.polls = false
	return f.take(ctx, limit, dueFor, note, nil)
}

// take claims up to limit jobs that have been due for dueFor, of the kinds that only accepts, or of all kinds if only is nil, and
// passes them to the workers.
func (f *fetcher) take(ctx context.Context, limit int, dueFor time.Duration, note string, only func(kind string) bool) (store.PartialClaim, error) {
	ahead := f.pace.ahead(limit)
	switch {
	case f.granted.Rated() || f.rated:
		ahead = 0 // what is claimed starts at once
	case f.handled:
		ahead = limit
	}
	res, session, err := f.ask(ctx, store.ClaimRequest{Limit: limit, Ahead: ahead, DueFor: dueFor, Polled: note}, only)
	if err == nil {
		f.turn.Polled(note != "")
		f.handled, f.session = res.Handled, session
		f.hand(ctx, session, res.ClaimResult, limit-ahead)
	}
	return res, err
}

// ask sends a claim of the kinds that only accepts, or of all kinds if only is nil, and returns its
// answer and the parent context of its runs.
func (f *fetcher) ask(ctx context.Context, req store.ClaimRequest, only func(kind string) bool) (store.PartialClaim, context.Context, error) {
	r := f.runner
	number, session, ok := r.node.Session()
	if !ok || r.node.Blocked() || !f.permits.belong(number) {
		_ = loop.Sleep(ctx, 50*time.Millisecond)
		return store.PartialClaim{}, nil, errNoLease
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.CallTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(min(r.cfg.Heartbeat, maxStopWait), cancel) })()
	started := loop.Now()
	f.askedAt = started
	req.Node, req.Queue, req.Within, req.Permits, req.Starts = number, f.queue, f.within, f.granted, f.rated
	req.Kinds, req.Exact = r.claimable(only)
	res, err := r.cfg.Claims.ClaimPart(call, req)
	switch {
	case errors.Is(err, store.ErrNodeGone):
		r.node.HeartbeatNow()
		_ = loop.Sleep(ctx, 50*time.Millisecond) // the heartbeat registers the node again
		return res, nil, errNoLease
	case err != nil:
		r.lostAnswers.note()
		r.report.StoreFailed("claim from queue "+f.queue, err)
		return res, nil, err
	}
	f.permits.compare(res.LimitRevision, req.Permits.Revision)
	r.report.StoreWorks("claim from queue " + f.queue)
	r.report.Step("claim", f.queue, len(res.Jobs))
	if len(res.Jobs) > 0 {
		r.report.Emit(event.Event{Kind: event.JobsClaimed, Queue: f.queue, Count: int64(len(res.Jobs)), Took: started.Elapsed()})
	}
	return res, session, nil
}

// hand passes claimed jobs to the workers: the first jobs at once, because the claim recorded that
// they may begin, and the other jobs after the store has recorded that they may begin. A job whose
// start sets off a hook or a handler is passed on at once, too: it begins when a worker has it.
func (f *fetcher) hand(ctx, session context.Context, res store.ClaimResult, first int) {
	runs := f.addRuns(session, res)
	first = min(first, len(runs))
	f.start(runs[:first])
	var rest []*Run
	for _, run := range runs[first:] {
		if run.starts == nil {
			rest = append(rest, run)
		} else {
			f.start([]*Run{run})
		}
	}
	for len(rest) > 0 {
		n := beginTogether(rest)
		if ctx.Err() != nil || f.runner.solo.closed() != nil || !f.begin(ctx, rest[:n]) {
			f.releaseRuns(rest, "it could not begin in time")
			return
		}
		f.start(rest[:n])
		rest = rest[n:]
	}
}

// start puts runs into the channel of the workers.
func (f *fetcher) start(runs []*Run) {
	for _, run := range runs {
		f.jobs <- run // the channel has room for the jobs of a claim, or a worker is free
	}
}

// begin records in the store that runs of one claim may begin, and reports whether they may, except
// the runs that are paused then.
func (f *fetcher) begin(ctx context.Context, runs []*Run) bool {
	r := f.runner
	what := "begin jobs of queue " + f.queue
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.CallTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(min(r.cfg.Heartbeat, maxStopWait), cancel) })()
	req := store.BeginRequest{
		Node: r.node.Number(), Name: r.node.Name(), Batch: runs[0].batch.number,
		Claims: make([]store.ClaimRef, len(runs)), Starts: make([]store.Start, len(runs)),
	}
	for i, run := range runs {
		req.Claims[i], req.Starts[i] = run.ref(), store.Start{Job: &run.Claimed, Hooks: plan.StartHooks(&run.Claimed, req.Name)}
	}
	res, err := r.cfg.Store.BeginJobs(call, req)
	switch {
	case errors.Is(err, store.ErrNodeGone):
		r.node.HeartbeatNow()
		return false
	case err != nil:
		r.report.StoreFailed(what, err)
		return false
	}
	r.report.StoreWorks(what)
	for _, run := range runs {
		if slices.Contains(res.Paused, run.ID) {
			run.paused.Store(true)
		}
	}
	return true
}

// releaseRuns releases runs that were not passed to a worker.
func (f *fetcher) releaseRuns(runs []*Run, why string) {
	for _, run := range runs {
		f.runner.deliver(run, result{outcome: unstarted(run.Claimed), why: why})
		f.inFlight.Add(-1)
	}
}

// addRuns makes runs of claimed jobs and adds them to the jobs in flight.
func (f *fetcher) addRuns(session context.Context, res store.ClaimResult) []*Run {
	if f.dormant && len(res.Jobs) > 0 {
		f.hire()
	}
	runs := make([]*Run, len(res.Jobs))
	startsFrom := f.askedAt
	if !res.StartsFrom.IsZero() {
		startsFrom = max(startsFrom, loop.InstantOf(res.StartsFrom))
	}
	greatest := int64(0)
	for i, job := range res.Jobs {
		runs[i] = &Run{Claimed: job, sessionCtx: session, node: f.runner.node, declared: &f.runner.allowList, runner: f.runner}
		if res.Handled || plan.HasStartHooks(&job) {
			runs[i].starts = &f.starts
		}
		if slack := store.LeastSlack(f.granted.Slack, job.Slack); slack > 0 {
			runs[i].beginBy = startsFrom.Add(slack)
		}
		greatest = max(greatest, job.Token)
	}
	f.runner.node.TokenSeen(greatest)
	f.inFlight.Add(int64(len(runs)))
	f.runner.inFlight.add(res, runs)
	return runs
}

// work runs jobs one after another, as the worker with a number, until the fetcher closes the channel
// or the queue has fewer workers. If a job ends the goroutine, a new goroutine continues the work.
func (f *fetcher) work(number int) {
	goroutine, over := goroutineNumber(), false
	var last *Run
	replaced := func() bool { return last != nil && last.attemptNow().replaced }
	defer func() {
		if !over && !replaced() {
			f.workers.Go(func() { f.work(number) })
		}
	}()
	for {
		size := f.crew.size.Load() // before the look at the width, so that no change is missed
		if f.crew.leave(number) {
			break
		}
		select {
		case run, open := <-f.jobs:
			if !open {
				over = true
				return
			}
			last = run
			f.workOn(run, number, goroutine)
			if replaced() { // another worker has the number
				over = true
				return
			}
			last = nil
		case <-size.changed:
		}
	}
	over = true
}

// workOn attends to a run when there is a permit, or gives it back, as the worker with a number in a goroutine.
func (f *fetcher) workOn(run *Run, number int, goroutine uint64) {
	if !f.permits.begin(f) {
		f.runner.around.Step(context.Background(), fmt.Sprintf("%s gives back %d", f.queue, run.ID))
		f.releaseRuns([]*Run{run}, "it was claimed in advance, and no permit of its queue was free in time")
		f.room.Notify()
		return
	}
	f.begun.Add(1)
	run.permitted = true
	f.attend(run, number, goroutine)
}

// attend executes a run that is counted as in flight and has a permit, as the worker with a number, or -1, in a goroutine.
func (f *fetcher) attend(run *Run, number int, goroutine uint64) {
	run.begins(f, number, goroutine)
	took := time.Duration(0)
	defer func() {
		at := run.returns()
		f.runner.afterAll(run, at)
		if took > 0 { // before the fetcher learns of the room
			f.workTime.Add(int64(took))
			f.ended.Add(1)
		}
		if !run.isLeft() && !at.abandoned { // otherwise the job goes on, or the permit was given back
			f.permits.end()
		}
		if !at.replaced {
			f.inFlight.Add(-1)
		} else if f.replaced.Add(-1); !at.abandoned {
			f.permits.stuck.Add(-1)
		}
		if !f.full() {
			f.room.Notify()
		}
		if f.short.Load() && f.runner.bounds.has(run.Kind) {
			f.wake.Notify()
		}
	}()
	took = f.runner.execute(run)
}
