package work

import (
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
)

// agedPause is the longest time between claims of aged jobs while jobs are left; it is shorter with a bound below ten times as much.
const agedPause = time.Second

// ageing decides which claims of a fetcher take aged jobs, which have been due for longer than a bound, whatever their priority
// (store.ClaimRequest.DueFor). All other claims go by priority. While claims leave no jobs, none of them takes aged jobs. Only the
// bound may be changed concurrently.
//
//	the last claims                          the next claim
//	by priority, and left no jobs            by priority
//	by priority, and may have left jobs      of aged jobs, if the pause is over
//	of aged jobs, and may have left some     of aged jobs
//	of aged jobs, and left none              by priority; the pause begins
type ageing struct {
	bound  atomic.Int64 // a time.Duration; 0: priorities do not age
	left   bool         // the last claim by priority may have left jobs
	paused loop.Instant // until then
}

// dueFor returns the age of the jobs that the next claim takes; 0: any.
func (a *ageing) dueFor() time.Duration {
	if !a.left || loop.Now() < a.paused {
		return 0
	}
	return time.Duration(a.bound.Load())
}

// claimed records a claim, and whether it may have left jobs that it would have taken. A claim of aged jobs that left only jobs of a kind
// that may have no more runs on the node has left none, because jobs of other kinds must not wait for them.
func (a *ageing) claimed(dueFor time.Duration, left, short bool) {
	switch {
	case dueFor == 0:
		a.left = left || short
	case !left:
		a.paused = loop.Now().Add(min(dueFor/10, agedPause))
	}
}

// SetAgeing changes after which time a due job of a queue, and of its places, starts before younger jobs, whatever their priority; 0:
// jobs start by priority only.
func (r *Runner) SetAgeing(queue string, bound time.Duration) {
	r.widths.mu.Lock()
	defer r.widths.mu.Unlock()
	r.widths.ageing[queue] = bound
	for _, f := range r.widths.fetchers[queue] {
		f.ageing.bound.Store(int64(bound))
	}
}
