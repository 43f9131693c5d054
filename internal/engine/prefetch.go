package engine

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// What comes soon is read, decided on and, where that cannot matter to anybody,
// fired before its instant, so that at the instant there is nothing left to do but
// claim. A decision made ahead is for the instant of its slot; the store refuses it
// where the schedule was changed since, where a job of the schedule lives, with
// which the slot may overlap, and where it is not on time any more. What could not
// fire early waits for its instant.

const (
	// ahead is how long before its instant a slot fires, if it can.
	maxEarly = 900 * time.Millisecond
	// foreseen is how long before its instant a slot is decided on: less than a
	// second more, so that the next slot of a schedule of every second is foreseen
	// too, which becomes known when this one fires.
	prefetchAhead = 1800 * time.Millisecond
	// mostComing bounds the decisions that wait; what is beyond is read when these
	// have gone.
	maxPrefetched = 50_000
	// fireChunk is how many of them are written at a time, fireLanes how many
	// such writes are under way at once, and mostChunks after how many of them the
	// loop looks around.
	fireChunk        = 250
	concurrentWrites = 2
	maxChunks        = 8
	// busyRest is how long a schedule that could not fire early, since a job of it
	// lived, is not tried early again.
	earlyRetryDelay = 10 * time.Second
)

// coming is a decision that waits for its instant, or until it is written.
type prefetched struct {
	store.Firing
	name        string
	onTimeUntil time.Time // it is not on time after this
}

// readAhead reads and decides a page of what comes soon.
func (f *firer) prefetchPage(ctx context.Context) error {
	if len(f.waiting)+len(f.early) >= maxPrefetched {
		f.prefetchAt = monotonic().add(prefetchAhead / 10)
		return nil
	}
	req := store.DueSchedulesRequest{Limit: fireBatch, Ahead: prefetchAhead, After: f.prefetchedTo}
	page, err := f.read(ctx, req)
	if err != nil {
		return err
	}
	for _, s := range page.Schedules {
		f.prefetch(s)
	}
	if n := len(page.Schedules); n == req.Limit {
		last := page.Schedules[n-1]
		f.prefetchedTo = store.DueCursor{NextAt: last.NextAt, ID: last.ID}
		return nil // and at once the next page
	}
	f.rotate(f.waiting)
	f.rotate(f.early)
	f.prefetchedTo = store.DueCursor{NextAt: page.Now.Add(prefetchAhead), ID: math.MaxInt64}
	f.prefetchAt = never
	f.expect(page.Next)
	return nil
}

// foresee decides on a schedule before its instant, unless more than its row and
// its rule takes part in the decision; then it is for the round at that instant.
func (f *firer) prefetch(s store.Schedule) {
	plan, _, err := f.plans.get(s)
	if err != nil || !plan.canPrefetch(s) || f.engine.unlisted(plan) {
		f.roundAt = min(f.roundAt, f.clock.reaches(s.NextAt))
		return
	}
	one := prefetched{Firing: plan.Decide(s, s.NextAt), name: s.Name, onTimeUntil: s.NextAt.Add(plan.grace())}
	if until, busy := f.earlyRetryAt[s.ID]; onlyFires(one.Firing) && (!busy || until <= monotonic()) {
		f.early = append(f.early, one)
		return
	}
	f.waiting = append(f.waiting, one)
}

// foreseeable says whether what becomes of the next slot can be decided before.
func (p Plan) canPrefetch(s store.Schedule) bool { return s.PausedAt.IsZero() && p.PauseAfter == 0 }

// ringsOnce says whether a decision is that the next slot makes its job, and
// nothing else.
func onlyFires(f store.Firing) bool {
	return len(f.Jobs) == 1 && len(f.Slots) == 0 && f.After == nil &&
		f.Jobs[0].Slot.Equal(f.NextAt) && f.NewMark.Equal(f.NextAt) && !f.Jobs[0].RunAt.Before(f.NextAt)
}

// ready says whether the instant of a decision has come.
func (f *firer) anyDue() bool {
	now := f.clock.now()
	return countDue(f.waiting, now) > 0 || countDue(f.early, now) > 0
}

// due is how many of some decisions, which are in order, are due.
func countDue(list []prefetched, now time.Time) int {
	return sort.Search(len(list), func(i int) bool { return list[i].NextAt.After(now) })
}

// fireReady writes decisions whose instant has come, some chunks at once. What is
// not taken is due: it is read again.
func (f *firer) fireAtInstant(ctx context.Context) error {
	now := f.clock.now()
	list := &f.waiting
	if countDue(*list, now) == 0 {
		list = &f.early
	}
	res, err := f.write(ctx, f.take(list, countDue(*list, now)), 0)
	if len(res.Lost) > 0 || err != nil {
		f.roundAt = alreadyDue
	}
	return err
}

