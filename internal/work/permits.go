package work

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

const (
	// firstPermitPause and lastPermitPause are how long a queue with too few permits waits until it asks for more: longer
	// and longer, as long as it gets none.
	firstPermitPause = 50 * time.Millisecond
	lastPermitPause  = 400 * time.Millisecond
	// unusedPermitPause is how long permits may be unused until they are returned.
	unusedPermitPause = 50 * time.Millisecond
)

// permits are the permits that the node holds for a queue and for its places. A job takes a permit before it begins, and gives it
// back when its attempt is over. Jobs that are claimed and have not begun need none: they wait for a permit, in turn with
// fetchers that have nothing to run. While the queue has no limit, permits cost a few atomic additions for each job. It is safe
// for concurrent use.
//
//	state                         jobs that may run                            jobs that claims may take
//	no limit, or only a rate      any                                          any
//	exchanged                     the share that the store has answered        the share, and the depth of the pace in advance
//	an exchange is under way,     as many as were in use when it began, until  the same
//	or has failed                 the answer of the next exchange
//	the store has another limit,  the same; if there was no limit, those       none, until the answer of the next exchange
//	or the node another number    that run already
type permits struct {
	runner *Runner
	queue  string

	exchanging loop.Lock // held by the caller that exchanges

	stuck   atomic.Int64 // jobs whose workers are stuck and replaced, and that have permits
	running atomic.Int64 // permits that are taken: by jobs that run, and by claims of fetchers in their turn
	gated   atomic.Bool  // permits have to be free before they are taken; changed while mu is held
	width   atomic.Int64 // last.Share; the greatest number if last is not bounded

	mu       sync.Mutex
	fetchers []*fetcher
	last     store.QueuePermits
	stale    bool    // last does not fit the limits of the store any more
	failed   bool    // the last exchange
	node     int64   // the number of the node that got last
	most     int     // permits that may be taken, if last is bounded
	waiting  []*turn // the first is next
	unused   int     // the fewest permits that were free since the last look of keep
	askedAt  loop.Instant
	pause    time.Duration // after askedAt, while permits are scarce
}

// turn is the wait of a worker or of a fetcher for a permit.
type turn struct {
	f     *fetcher
	claim bool      // it is the fetcher that waits
	given chan bool // gets true with a permit, or false if the job of the worker has to go back; has room for it
}

func newPermits(r *Runner, queue string) *permits {
	p := &permits{runner: r, queue: queue, exchanging: loop.NewLock(), pause: firstPermitPause}
	p.width.Store(math.MaxInt)
	return p
}

// serve replaces the fetchers. The fetchers before claim no more.
func (p *permits) serve(fetchers []*fetcher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetchers = fetchers
}

// limited reports whether the queue has a limit, as far as is known.
func (p *permits) limited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stale || p.last.Revision != 0
}

// rated reports whether the queue has a rate, so that jobs should not be claimed in advance.
func (p *permits) rated() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Rated()
}

// compare records the revision that a claim has found, which was sent with another one or the same.
func (p *permits) compare(found, sent int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found != sent && found != p.last.Revision {
		p.expire()
	}
}

// expire records that last does not fit any more. The caller holds mu.
func (p *permits) expire() {
	p.stale = true
	p.gated.Store(true)
}

// begin takes a permit for a job that a worker of f has, and waits until there is one. It returns false if the job has to go back.
func (p *permits) begin(f *fetcher) bool {
	if !p.gated.Load() {
		if p.running.Add(1); !p.gated.Load() { // an exchange that begins later counts the job
			return true
		}
		p.end()
	}
	p.mu.Lock()
	if len(p.waiting) == 0 && p.free() {
		p.running.Add(1)
		p.mu.Unlock()
		return true
	}
	if f.closed {
		p.mu.Unlock()
		return false
	}
	t := p.join(f, false)
	p.mu.Unlock()
	f.gated.Add(1)
	defer f.gated.Add(-1)
	return <-t.given
}

// end gives back a permit.
func (p *permits) end() {
	if p.running.Add(-1); p.gated.Load() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.handOut()
	}
}

// free reports whether a permit is free. The caller holds mu.
func (p *permits) free() bool {
	return !p.gated.Load() || p.last.Bounded && p.running.Load() < int64(p.most)
}

// join makes a worker of f, or f itself, wait for a permit. The caller holds mu.
func (p *permits) join(f *fetcher, claim bool) *turn {
	t := &turn{f: f, claim: claim, given: make(chan bool, 1)}
	p.waiting = append(p.waiting, t)
	p.handOut()
	return t
}

