package engine

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/ambient"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

const (
	pruneEvery = time.Minute
	// pruneAim is how long one step should take at most. Deleting needs the disk, and in SQLite
	// the only writer, which claims need too.
	pruneAim = 50 * time.Millisecond
	// pruneRest is the shortest pause between two steps. Steps take at most one part in pruneShare
	// of the time.
	pruneRest  = 20 * time.Millisecond
	pruneShare = 3
	// minPruned and firstPruned are the smallest and the first number of rows that a step deletes
	// of each table.
	minPruned   = 20
	firstPruned = 100
)

// prunePace decides how many rows a step deletes, and how long the pause after the step is.
type prunePace struct{ limit int }

// step adjusts the limit by how long a step took, up to most rows, and returns the pause before the
// next step.
func (p *prunePace) step(took time.Duration, most int) (rest time.Duration) {
	switch {
	case took > pruneAim:
		p.limit = max(p.limit/2, minPruned)
	case took < pruneAim/2:
		p.limit *= 2
	}
	p.limit = min(p.limit, most)
	return max(pruneRest, (pruneShare-1)*took)
}

// pruner deletes old rows. One goroutine uses it.
type pruner struct {
	store       store.Maintenance
	keep        store.PruneRequest
	callTimeout time.Duration
	blocked     func() bool // reports whether deleting has to wait
	report      *loop.Report
}

// run deletes old rows every pruneEvery or so, until ctx ends. The slower the store, the smaller
// its steps, so that a step never delays claims for long.
func (p pruner) run(ctx context.Context) {
	for {
		if loop.Sleep(ctx, time.Duration(float64(pruneEvery)*(0.5+ambient.Of(p.store).Random("prune")))) != nil {
			return
		}
		p.all(ctx, loop.Sleep)
	}
}

// all deletes until no old rows are left, with pauses between the steps.
func (p pruner) all(ctx context.Context, rest func(context.Context, time.Duration) error) {
	pace := prunePace{limit: min(firstPruned, p.keep.Limit)}
	for !p.blocked() {
		began := loop.Now()
		if !p.once(ctx, pace.limit) || rest(ctx, pace.step(began.Elapsed(), p.keep.Limit)) != nil {
			return
		}
	}
}

// once deletes up to limit rows of each table, and reports whether there are more.
func (p pruner) once(ctx context.Context, limit int) bool {
	call, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	req := p.keep
	req.Limit = limit
	res, err := p.store.Prune(call, req)
	if err != nil {
		if ctx.Err() == nil {
			p.report.StoreFailed("prune", err)
		}
		return false
	}
	p.report.StoreWorks("prune")
	total := res.Jobs + res.Slots + res.Nodes
	p.report.Step("prune", "", total)
	if total > 0 {
		p.report.Emit(event.Event{Kind: event.Pruned, Count: int64(total)})
	}
	return res.More
}
