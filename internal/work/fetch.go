package work

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// fetcher claims the jobs of one queue and passes them to the workers of the queue. Its three parts are the pace (how many jobs it claims,
// and when), the gate (whether jobs may begin) and the crew (who runs them).
type fetcher struct {
	fetchPace
	fetchGate
	fetchCrew

	runner *Runner
	queue  string
	within string // if the queue is the queue of a place: the queue to which the place belongs; otherwise empty
	wake   loop.Signal
	turn   *loop.Turn // decides when to claim without any other reason

	polls          bool         // the next claim is such a poll
	turns          int          // counts claims of parts, so that each part is first in turn
	askedAt        loop.Instant // when the last claim was sent
	suspectsReadAt loop.Instant // when the queue was last searched for suspects
	noSuspects     bool         // the last claim found that there are none (store.ClaimResult.NoSuspects)
	tick           int64        // of the clock of a test, before the queue was searched for suspects
}

// newFetcher returns a fetcher of a queue or, if within is not empty, of a place within that queue.
func newFetcher(r *Runner, queue, within string, width int, bound time.Duration, permits *permits) *fetcher {
	f := &fetcher{runner: r, queue: queue, within: within, wake: r.wakes.Jobs(queue), turn: r.wakes.JobTurn(queue)}
	f.permits = permits
	f.width, f.dormant = width, within != "" && r.cfg.Travel == nil
	f.jobs, f.room = make(chan *Run, width+farDepth), loop.NewSignal()
	f.crew.resize(width)
	f.ageing.bound.Store(int64(bound))
	return f
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
	for failures := 0; ctx.Err() == nil; {
		f.runner.around.Step(ctx, f.queue)
		if !f.mayClaim(ctx) {
			continue
		}
		limit, most := f.findRoom(ctx)
		if limit == 0 {
			continue
		}
		made := f.claimNext(ctx, limit)
		switch {
		case errors.Is(made.err, errNoLease):
		case made.err != nil:
			_ = loop.Sleep(ctx, loop.RetryWait(failures, f.runner.around.Random("claim "+f.queue))) // the loop condition checks ctx
			failures++
		default:
			failures = 0
			poll = f.goOn(ctx, made, limit, most, poll)
		}
	}
}

// mayClaim reports whether the fetcher may claim now. Otherwise it has waited for something that keeps it from claiming.
func (f *fetcher) mayClaim(ctx context.Context) bool {
	if f.prefetchIsStale() {
		f.releaseUnstarted(notInTime)
	}
	f.follow()
	if opened := f.runner.solo.closed(); opened != nil {
		f.awaitOpening(ctx, opened)
		return false
	}
	if f.width > 0 && !f.runner.admission.admits() {
		f.wants.Store(0)
		f.runner.cfg.Travel.Refused(f.queue)
		f.await(ctx, time.After(admissionPause), nil)
		return false
	}
	f.tick = f.runner.cfg.Travel.BeginClaims()
	if f.width > 0 && f.runSuspect(ctx) {
		return false
	}
	f.learnSpeed()
	f.calmDown(loop.Now())
	if f.tight() && f.pace.depth > 0 {
		f.releaseUnstarted(notInTime)
	}
	if f.full() {
		f.await(ctx, f.stalePrefetchTimer(), f.room)
		return false
	}
	if f.runner.outcomes.backlog() > maxBacklog { // outcomes are written more slowly than jobs end
		_ = loop.Sleep(ctx, 2*time.Millisecond)
		return false
	}
	return true
}

// findRoom returns how many jobs the next claim may return, and how many it might if there were permits. If limit is 0, it has waited
// in vain for a permit.
func (f *fetcher) findRoom(ctx context.Context) (limit, most int) {
	width := f.width
	if f.dormant && f.permits.limited() {
		width = 1 // most places have no jobs
	}
	f.permits.ask(ctx, f, width)
	most = max(min(f.pace.limit(min(f.breadth(), width), int(f.inFlight.Load())), cap(f.jobs)-len(f.jobs)), 1)
	if limit = f.permits.reserve(f, most); limit == 0 {
		limit = f.awaitTurn(ctx)
	}
	return limit, most
}

