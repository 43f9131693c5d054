package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// fetcher claims the jobs of one queue and hands them to its workers.
type fetcher struct {
	engine   *Engine
	queue    string
	width    int // workers
	jobs     chan *Run
	pace     pace
	inFlight atomic.Int64 // claimed and not over
	refill   atomic.Int64 // ring room when inHand falls to this
	room     signal
	wake     signal

	begun    atomic.Int64 // jobs that workers have taken
	workTime atomic.Int64 // for how long those that ended have worked, in nanoseconds
	// What was taken and how long it took, at the last claim.
	begunAtClaim, workTimeAtClaim int64
	suspectsReadAt                instant // for suspects
	// What is claimed ahead has to begin in time: see hoarding.
	checkMarkedAt instant
	checkBegun    int64
}

func newFetcher(e *Engine, queue string, width int) *fetcher {
	return &fetcher{
		engine: e, queue: queue, width: width,
		jobs: make(chan *Run, width+farDepth),
		room: newSignal(), wake: e.wakes.queues[queue],
	}
}

// run claims until ctx ends, then waits for the workers to put down what they
// have not begun; those that work go on.
func (f *fetcher) run(ctx context.Context, workers *sync.WaitGroup) {
	for range f.width {
		workers.Go(func() { f.work(workers) })
	}
	defer close(f.jobs)
	f.learn(func() {})
	poll := f.engine.cfg.PollBusy
	failures := 0
	for ctx.Err() == nil {
		if f.prefetchIsStale() {
			f.releaseUnstarted()
		}
		if opened := f.engine.solo.closed(); opened != nil {
			f.awaitOpening(ctx, opened)
			continue
		}
		if f.runSuspect(ctx) {
			continue
		}
		f.learnSpeed()
		if f.full() {
			f.await(ctx, f.stalePrefetchTimer(), f.room)
			continue
		}
		if f.engine.outcomes.backlog() > maxBacklog { // the store takes them more slowly than it hands out
			_ = sleep(ctx, 2*time.Millisecond)
			continue
		}
		started := monotonic()
		limit := f.pace.limit(f.width, int(f.inFlight.Load()))
		res, err := f.claim(ctx, limit)
		if err != nil {
			if !errors.Is(err, errNoLease) {
				_ = sleep(ctx, retryWait(failures)) // ctx is looked at by the loop
				failures++
			}
			continue
		}
		failures = 0
		if len(res.Jobs) == limit {
			poll = f.engine.cfg.PollBusy
			f.awaitRoom(ctx)
			continue
		}
		poll = f.awaitWork(ctx, res, started, poll)
	}
}

// awaitWork waits, after a claim that got less than it asked for, until there
// may be more: for a push, for what is due next, or for poll to pass. A short
// claim does not prove that nothing is due, for rows may have been locked: so
// it returns a poll that begins short and doubles, shortest after a push, which
// says that there is something. The store's clock was read after the claim
// started; so what is due next is asked for a little too early rather than too late.
func (f *fetcher) awaitWork(ctx context.Context, res store.ClaimResult, started instant, poll time.Duration) (next time.Duration) {
	f.learn(func() { f.pace.less(f.width) })
	next = min(2*poll, f.engine.idlePoll())
	if len(res.Jobs) > 0 {
		next = f.engine.cfg.PollBusy
	}
	wait := next
	if len(f.jobs) > 0 {
		wait = min(wait, stalePrefetchAge)
	}
	if res.Again > 0 {
		wait = min(wait, res.Again)
	}
	if !res.NextDue.IsZero() {
		wait = min(wait, max(started.add(res.NextDue.Sub(res.Now)).until(), 0))
	}
	if f.await(ctx, time.After(wait), f.wake) {
		return f.engine.cfg.PollBusy / 8
	}
	return next
}

// learnSpeed bounds how far to claim ahead by how long the jobs took that ended since
// the last claim, if any did.
func (f *fetcher) learnSpeed() {
	begun, took := f.begun.Load(), f.workTime.Load()
	if begun > f.begunAtClaim && took > f.workTimeAtClaim {
		f.learn(func() { f.pace.bound(f.width, time.Duration((took-f.workTimeAtClaim)/(begun-f.begunAtClaim))) })
		f.begunAtClaim, f.workTimeAtClaim = begun, took
	}
}

