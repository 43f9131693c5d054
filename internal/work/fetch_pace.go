package work

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// fetchPace is how many jobs a fetcher claims, and when.
type fetchPace struct {
	pace   pace
	depth  atomic.Int64 // of pace
	ageing ageing
	wants  atomic.Int64 // the number of workers for which there is work, as far as is known; 0: as many as jobs in flight

	begun    atomic.Int64 // jobs that workers have begun or given back
	ended    atomic.Int64 // jobs that have begun and ended
	workTime atomic.Int64 // their total run time, in nanoseconds
	// The values of ended and workTime when the pace was last limited by the speed of jobs.
	endedBefore, workTimeBefore int64
	// Start and target of the present check for a stale prefetch: see prefetchIsStale.
	checkMarkedAt loop.Instant
	checkBegun    int64

	session   context.Context // of the last claim; it ends with the lease
	calmUntil loop.Instant    // until then nothing is claimed in advance, because the node lost its lease
}

// tight reports whether jobs should not be claimed in advance, because of a rate.
func (f *fetcher) tight() bool { return f.rated || f.permits.rated() }

// breadth returns how many workers may run jobs at a time, besides stuck workers. It may be called concurrently.
func (f *fetcher) breadth() int {
	return min(f.crew.width(), int(max(f.permits.width.Load()-f.permits.stuck.Load(), 1)))
}

// full reports whether so many jobs are in flight that another claim is not worth sending yet. It may be called concurrently.
func (f *fetcher) full() bool {
	at := pace{depth: int(f.depth.Load())}
	return int(f.inFlight.Load()) > at.refillAt(f.breadth())
}

// unbegun returns how many claimed jobs wait for a worker or for a permit.
func (f *fetcher) unbegun() int { return len(f.jobs) + int(f.gated.Load()) }

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
func (f *fetcher) awaitWork(ctx context.Context, res store.ClaimResult, started loop.Instant, poll time.Duration) (next time.Duration) {
	f.wants.Store(0)
	f.learn(func() { f.pace.less(f.breadth()) })
	f.turn.SetWork(f.runner.Runs() + " " + f.queue)
	next = 2 * poll
	if len(res.Jobs) > 0 {
		next = f.runner.cfg.PollBusy
	}
	now := loop.Now()
	latest := f.latest(res, started, now)
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

// latest returns when the next claim has to be sent at the latest, now, after a claim that was sent at an instant.
func (f *fetcher) latest(res store.ClaimResult, started, now loop.Instant) (latest loop.Instant) {
	latest = loop.Never
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
	return latest
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