// fireEarly writes decisions before their instant, some chunks at once. What a job
// of its schedule keeps from that waits for the instant. Where another node, or an
// editor, was first, what is left is read anew. In the end the fetchers learn when
// there will be something to claim.
func (f *firer) fireEarly(ctx context.Context) error {
	some := f.take(&f.early, countDue(f.early, f.clock.now().Add(maxEarly)))
	res, err := f.write(ctx, some, maxEarly)
	f.waitForInstant(some, res.Busy)
	switch {
	case err != nil:
		f.roundAt = min(f.roundAt, f.clock.reaches(some[0].NextAt))
	case len(res.Lost) > 0:
		f.restartPrefetch()
	}
	if len(f.early) == 0 {
		f.engine.wakes.jobs("")
	}
	return err
}

// readAnew forgets what was read ahead, and has it read again; and what becomes due
// meanwhile, too.
func (f *firer) restartPrefetch() {
	for _, list := range [][]prefetched{f.waiting, f.early} {
		if len(list) > 0 {
			f.roundAt = min(f.roundAt, f.clock.reaches(list[0].NextAt))
		}
	}
	f.waiting, f.early, f.prefetchedTo = nil, nil, store.DueCursor{NextAt: f.clock.now(), ID: math.MaxInt64}
	f.prefetchAt = alreadyDue
}

// rest lets those that could not fire early wait for their instant.
func (f *firer) waitForInstant(some []prefetched, busy []int64) {
	if len(busy) == 0 {
		return
	}
	now := monotonic()
	maps.DeleteFunc(f.earlyRetryAt, func(_ int64, until instant) bool { return until <= now })
	for _, id := range busy {
		f.earlyRetryAt[id] = now.add(earlyRetryDelay)
	}
	for _, one := range some {
		if until, isBusy := f.earlyRetryAt[one.Schedule]; isBusy && until == now.add(earlyRetryDelay) {
			f.waiting = append(f.waiting, one)
		}
	}
	slices.SortStableFunc(f.waiting, func(a, b prefetched) int { return a.NextAt.Compare(b.NextAt) })
}

// write writes decisions in chunks, some at once, early by so much at most. The result tells of those that were written.
func (f *firer) write(ctx context.Context, some []prefetched, early time.Duration) (all store.FireResult, err error) {
	chunks := slices.Collect(slices.Chunk(some, fireChunk))
	results := make([]store.FireResult, len(chunks))
	errs := make([]error, min(concurrentWrites, len(chunks)))
	var lanes sync.WaitGroup
	for lane := range errs {
		lanes.Go(func() {
			for i := lane; i < len(chunks) && errs[lane] == nil; i += concurrentWrites {
				results[i], errs[lane] = f.fireChunk(ctx, chunks[i], early)
			}
		})
	}
	lanes.Wait()
	for i, res := range results {
		all.Lost, all.Busy = append(all.Lost, res.Lost...), append(all.Busy, res.Busy...)
		for _, one := range chunks[i] {
			f.expect(one.NewNextAt)
		}
	}
	return all, cmp.Or(errs...)
}

func (f *firer) fireChunk(ctx context.Context, chunk []prefetched, early time.Duration) (store.FireResult, error) {
	req := store.FireRequest{Firings: make([]store.Firing, len(chunk)), Until: chunk[0].onTimeUntil, Ahead: early}
	names := make(map[int64]string, len(chunk))
	for i, one := range chunk {
		req.Firings[i] = one.Firing
		names[one.Schedule] = one.name
		if one.onTimeUntil.Before(req.Until) {
			req.Until = one.onTimeUntil
		}
	}
	res, err := f.engine.cfg.Backend.Fire(ctx, req)
	if err == nil {
		if len(res.Fired) > 0 && early == 0 {
			f.engine.wakes.jobs("")
		}
		f.engine.emitFired(names, res)
	}
	return res, err
}

// take takes decisions out of the first n of a list, not too many at a time.
func (f *firer) take(list *[]prefetched, n int) []prefetched {
	n = min(n, maxChunks*fireChunk)
	taken := slices.Clone((*list)[:n])
	*list = slices.Delete(*list, 0, n)
	return taken
}

// spread lets this node begin at a place of its own among decisions for the same
// instant.
func (f *firer) rotate(list []prefetched) {
	for len(list) > 0 {
		same := countDue(list, list[0].NextAt)
		if same > fireChunk {
			place := startOffset(f.engine.session.number(), same)
			copy(list, slices.Concat(list[place:same], list[:place]))
		}
		list = list[same:]
	}
}

// share is where among n places a node begins with what is due at one instant,
// so that not all nodes try the same at the same time. Multiples of the golden
// ratio are spread evenly, whatever the nodes' numbers.
func startOffset(node int64, n int) int {
	_, part := math.Modf(float64(node) * (math.Sqrt(5) - 1) / 2)
	return int(part * float64(n))
}