// learn changes the pace, and with it when the next claim is worth making.
func (f *fetcher) learn(change func()) {
	f.pace.far = store.RoundTrip(f.engine.cfg.Backend) > 0
	change()
	f.refill.Store(int64(f.pace.refillAt(f.width)))
}

// awaitRoom waits until the claim just made is used up to the point where the
// next is worth making, and lets the pace learn from how long that took. How long
// the claim itself took is not the jobs' fault: of a store that is far away more
// has to be claimed at a time, not less.
func (f *fetcher) awaitRoom(ctx context.Context) {
	handed := monotonic()
	for f.full() && ctx.Err() == nil && !f.prefetchIsStale() {
		f.await(ctx, f.stalePrefetchTimer(), f.room)
	}
	f.learn(func() { f.pace.used(f.width, handed.elapsed()) })
}

// full says that another claim is not worth making yet.
func (f *fetcher) full() bool { return f.inFlight.Load() > f.refill.Load() }

// hoardTime is how long a job that was claimed ahead may wait for a worker.
const stalePrefetchAge = 500 * time.Millisecond

// hoarding says that what was claimed ahead does not begin in time. It marks
// the last job that waits, and expects it to begin before the time is over.
func (f *fetcher) prefetchIsStale() bool {
	now, begun := monotonic(), f.begun.Load()
	if begun >= f.checkBegun {
		f.checkMarkedAt, f.checkBegun = now, begun+int64(len(f.jobs))
	}
	return begun < f.checkBegun && now.sub(f.checkMarkedAt) >= stalePrefetchAge
}

// hoardTimer fires when it is time to look at what was claimed ahead; nil:
// nothing was.
func (f *fetcher) stalePrefetchTimer() <-chan time.Time {
	if len(f.jobs) == 0 {
		return nil
	}
	return time.After(stalePrefetchAge)
}

// putBack hands back what no worker has taken, for other nodes, and stops
// claiming ahead until jobs are quick again.
func (f *fetcher) releaseUnstarted() {
	f.learn(func() { f.pace = pace{} })
	for {
		select {
		case run := <-f.jobs:
			f.engine.deliver(run, result{outcome: unstarted(run.Claimed), why: "it was claimed ahead and could not begin in time"})
			f.begun.Add(1)
			f.inFlight.Add(-1)
		default:
			return
		}
	}
}

// await waits, and says whether the bell rang.
func (f *fetcher) await(ctx context.Context, timer <-chan time.Time, b signal) bool {
	select {
	case <-ctx.Done():
	case <-timer:
	case <-b:
		return true
	}
	return false
}

// errNoLease: claiming has to wait for the lease.
var errNoLease = errors.New("the lease is not confirmed")

// maxStopWait bounds the wait for a claim that is under way when the node
// begins to stop.
const maxStopWait = 2 * time.Second

// claim asks for jobs and hands them out. Once sent, a claim is waited for
// also when the node begins to stop, for a while: jobs it returns are put back
// at once, which is better than not knowing.
func (f *fetcher) claim(ctx context.Context, limit int) (store.ClaimResult, error) {
	if !f.engine.solo.beginClaim() {
		return store.ClaimResult{}, errNoLease
	}
	defer f.engine.solo.endClaim()
	ahead := f.pace.ahead(limit)
	res, session, err := f.ask(ctx, store.ClaimRequest{Limit: limit, Ahead: ahead})
	if err == nil {
		f.hand(ctx, session, res, limit-ahead)
	}
	return res, err
}

