package work

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/store"
)

// bounds are how many jobs of a kind run at once on the node. A kind with a bound is claimed by claims
// of its own, which take no more jobs than may begin. It is safe for concurrent use.
type bounds struct {
	byKind atomic.Pointer[map[string]int] // not changed after Store; nil: no kind has a bound

	mu      sync.Mutex
	claimed map[string]int // jobs that claims in progress may return
}

// all returns the bounds by kind.
func (b *bounds) all() map[string]int {
	if byKind := b.byKind.Load(); byKind != nil {
		return *byKind
	}
	return nil
}

// has reports whether a kind has a bound.
func (b *bounds) has(kind string) bool {
	_, bounded := b.all()[kind]
	return bounded
}

// SetMaxRunning changes how many jobs of a kind run at once on the node; 0: no bound. If more of them
// run already, they go on. Jobs that were claimed and have not begun are released.
func (r *Runner) SetMaxRunning(kind string, n int) {
	r.bounds.set(kind, n)
	r.widths.mu.Lock()
	defer r.widths.mu.Unlock()
	for _, of := range r.widths.fetchers {
		for _, f := range of {
			f.rebound.Store(true)
			f.room.Notify()
			f.wake.Notify()
		}
	}
}

// set changes a bound.
func (b *bounds) set(kind string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := map[string]int{}
	maps.Copy(next, b.all())
	if delete(next, kind); n > 0 {
		next[kind] = n
	}
	b.byKind.Store(&next)
}

// reserve returns how many jobs of a kind a claim may return, at most limit. unreserve has to be called
// when the jobs of the claim are in flight.
func (r *Runner) reserve(kind string, limit int) int {
	r.bounds.mu.Lock()
	defer r.bounds.mu.Unlock()
	most, bounded := r.bounds.all()[kind]
	if !bounded {
		return 0 // the bound was removed; the next claim has the kind among the others
	}
	n := max(min(limit, most-r.bounds.claimed[kind]-r.running(kind)), 0)
	if r.bounds.claimed == nil {
		r.bounds.claimed = map[string]int{}
	}
	r.bounds.claimed[kind] += n
	return n
}

func (r *Runner) unreserve(kind string, n int) {
	r.bounds.mu.Lock()
	defer r.bounds.mu.Unlock()
	r.bounds.claimed[kind] -= n
}

// running counts the jobs of a kind in flight that are not over.
func (r *Runner) running(kind string) (n int) {
	for _, run := range r.inFlight.all() {
		if run.Kind == kind && !run.delivered.Load() {
			n++
		}
	}
	return n
}

// claimParts claims up to limit jobs that have been due for dueFor: of the kinds without a bound by one claim, and of each kind with
// a bound by a claim of its own. Each of these parts is the first part in turn, so that no part gets
// all workers for ever. Polls of such a node are not shared, because they leave out kinds.
func (f *fetcher) claimParts(ctx context.Context, limit int, dueFor time.Duration, bounds map[string]int) (store.ClaimResult, error) {
	all, short := store.ClaimResult{}, false
	all.LimitRevision, all.Rated = f.granted.Revision, f.rated
	kinds := append(slices.Sorted(maps.Keys(bounds)), "") // "": the kinds without a bound
	f.polls = false
	f.turns++
	for i := range kinds {
		kind, left := kinds[(i+f.turns)%len(kinds)], limit-len(all.Jobs)
		if left == 0 {
			break
		}
		var res store.ClaimResult
		var err error
		if kind == "" {
			res, err = f.take(ctx, left, dueFor, "", func(kind string) bool { return bounds[kind] == 0 })
		} else if n := f.runner.reserve(kind, left); n > 0 {
			res, err = f.take(ctx, n, dueFor, "", func(other string) bool { return other == kind })
			f.runner.unreserve(kind, n)
			short = short || len(res.Jobs) == n && n < left
		} else {
			short = true
			continue // nothing was asked, and nothing is known
		}
		if err != nil {
			return all, err
		}
		all = join(all, res)
	}
	f.short.Store(short)
	return all, nil
}

// join returns what two claims returned together.
func join(a, b store.ClaimResult) store.ClaimResult {
	a.Jobs = append(a.Jobs, b.Jobs...)
	if !b.Now.IsZero() {
		a.Now = b.Now
	}
	a.NextDue, a.NextStart = store.Earlier(a.NextDue, b.NextDue), store.Earlier(a.NextStart, b.NextStart)
	a.LimitRevision, a.Rated, a.NoSuspects = b.LimitRevision, b.Rated, b.NoSuspects
	if a.Again == 0 || b.Again > 0 && b.Again < a.Again {
		a.Again = b.Again
	}
	return a
}
