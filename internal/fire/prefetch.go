package fire

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Slots that are due soon are prefetched: their schedules are read and decided on before the slots
// are due. Where the result cannot differ, the decision is also written
// before the slot, so that only the claim remains for the instant of the slot. The store refuses an
// early decision if the schedule was changed since it was read, if the schedule has a live job that
// the slot may overlap, or if the slot is no longer on time. A decision that could not be written
// early is written at its instant. See firer for the states.

const (
	// prefetchAhead is how long before a slot it is decided on. It is nearly a second more than
	// plan.MaxEarly: when a slot of a schedule that fires every second is written, the next slot
	// becomes known in time to be prefetched too.
	prefetchAhead = 1800 * time.Millisecond
	// maxPrefetched is the greatest number of prefetched decisions; further schedules are read
	// after some of these were written.
	maxPrefetched = 50_000
	// fireChunk is how many decisions one call writes, concurrentWrites how many such calls run
	// concurrently, and maxChunks how many chunks are written before the loop checks for other
	// work.
	fireChunk        = 250
	concurrentWrites = 2
	maxChunks        = 8
)

// prefetched is a decision that was made before its slot was due.
type prefetched struct {
	store.Firing
	name        string
	onTimeUntil time.Time // the end of the slot's grace
}

// prefetchPage reads a page of schedules that are due soon, and decides on them.
func (f *firer) prefetchPage(ctx context.Context) error {
	if len(f.waiting)+len(f.early) >= maxPrefetched {
		f.prefetchAt = loop.Now().Add(prefetchAhead / 10)
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
		return nil // the next page is read at once
	}
	f.rotate(f.waiting)
	f.rotate(f.early)
	f.prefetchedTo = store.DueCursor{NextAt: page.Now.Add(prefetchAhead), ID: math.MaxInt64}
	f.prefetchAt = loop.Never
	f.expect(page.Next)
	return nil
}

// prefetch decides on a schedule before its slot is due, if the decision depends only on its row
// and its rule. Otherwise the schedule is decided on at its slot, in the next round.
func (f *firer) prefetch(s store.Schedule) {
	p, _, err := f.plans.Get(s)
	if err != nil || !p.CanPrefetch(s) || !f.cfg.MayRun(p.Definition) {
		f.roundAt = min(f.roundAt, f.clock.reaches(s.NextAt))
		return
	}
	f.notePlace(p)
	one := prefetched{Firing: p.Decide(s, s.NextAt), name: s.Name, onTimeUntil: p.OnTimeUntil(s.NextAt)}
	if f.mayFireEarly(one) {
		f.early = append(f.early, one)
		return
	}
	f.waiting = append(f.waiting, one)
}

// anyDue reports whether the instant of a prefetched decision has come.
func (f *firer) anyDue() bool {
	now := f.clock.now()
	return countDue(f.waiting, now) > 0 || countDue(f.early, now) > 0
}

// countDue returns how many decisions of a list, in the order of their slots, are due at now.
func countDue(list []prefetched, now time.Time) int {
	return sort.Search(len(list), func(i int) bool { return list[i].NextAt.After(now) })
}

// fireAtInstant writes decisions whose instant has come. Schedules whose decisions the store
// refuses are due, and are read again.
func (f *firer) fireAtInstant(ctx context.Context) error {
	now := f.clock.now()
	list := &f.waiting
	if countDue(*list, now) == 0 {
		list = &f.early
	}
	res, err := f.write(ctx, f.take(list, countDue(*list, now)), false)
	if len(res.Lost) > 0 || err != nil {
		f.roundAt = loop.AlreadyDue
	}
	return err
}

// restartPrefetch drops the prefetched decisions and reads their schedules again, and also the
// schedules that become due before that.
func (f *firer) restartPrefetch() {
	for _, list := range [][]prefetched{f.waiting, f.early} {
		if len(list) > 0 {
			f.roundAt = min(f.roundAt, f.clock.reaches(list[0].NextAt))
		}
	}
	f.waiting, f.early, f.prefetchedTo = nil, nil, store.DueCursor{NextAt: f.clock.now(), ID: math.MaxInt64}
	f.prefetchAt = loop.AlreadyDue
}

// write writes decisions in chunks, some concurrently; early: before their slots. The result
// contains the refused decisions of all chunks that were written.
func (f *firer) write(ctx context.Context, some []prefetched, early bool) (all store.FireResult, err error) {
	chunks := slices.Collect(slices.Chunk(some, fireChunk))
	results := make([]store.FireResult, len(chunks))
	errs := make([]error, min(concurrentWrites, len(chunks)))
	var writers sync.WaitGroup
	for writer := range errs {
		writers.Go(func() {
			for i := writer; i < len(chunks) && errs[writer] == nil; i += concurrentWrites {
				results[i], errs[writer] = f.fireChunk(ctx, chunks[i], early)
			}
		})
	}
	writers.Wait()
	for i, res := range results {
		all.Lost, all.Busy = append(all.Lost, res.Lost...), append(all.Busy, res.Busy...)
		for _, one := range chunks[i] {
			f.expect(one.NewNextAt)
		}
	}
	return all, cmp.Or(errs...)
}

func (f *firer) fireChunk(ctx context.Context, chunk []prefetched, early bool) (res store.FireResult, err error) {
	req := store.FireRequest{Firings: make([]store.Firing, len(chunk)), Until: chunk[0].onTimeUntil}
	names := make(map[int64]string, len(chunk))
	for i, one := range chunk {
		req.Firings[i] = one.Firing
		names[one.Schedule] = one.name
		if one.onTimeUntil.Before(req.Until) {
			req.Until = one.onTimeUntil
		}
	}
	if early {
		req.Ahead = plan.MaxEarly
	}
	if res, err = f.cfg.Store.Fire(ctx, req); err == nil {
		if len(res.Fired) > 0 && !early {
			f.cfg.Wakes.WakeJobs("")
		}
		emitFired(f.report, f.cfg.Wakes, names, res)
	}
	return res, err
}

// take removes the first n decisions of a list, but not more than maxChunks chunks, and returns
// them.
func (f *firer) take(list *[]prefetched, n int) []prefetched {
	n = min(n, maxChunks*fireChunk)
	taken := slices.Clone((*list)[:n])
	*list = slices.Delete(*list, 0, n)
	return taken
}

// rotate gives each node a different order of the decisions for the same instant, if there are
// many.
func (f *firer) rotate(list []prefetched) {
	for len(list) > 0 {
		same := countDue(list, list[0].NextAt)
		if same > fireChunk {
			place := startOffset(f.cfg.Node.Number(), same)
			copy(list, slices.Concat(list[place:same], list[:place]))
		}
		list = list[same:]
	}
}

// startOffset returns the index, of n, at which a node begins with the decisions for one instant,
// so that the nodes do not all write the same decisions at the same time. Multiples of the golden
// ratio are evenly distributed for any set of node numbers.
func startOffset(node int64, n int) int {
	_, part := math.Modf(float64(node) * (math.Sqrt(5) - 1) / 2)
	return int(part * float64(n))
}