// handOut gives the free permits to the workers and fetchers that wait. The caller holds mu.
func (p *permits) handOut() {
	for len(p.waiting) > 0 && p.free() {
		t := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.running.Add(1)
		if t.claim {
			t.f.claiming = 1
		}
		t.given <- true
	}
}

// dismiss ends the waits of the workers of f, whose jobs go back. closing means that f claims no more: then no worker of f waits
// from now on.
func (p *permits) dismiss(f *fetcher, closing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.closed = f.closed || closing; closing {
		f.wants.Store(0)
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(t *turn) bool {
		if t.f != f || t.claim {
			return false
		}
		f.begun.Add(1)
		t.given <- false
		return true
	})
}

// used returns how many permits are in use: taken, or needed soon by jobs in flight, as far as there are permits. The caller holds mu.
func (p *permits) used() int {
	inFlight := int(p.stuck.Load())
	for _, f := range p.fetchers {
		inFlight += f.claimed()
	}
	return max(int(p.running.Load()), min(inFlight, p.most))
}

// wanted returns how many permits the node could use. The caller holds mu.
func (p *permits) wanted() (n int) {
	n = int(p.stuck.Load())
	for _, f := range p.fetchers {
		n += min(f.crew.width(), max(int(f.wants.Load()), f.claimed()))
	}
	return n
}

// claimed returns the number of jobs in flight, and of jobs that the claim in progress may return. The caller holds mu of permits.
func (f *fetcher) claimed() int { return int(f.inFlight.Load()) + f.claiming }

// ask exchanges permits before a claim of f, which has work for a number of workers, if the node has too few permits and has not
// asked for more shortly before.
func (p *permits) ask(ctx context.Context, f *fetcher, workers int) {
	f.wants.Store(int64(workers))
	if !p.lacking() {
		return
	}
	p.exchanging.Lock()
	if p.lacking() { // another caller may have exchanged
		p.exchange(ctx, 0)
	}
	p.exchanging.Unlock()
	p.runner.around.Step(ctx, f.queue)
}

// lacking reports whether the node has too few permits, or permits that do not fit any more, and an exchange is worth sending.
func (p *permits) lacking() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	number, _, _ := p.runner.node.Session()
	return (!p.fit(number) || p.last.Bounded && p.wanted() > p.last.Share) && p.rest() <= 0
}

// belong reports whether the node has its permits under a number.
func (p *permits) belong(number int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fit(number)
}

// fit reports whether last fits, as far as is known, and belongs to the node with a number. The caller holds mu.
func (p *permits) fit(number int64) bool {
	if p.last.Revision != 0 && p.node != number {
		p.expire()
	}
	return !p.stale
}

// rest returns the time until an exchange is worth sending. The caller holds mu.
func (p *permits) rest() time.Duration {
	if p.failed || p.last.Scarce && !p.stale {
		return p.askedAt.Add(p.pause).Until()
	}
	return 0
}

// reserve returns how many jobs, at most limit, f may claim now, and sets what its claim says of permits. release has to be
// called when the jobs are in flight.
func (p *permits) reserve(f *fetcher, limit int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stale {
		return 0
	}
	if p.last.Bounded {
		limit = max(min(limit, p.room(f)), 0)
	}
	f.granted, f.claiming = p.last, limit
	p.unused = min(p.unused, max(p.most-p.used(), 0))
	return f.claiming
}

// room returns how many jobs f may claim: for the permits that no job in flight needs, and for its pace in advance. What other
// fetchers have claimed in advance needs no permits, because it is done soon. The caller holds mu.
func (p *permits) room(f *fetcher) int {
	if p.last.Share == 0 {
		return 0
	}
	room := p.last.Share - int(p.stuck.Load()) + int(f.depth.Load()) - f.claimed()
	for _, other := range p.fetchers {
		if other != f {
			room -= max(other.claimed()-int(other.depth.Load()), 0)
		}
	}
	return room
}

// release ends the reservation of f, and gives back the permit of its turn.
func (p *permits) release(f *fetcher) {
	p.mu.Lock()
	f.claiming = 0
	p.mu.Unlock()
	if f.leads {
		f.leads = false
		p.end()
	}
}

