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
	engine *Engine
	queue  string
	width  int // workers
	jobs   chan *Run
	pace   pace
	inHand atomic.Int64 // claimed and not over
	refill atomic.Int64 // ring room when inHand falls to this
	room   bell
	wake   bell

	begun atomic.Int64 // jobs that workers have taken
	// What is claimed ahead has to begin in time: see hoarding.
	markedAt   time.Duration
	markedThru int64
}

func newFetcher(e *Engine, queue string, width int) *fetcher {
	return &fetcher{
		engine: e, queue: queue, width: width,
		jobs: make(chan *Run, width+farDepth),
		room: newBell(), wake: e.wakes.queues[queue],
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
		if f.hoarding() {
			f.putBack()
		}
		if f.full() {
			f.await(ctx, f.hoardTimer(), f.room)
			continue
		}
		if f.engine.outcomes.backlog() > maxBacklog { // the store takes them more slowly than it hands out
			_ = sleep(ctx, 2*time.Millisecond)
			continue
		}
		started := monotonic()
		limit := f.pace.limit(f.width, int(f.inHand.Load()))
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
func (f *fetcher) awaitWork(ctx context.Context, res store.ClaimResult, started, poll time.Duration) (next time.Duration) {
	f.learn(func() { f.pace.less(f.width) })
	next = min(2*poll, f.engine.idlePoll())
	if len(res.Jobs) > 0 {
		next = f.engine.cfg.PollBusy
	}
	wait := next
	if len(f.jobs) > 0 {
		wait = min(wait, hoardTime)
	}
	if res.Again > 0 {
		wait = min(wait, res.Again)
	}
	if !res.NextDue.IsZero() {
		wait = min(wait, max(started+res.NextDue.Sub(res.Now)-monotonic(), 0))
	}
	if f.await(ctx, time.After(wait), f.wake) {
		return f.engine.cfg.PollBusy / 8
	}
	return next
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
	for f.full() && ctx.Err() == nil && !f.hoarding() {
		f.await(ctx, f.hoardTimer(), f.room)
	}
	f.learn(func() { f.pace.used(f.width, monotonic()-handed) })
}

// full says that another claim is not worth making yet.
func (f *fetcher) full() bool { return f.inHand.Load() > f.refill.Load() }

// hoardTime is how long a job that was claimed ahead may wait for a worker.
const hoardTime = 500 * time.Millisecond

// hoarding says that what was claimed ahead does not begin in time. It marks
// the last job that waits, and expects it to begin before the time is over.
func (f *fetcher) hoarding() bool {
	now, begun := monotonic(), f.begun.Load()
	if begun >= f.markedThru {
		f.markedAt, f.markedThru = now, begun+int64(len(f.jobs))
	}
	return begun < f.markedThru && now-f.markedAt >= hoardTime
}

// hoardTimer fires when it is time to look at what was claimed ahead; nil:
// nothing was.
func (f *fetcher) hoardTimer() <-chan time.Time {
	if len(f.jobs) == 0 {
		return nil
	}
	return time.After(hoardTime)
}

// putBack hands back what no worker has taken, for other nodes, and stops
// claiming ahead until jobs are quick again.
func (f *fetcher) putBack() {
	f.learn(func() { f.pace = pace{} })
	for {
		select {
		case run := <-f.jobs:
			f.engine.deliver(run, result{outcome: unstarted(run.Claimed), why: "it was claimed ahead and could not begin in time"})
			f.begun.Add(1)
			f.inHand.Add(-1)
		default:
			return
		}
	}
}

// await waits, and says whether the bell rang.
func (f *fetcher) await(ctx context.Context, timer <-chan time.Time, b bell) bool {
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
	e := f.engine
	node, session, ok := e.session.standing()
	if !ok || e.history.closed() {
		_ = sleep(ctx, 50*time.Millisecond)
		return store.ClaimResult{}, errNoLease
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.cfg.CallTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(min(e.cfg.Heartbeat, maxStopWait), cancel) })()
	started := monotonic()
	res, err := e.cfg.Backend.Claim(call, store.ClaimRequest{
		Node: node, Queue: f.queue, Kinds: e.cfg.Kinds, Exact: e.admitted.list(), Limit: limit,
	})
	switch {
	case errors.Is(err, store.ErrNodeGone):
		e.beatNow.ring()
		_ = sleep(ctx, 50*time.Millisecond) // the heartbeat registers anew
		return res, errNoLease
	case err != nil:
		e.suspect.raise()
		e.outage.fail("claim from queue "+f.queue, err)
		return res, err
	}
	e.outage.over("claim from queue " + f.queue)
	e.step("claim", f.queue, len(res.Jobs))
	if len(res.Jobs) > 0 {
		e.emit(event.Event{Kind: event.JobsClaimed, Queue: f.queue, Count: int64(len(res.Jobs)), Took: monotonic() - started})
	}
	f.hand(session, res)
	return res, nil
}

// runBlock is how many runs are allocated at a time: not more, for a long one
// keeps its whole block in memory.
const runBlock = 16

// hand gives claimed jobs to the workers.
func (f *fetcher) hand(session context.Context, res store.ClaimResult) {
	runs := make([]*Run, len(res.Jobs))
	var block []Run
	greatest := int64(0)
	for i, job := range res.Jobs {
		if len(block) == 0 {
			block = make([]Run, min(runBlock, len(res.Jobs)-i))
		}
		block[0] = Run{Claimed: job, session: session, standing: f.engine.session}
		runs[i], block = &block[0], block[1:]
		greatest = max(greatest, job.Token)
	}
	f.engine.history.claimed(greatest)
	f.inHand.Add(int64(len(runs)))
	f.engine.held.add(res.Batch, runs)
	for _, run := range runs {
		f.jobs <- run // has room for all that may be in hand
	}
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
		if f.inHand.Add(-1); !f.full() {
			f.room.ring()
		}
	}()
	f.engine.execute(run)
}
