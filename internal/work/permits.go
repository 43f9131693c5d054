package work

import (
	"context"
	"errors"
	"math"
	"sync"
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

// permits are the permits that the node holds for a queue and for its places. While the queue has no limit, they cost a lock
// for each claim. It is safe for concurrent use.
//
//	the number of jobs that the fetchers may have in flight
//	no limit, or only a rate       any
//	exchanged                      the share that the store has answered
//	an exchange is under way       as many as there were when it began; also after it has failed, until the next exchange
//	the store has another limit,   the same, but claims take no jobs until the next exchange
//	or the node another number
type permits struct {
	runner   *Runner
	queue    string
	fetchers []*fetcher // not changed after Runner.fetchers

	exchanging sync.Mutex // held by the caller that exchanges

	mu       sync.Mutex
	last     store.QueuePermits
	stale    bool  // last does not fit the limits of the store any more
	failed   bool  // the last exchange
	node     int64 // the number of the node that got last
	most     int   // jobs that may be in flight, if last is bounded
	reserved int   // jobs that claims in progress may return
	unused   int   // the fewest permits that were free since the last look of returnPermits
	askedAt  loop.Instant
	pause    time.Duration // after askedAt, while permits are scarce
}

func newPermits(r *Runner, queue string) *permits {
	return &permits{runner: r, queue: queue, pause: firstPermitPause}
}

// limited reports whether the queue has a limit, as far as is known.
func (p *permits) limited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stale || p.last.Revision != 0
}

// tight reports whether jobs should not be claimed in advance: there are too few permits, or the queue has a rate.
func (p *permits) tight() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Bounded && p.last.Scarce || p.last.Rated
}

// compare records the revision that a claim has found, which was sent with another one or the same.
func (p *permits) compare(found, sent int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stale = p.stale || found != sent && found != p.last.Revision
}

// used returns the number of jobs in flight, and of jobs that claims in progress may return. The caller holds mu.
func (p *permits) used() int {
	used := int64(p.reserved)
	for _, f := range p.fetchers {
		used += f.inFlight.Load()
	}
	return int(used)
}

// take returns how many jobs, at most limit, a fetcher may claim now, and sets what its claim says of permits. If there are
// too few, it asks for more first, unless it has done so shortly before. release has to be called when the jobs are in flight.
func (p *permits) take(ctx context.Context, f *fetcher, limit int) int {
	n, enough := p.reserve(f, limit)
	if enough {
		return n
	}
	p.exchanging.Lock()
	defer p.exchanging.Unlock()
	more, enough := p.reserve(f, limit-n) // another fetcher may have exchanged
	if n += more; enough || !p.mayAsk() {
		return n
	}
	p.exchange(ctx, func(used int) int { return used + limit - n })
	more, _ = p.reserve(f, limit-n)
	return n + more
}

// reserve is take without an exchange; enough means that an exchange would be of no use.
func (p *permits) reserve(f *fetcher, limit int) (n int, enough bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.Revision != 0 || p.stale {
		number, _, _ := p.runner.node.Session()
		if p.stale = p.stale || number != p.node; p.stale {
			return 0, false
		}
	}
	f.granted = p.last
	n = limit
	if p.last.Bounded {
		free := p.most - p.used()
		n = max(min(limit, free), 0)
		p.unused = max(min(p.unused, free-n), 0)
	}
	p.reserved += n
	return n, n == limit
}

// release ends a reservation.
func (p *permits) release(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved -= n
}

// mayAsk reports whether an exchange is worth sending.
func (p *permits) mayAsk() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rest() <= 0
}

// rest returns the time until an exchange is worth sending. The caller holds mu.
func (p *permits) rest() time.Duration {
	if p.failed || p.last.Scarce && !p.stale {
		return p.askedAt.Add(p.pause).Until()
	}
	return 0
}

// exchange replaces the permits by as many as want returns for the number of jobs in flight. The caller holds exchanging.
func (p *permits) exchange(ctx context.Context, want func(used int) int) {
	r := p.runner
	number, _, ok := r.node.Session()
	p.mu.Lock()
	used, before := p.used(), p.last
	p.askedAt, p.failed = loop.Now(), !ok
	p.most = min(p.most, used) // until the answer: the store may take back all others
	p.mu.Unlock()
	if !ok {
		return
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.CallTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(min(r.cfg.Heartbeat, maxStopWait), cancel) })()
	what := "exchange permits of queue " + p.queue
	res, err := r.cfg.Store.ExchangePermits(call, store.ExchangePermitsRequest{Node: number, Queue: p.queue, InUse: used, Want: want(used)})
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.stale, p.failed, p.pause = true, true, firstPermitPause
		if errors.Is(err, store.ErrNodeGone) {
			r.node.HeartbeatNow()
		} else {
			r.report.StoreFailed(what, err)
		}
		return
	}
	r.report.StoreWorks(what)
	p.last, p.node, p.most, p.unused, p.stale = res, number, res.Share, math.MaxInt, false
	if p.pause = min(2*p.pause, lastPermitPause); !res.Scarce || res.Share != before.Share {
		p.pause = firstPermitPause
	}
	if res.Bounded {
		r.widths.bounded.Notify()
	}
	for _, f := range p.fetchers {
		f.room.Notify()
	}
}

// awaitPermits waits until a job of the queue has ended, or until an exchange is worth sending.
func (f *fetcher) awaitPermits(ctx context.Context) {
	f.permits.mu.Lock()
	rest := f.permits.rest()
	f.permits.mu.Unlock()
	timer := time.NewTimer(max(rest, 5*time.Millisecond))
	defer timer.Stop()
	f.await(ctx, timer.C, f.room)
}

// ReturnPermits returns permits that are not used, until ctx ends: also while the node stops and its last jobs run. While no queue has
// a limit, it waits.
func (r *Runner) ReturnPermits(ctx context.Context) {
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
			held = r.returnUnused(ctx)
		}
	}
}

// returnUnused returns unused permits of all queues. It reports whether a queue has a limit of jobs that run concurrently.
func (r *Runner) returnUnused(ctx context.Context) (bounded bool) {
	r.widths.mu.Lock()
	all := r.widths.permits
	r.widths.mu.Unlock()
	for _, p := range all {
		bounded = p.returnUnused(ctx) || bounded
	}
	return bounded
}

// returnUnused returns the permits that were not used since its last call. Once in a heartbeat it exchanges in any case, because
// others may want permits. It reports whether the queue has a limit of jobs that run concurrently.
func (p *permits) returnUnused(ctx context.Context) (bounded bool) {
	p.exchanging.Lock()
	defer p.exchanging.Unlock()
	p.mu.Lock()
	free := max(p.last.Permits-p.used(), 0)
	unused := min(p.unused, free)
	p.unused = free
	bounded = p.last.Bounded
	due := bounded && !p.stale && (unused > 0 || p.last.Permits > 0 && p.askedAt.Elapsed() > p.runner.cfg.Heartbeat)
	held := p.last.Permits
	p.mu.Unlock()
	if due {
		p.exchange(ctx, func(used int) int { return max(held-unused, used) })
	}
	return bounded
}