// awaitTurn waits until f may claim a job, because it is its turn, and returns 1; or 0 if the caller should look again before.
func (f *fetcher) awaitTurn(ctx context.Context) int {
	p := f.permits
	p.mu.Lock()
	if p.stale {
		rest := max(p.rest(), 5*time.Millisecond)
		p.mu.Unlock()
		f.await(ctx, time.After(rest), f.room)
		return 0
	}
	t := p.join(f, true)
	p.mu.Unlock()
	timer := time.NewTimer(lastPermitPause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-t.given:
	case <-f.room:
	}
	select { // the caller looks again, as in await
	case <-f.room:
	default:
	}
	p.mu.Lock()
	i := slices.Index(p.waiting, t)
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	f.granted, f.leads = p.last, i < 0
	p.mu.Unlock()
	if f.leads && ctx.Err() != nil {
		p.release(f)
	}
	return f.claiming
}

// exchange replaces the permits by as many as the node could use, at least keep. The caller holds exchanging.
func (p *permits) exchange(ctx context.Context, keep int) {
	r := p.runner
	number, _, ok := r.node.Session()
	p.mu.Lock()
	p.askedAt, p.failed = loop.Now(), !ok
	if !ok {
		p.mu.Unlock()
		return
	}
	used, want, before := p.used(), max(p.wanted(), keep), p.last
	p.most = min(p.most, used) // until the answer: the store may take back all others
	p.mu.Unlock()
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.CallTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(min(r.cfg.Heartbeat, maxStopWait), cancel) })()
	what := "exchange permits of queue " + p.queue
	res, err := r.cfg.Store.ExchangePermits(call, store.ExchangePermitsRequest{Node: number, Queue: p.queue, InUse: used, Want: want})
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.expire()
		p.failed, p.pause = true, firstPermitPause
		if errors.Is(err, store.ErrNodeGone) {
			r.node.HeartbeatNow()
		} else {
			r.report.StoreFailed(what, err)
		}
		return
	}
	r.report.StoreWorks(what)
	p.last, p.node, p.most, p.unused, p.stale = res, number, res.Share, math.MaxInt, false
	p.gated.Store(res.Bounded)
	p.width.Store(math.MaxInt)
	if p.pause = min(2*p.pause, lastPermitPause); !res.Scarce || res.Share != before.Share {
		p.pause = firstPermitPause
	}
	if res.Bounded {
		p.width.Store(int64(res.Share))
		r.widths.bounded.Notify()
	}
	p.handOut()
	for _, f := range p.fetchers {
		f.room.Notify()
	}
}

// KeepPermits returns permits that are not used, and asks for permits for which jobs wait, until ctx ends: also while the node stops
// and its last jobs run. While no queue has a limit, or the node holds no permits and needs none, it waits.
func (r *Runner) KeepPermits(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.widths.bounded:
		}
		for held := true; held; {
			if loop.Sleep(ctx, unusedPermitPause) != nil {
				return
			}
			r.around.Step(ctx, "permits")
			held = r.keepPermits(ctx)
		}
	}
}

// keepPermits is a step of KeepPermits. It reports whether there is a next one: see permits.keep.
func (r *Runner) keepPermits(ctx context.Context) (again bool) {
	r.widths.mu.Lock()
	all := maps.Clone(r.widths.permits)
	r.widths.mu.Unlock()
	for _, queue := range slices.Sorted(maps.Keys(all)) {
		p := all[queue]
		again = p.keep(ctx) || again
	}
	return again
}

// keep returns the permits that were not used since its last call, and asks for permits that are lacking. Once in a heartbeat it
// exchanges in any case, because others may want permits. It reports whether it has to be called again soon: the queue has a limit of
// jobs that run concurrently, and the node holds permits or needs some. Otherwise the next exchange, before a claim, is in time.
func (p *permits) keep(ctx context.Context) (again bool) {
	p.exchanging.Lock()
	defer p.exchanging.Unlock()
	lacking := p.lacking()
	p.mu.Lock()
	held := p.last.Permits
	free := max(held-p.used(), 0)
	least := held - min(p.unused, free)
	p.unused = free
	needed := min(max(p.wanted(), least), max(p.last.Share, p.used()))
	bounded := p.last.Bounded
	due := lacking || !p.stale && (needed < held || held > 0 && p.askedAt.Elapsed() > p.runner.cfg.Heartbeat)
	p.mu.Unlock()
	if bounded && due {
		p.exchange(ctx, least)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Bounded && (p.last.Permits > 0 || p.wanted() > 0 || p.used() > 0)
}
