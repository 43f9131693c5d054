package engine

import (
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// What comes soon is read and decided on before its instant, so that at the
// instant there is nothing left to do but write. A decision made ahead is for
// the instant of its slot; the store refuses it where it is not due yet, where
// the schedule was changed since, and where it is not on time any more.

const (
	// foreseen is how long before its instant a slot is decided on: less than a
	// second, so that the next slot of a schedule of every second is foreseen too.
	foreseen = 900 * time.Millisecond
	// mostComing bounds the decisions that wait for their instant; what is
	// beyond is read when these have gone.
	mostComing = 50_000
	// fireChunk is how many of them are written at a time, fireLanes how many
	// such writes are under way at once, and mostChunks after how many of them the
	// loop looks around.
	fireChunk  = 250
	fireLanes  = 2
	mostChunks = 8
)

// coming is a decision that waits for its instant.
type coming struct {
	store.Firing
	name  string
	until time.Time // it is not on time after this
}

// readAhead reads and decides a page of what comes soon.
func (f *firer) readAhead(ctx context.Context) error {
	if len(f.coming) >= mostComing {
		f.aheadAt = monotonic() + foreseen/10
		return nil
	}
	req := store.DueSchedulesRequest{Limit: fireBatch, Ahead: foreseen, After: f.seen}
	page, err := f.read(ctx, req)
	if err != nil {
		return err
	}
	for _, s := range page.Schedules {
		f.foresee(s)
	}
	if n := len(page.Schedules); n == req.Limit {
		last := page.Schedules[n-1]
		f.seen = store.DueCursor{NextAt: last.NextAt, ID: last.ID}
		return nil // and at once the next page
	}
	f.seen = store.DueCursor{NextAt: page.Now.Add(foreseen), ID: math.MaxInt64}
	f.aheadAt = never
	f.expect(page.Next)
	return nil
}

// foresee decides on a schedule before its instant, unless more than its row and
// its rule takes part in the decision; then it is for the round at that instant.
func (f *firer) foresee(s store.Schedule) {
	plan, _, err := f.plans.get(s)
	if err != nil || !s.PausedAt.IsZero() || plan.PauseAfter > 0 || f.engine.foreign(plan) {
		f.dueAt = min(f.dueAt, f.clock.reaches(s.NextAt))
		return
	}
	f.coming = append(f.coming, coming{Firing: plan.Decide(s, s.NextAt), name: s.Name, until: s.NextAt.Add(plan.grace())})
}

// ready says whether the instant of a decision has come.
func (f *firer) ready() bool {
	return len(f.coming) > 0 && !f.coming[0].NextAt.After(f.clock.now())
}

// fireComing writes decisions whose instant has come, some chunks at once.
func (f *firer) fireComing(ctx context.Context) error {
	chunks := slices.Collect(slices.Chunk(f.takeReady(), fireChunk))
	results := make([]store.FireResult, len(chunks))
	errs := make([]error, min(fireLanes, len(chunks)))
	var lanes sync.WaitGroup
	for lane := range errs {
		lanes.Go(func() {
			for i := lane; i < len(chunks) && errs[lane] == nil; i += fireLanes {
				results[i], errs[lane] = f.fireChunk(ctx, chunks[i])
			}
		})
	}
	lanes.Wait()
	for i, res := range results {
		if len(res.Lost) > 0 {
			f.dueAt = atOnce
		}
		for _, one := range chunks[i] {
			f.expect(one.NewNextAt)
		}
	}
	for _, err := range errs {
		if err != nil {
			f.dueAt = atOnce // what was not written is due
			return err
		}
	}
	return nil
}

func (f *firer) fireChunk(ctx context.Context, chunk []coming) (store.FireResult, error) {
	req := store.FireRequest{Firings: make([]store.Firing, len(chunk)), Until: chunk[0].until}
	names := make(map[int64]string, len(chunk))
	for i, one := range chunk {
		req.Firings[i] = one.Firing
		names[one.Schedule] = one.name
		if one.until.Before(req.Until) {
			req.Until = one.until
		}
	}
	res, err := f.engine.cfg.Backend.Fire(ctx, req)
	if err == nil {
		f.engine.tellFired(names, res)
	}
	return res, err
}

// takeReady takes decisions whose instant has come out of those that wait,
// instant by instant.
func (f *firer) takeReady() []coming {
	now := f.clock.now()
	first := f.coming[0].NextAt
	ready := sort.Search(len(f.coming), func(i int) bool { return f.coming[i].NextAt.After(now) })
	same := sort.Search(ready, func(i int) bool { return f.coming[i].NextAt.After(first) })
	from, n := 0, min(ready, mostChunks*fireChunk)
	if same > fireChunk {
		n = min(same, n)
		from = share(f.engine.session.number(), same-n)
	}
	taken := slices.Clone(f.coming[from : from+n])
	f.coming = slices.Delete(f.coming, from, from+n)
	return taken
}

// share is where among n+1 places a node begins with what is due at one instant,
// so that not all nodes try the same at the same time. Multiples of the golden
// ratio are spread evenly, whatever the nodes' numbers.
func share(node int64, n int) int {
	_, part := math.Modf(float64(node) * (math.Sqrt(5) - 1) / 2)
	return int(part * float64(n))
}