// ask sends a claim, and returns with its answer the context of the runs.
func (f *fetcher) ask(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, context.Context, error) {
	e := f.engine
	node, session, ok := e.session.current()
	if !ok || e.history.blocked() {
		_ = sleep(ctx, 50*time.Millisecond)
		return store.ClaimResult{}, nil, errNoLease
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.cfg.CallTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(min(e.cfg.Heartbeat, maxStopWait), cancel) })()
	started := monotonic()
	req.Node, req.Queue, req.Kinds, req.Exact = node, f.queue, e.cfg.Kinds, e.allowList.list()
	res, err := e.cfg.Backend.Claim(call, req)
	switch {
	case errors.Is(err, store.ErrNodeGone):
		e.heartbeatNow.notify()
		_ = sleep(ctx, 50*time.Millisecond) // the heartbeat registers anew
		return res, nil, errNoLease
	case err != nil:
		e.lostAnswers.note()
		e.storeErrors.add("claim from queue "+f.queue, err)
		return res, nil, err
	}
	e.storeErrors.clear("claim from queue " + f.queue)
	e.step("claim", f.queue, len(res.Jobs))
	if len(res.Jobs) > 0 {
		e.emit(event.Event{Kind: event.JobsClaimed, Queue: f.queue, Count: int64(len(res.Jobs)), Took: started.elapsed()})
	}
	return res, session, nil
}

// runBlock is how many runs are allocated at a time: not more, for a long one
// keeps its whole block in memory.
const runBlock = 16

// hand gives claimed jobs to the workers: the first, which may begin, at once, and the
// others when the store knows that they may.
func (f *fetcher) hand(ctx, session context.Context, res store.ClaimResult, first int) {
	runs := f.addRuns(session, res)
	first = min(first, len(runs))
	f.start(runs[:first])
	for rest := runs[first:]; len(rest) > 0; {
		n := beginTogether(rest)
		if ctx.Err() != nil || f.engine.solo.closed() != nil || !f.begin(ctx, res.Batch, rest[:n]) {
			f.releaseRuns(rest, "it could not begin in time")
			return
		}
		f.start(rest[:n])
		rest = rest[n:]
	}
}

// start lets workers take runs.
func (f *fetcher) start(runs []*Run) {
	for _, run := range runs {
		f.jobs <- run // has room for all that may be in hand
	}
}

// begin tells the store that runs may begin, and reports whether they may.
func (f *fetcher) begin(ctx context.Context, batch int64, runs []*Run) bool {
	e := f.engine
	what := "begin jobs of queue " + f.queue
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.cfg.CallTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(min(e.cfg.Heartbeat, maxStopWait), cancel) })()
	refs := make([]store.ClaimRef, len(runs))
	for i, run := range runs {
		refs[i] = run.ref()
	}
	switch err := e.cfg.Backend.BeginJobs(call, store.BeginRequest{Node: e.session.number(), Batch: batch, Claims: refs}); {
	case errors.Is(err, store.ErrNodeGone):
		e.heartbeatNow.notify()
		return false
	case err != nil:
		e.storeErrors.add(what, err)
		return false
	}
	e.storeErrors.clear(what)
	return true
}

// handBack returns runs that no worker has got.
func (f *fetcher) releaseRuns(runs []*Run, why string) {
	for _, run := range runs {
		f.engine.deliver(run, result{outcome: unstarted(run.Claimed), why: why})
		f.inFlight.Add(-1)
	}
}

// runsOf makes runs of claimed jobs, which are in hand from now on.
func (f *fetcher) addRuns(session context.Context, res store.ClaimResult) []*Run {
	runs := make([]*Run, len(res.Jobs))
	var block []Run
	greatest := int64(0)
	for i, job := range res.Jobs {
		if len(block) == 0 {
			block = make([]Run, min(runBlock, len(res.Jobs)-i))
		}
		block[0] = Run{Claimed: job, sessionCtx: session, lease: f.engine.session}
		runs[i], block = &block[0], block[1:]
		greatest = max(greatest, job.Token)
	}
	f.engine.history.tokenSeen(greatest)
	f.inFlight.Add(int64(len(runs)))
	f.engine.inFlight.add(res.Batch, runs)
	return runs
}

// work runs jobs one after another until the fetcher closes the channel. If
// one of them ends the goroutine, another takes over.
func (f *fetcher) work(workers *sync.WaitGroup) {
	closed := false
	defer func() {
		if !closed {
			workers.Go(func() { f.work(workers) })
		}
	}()
	for run := range f.jobs {
		f.begun.Add(1)
		f.workOn(run)
	}
	closed = true
}

func (f *fetcher) workOn(run *Run) {
	defer func() {
		if f.inFlight.Add(-1); !f.full() {
			f.room.notify()
		}
	}()
	f.workTime.Add(int64(f.engine.execute(run)))
}