// madeClaim is a claim that a fetcher has made.
type madeClaim struct {
	res     store.ClaimResult
	err     error
	started loop.Instant
	dueFor  time.Duration // as in store.ClaimRequest
	refused bool          // the next claim exchanges permits first, or starts its jobs at once
	held    bool          // a rate allows no more jobs
	again   bool          // a claim of aged jobs leaves the other jobs to the next claim
	search  bool          // for suspects, before the wait for work
}

// claimNext makes a claim.
func (f *fetcher) claimNext(ctx context.Context, limit int) (made madeClaim) {
	made.dueFor = f.ageing.dueFor()
	made.started = loop.Now()
	res, err := f.claim(ctx, limit, made.dueFor)
	f.permits.release(f)
	made.res, made.err = res, err
	made.refused = err == nil && (res.LimitRevision != f.granted.Revision || res.Rated && !f.rated)
	made.held = !res.NextStart.IsZero()
	made.again = made.dueFor > 0 && !made.held
	made.search = err == nil && f.noSuspects && !res.NoSuspects
	f.runner.cfg.Travel.EndClaims(f.queue, f.tick, &made.res, err != nil || made.refused || made.again || made.search)
	return made
}

// goOn waits, after a claim that succeeded, until the next claim is worth sending, and returns the next poll.
func (f *fetcher) goOn(ctx context.Context, made madeClaim, limit, most int, poll time.Duration) time.Duration {
	f.noSuspects = made.res.NoSuspects
	if f.rated = made.res.Rated; made.refused {
		return poll
	}
	claimed := len(made.res.Jobs)
	f.ageing.claimed(made.dueFor, claimed == limit || made.held, f.short.Load())
	switch {
	case claimed == limit:
		if !f.tight() && limit == most {
			f.awaitRoom(ctx)
		}
		return f.runner.cfg.PollBusy
	case made.again || made.search:
		return poll
	}
	return f.awaitWork(ctx, made.res, made.started, poll)
}

// errNoLease means that the claim has to wait until the lease is confirmed.
var errNoLease = errors.New("the lease is not confirmed")

// maxStopWait limits how long a stopping node waits for a claim that has been sent.
const maxStopWait = 2 * time.Second

// claim claims up to limit jobs that have been due for dueFor and passes them to the workers. When the node begins to stop, claim
// still waits for a claim that has been sent, up to maxStopWait: its jobs are released at once,
// while the jobs of a claim without an answer would wait for the lease to expire.
func (f *fetcher) claim(ctx context.Context, limit int, dueFor time.Duration) (store.ClaimResult, error) {
	if !f.runner.solo.beginClaim() {
		return store.ClaimResult{}, errNoLease
	}
	defer f.runner.solo.endClaim()
	if bounds := f.runner.bounds.all(); len(bounds) > 0 {
		return f.claimParts(ctx, limit, dueFor, bounds)
	}
	note := ""
	if f.polls && dueFor == 0 && !f.permits.limited() && !f.rated && !f.dormant { // few nodes, if any, have the same place
		note = f.turn.Note()
	}
	f.polls = false
	return f.take(ctx, limit, dueFor, note, nil)
}

// take claims up to limit jobs that have been due for dueFor, of the kinds that only accepts, or of all kinds if only is nil, and
// passes them to the workers.
func (f *fetcher) take(ctx context.Context, limit int, dueFor time.Duration, note string, only func(kind string) bool) (store.ClaimResult, error) {
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
		f.hand(ctx, session, res, limit-ahead)
	}
	return res, err
}

// ask sends a claim of the kinds that only accepts, or of all kinds if only is nil, and returns its
// answer and the parent context of its runs.
func (f *fetcher) ask(ctx context.Context, req store.ClaimRequest, only func(kind string) bool) (store.ClaimResult, context.Context, error) {
	r := f.runner
	number, session, ok := r.node.Session()
	if !ok || r.node.Blocked() || !f.permits.belong(number) {
		_ = loop.Sleep(ctx, 50*time.Millisecond)
		return store.ClaimResult{}, nil, errNoLease
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.CallTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(min(r.cfg.Heartbeat, maxStopWait), cancel) })()
	started := loop.Now()
	f.askedAt = started
	req.Node, req.Queue, req.Within, req.Permits, req.Starts = number, f.queue, f.within, f.granted, f.rated
	req.Kinds, req.Exact = r.claimable(only)
	req.Part = true
	res, err := r.cfg.Store.Claim(call, req)
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
