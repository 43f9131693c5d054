package fire

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// earlyRetryDelay is how long no early firing is tried for a schedule that had a live job.
const earlyRetryDelay = 10 * time.Second

// mayFireEarly reports whether a decision may be written before its slot.
func (f *firer) mayFireEarly(one prefetched) bool {
	if !plan.OnlyFires(one.Firing) {
		return false
	}
	until, busy := f.earlyRetryAt[one.Schedule]
	return !busy || until <= loop.Now()
}

// fireEarly writes decisions before their instant. A decision that the store refuses because of a
// live job waits for its instant. If another node or an edit came first, the prefetched schedules
// are read again. After the last early firing, the fetchers are woken, so that they learn when the
// jobs are due.
func (f *firer) fireEarly(ctx context.Context) error {
	some := f.take(&f.early, countDue(f.early, f.clock.now().Add(plan.MaxEarly)))
	res, err := f.write(ctx, some, true)
	f.waitForInstant(some, res.Busy)
	switch {
	case err != nil:
		f.roundAt = min(f.roundAt, f.clock.reaches(some[0].NextAt))
	case len(res.Lost) > 0:
		f.restartPrefetch()
	}
	if err == nil && len(f.early) == 0 {
		f.cfg.Wakes.WakeJobs("")
	}
	return err
}

// waitForInstant moves the decisions that could not be written early, because the schedule has a
// live job, to the decisions that wait for their instant.
func (f *firer) waitForInstant(some []prefetched, busy []int64) {
	if len(busy) == 0 {
		return
	}
	now := loop.Now()
	maps.DeleteFunc(f.earlyRetryAt, func(_ int64, until loop.Instant) bool { return until <= now })
	for _, id := range busy {
		f.earlyRetryAt[id] = now.Add(earlyRetryDelay)
	}
	for _, one := range some {
		if until, isBusy := f.earlyRetryAt[one.Schedule]; isBusy && until == now.Add(earlyRetryDelay) {
			f.waiting = append(f.waiting, one)
		}
	}
	slices.SortStableFunc(f.waiting, func(a, b prefetched) int { return a.NextAt.Compare(b.NextAt) })
}

// awaitFired waits until the slots that schedules have fired early have come. If the clock is set back during the wait, awaitFired does not
// wait longer.
func (s Settler) awaitFired(ctx context.Context, schedules []string) error {
	if len(schedules) == 0 {
		return nil
	}
	const made = "the change is made; wait for slots that had fired ahead of it"
	marks, err := s.marks(ctx, schedules)
	if err != nil {
		return fmt.Errorf("%s: %w", made, err)
	}
	for {
		now, err := s.Store.Now(ctx)
		if err != nil {
			return fmt.Errorf("%s: read the store's clock: %w", made, err)
		}
		at := store.LatestFiredTo(marks, now)
		if at.IsZero() {
			return nil
		}
		timer := time.NewTimer(at.Sub(now))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// marks returns the marks of schedules, deleted schedules too.
func (s Settler) marks(ctx context.Context, names []string) (marks []time.Time, err error) {
	for part := range slices.Chunk(names, readBatch) {
		rows, err := store.List[store.Schedule](ctx, s.Store, store.ListRequest{Names: part, Deleted: true, Limit: len(part)})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			marks = append(marks, row.Mark)
		}
	}
	return marks, nil
}
