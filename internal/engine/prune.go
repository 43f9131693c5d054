package engine

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

const (
	pruneEvery = time.Minute
	// pruneRarely is how many times as long the node waits at most while it finds nothing to delete: some minutes of history more
	// do no harm, and each of a hundred idle nodes looks.
	pruneRarely = 4
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

// run deletes old rows every pruneEvery or so, until ctx ends; less often while there are none. The slower the store, the smaller
// its steps, so that a step never delays claims for long.
func (p pruner) run(ctx context.Context) {
	for wait := pruneEvery; ; {
		if loop.Sleep(ctx, time.Duration(float64(wait)*(0.5+loop.Around(p.store).Random("prune")))) != nil {
			return
		}
		wait = nextPrune(wait, p.all(ctx, loop.Sleep))
	}
}

// nextPrune returns the pause after a round that deleted rows or none, given the pause before it.
func nextPrune(wait time.Duration, deleted bool) time.Duration {
	if deleted {
		return pruneEvery
	}
	return min(2*wait, pruneRarely*pruneEvery)
}

// all deletes until no old rows are left, with pauses between the steps, and reports whether it deleted any.
func (p pruner) all(ctx context.Context, rest func(context.Context, time.Duration) error) (deleted bool) {
	pace := prunePace{limit: min(firstPruned, p.keep.Limit)}
	for !p.blocked() {
		began := loop.Now()
		n, more := p.once(ctx, pace.limit)
		deleted = deleted || n > 0
		if !more || rest(ctx, pace.step(began.Elapsed(), p.keep.Limit)) != nil {
			break
		}
	}
	return deleted
}

// once deletes up to limit rows of each table, and returns how many it deleted, and whether there are more.
func (p pruner) once(ctx context.Context, limit int) (deleted int, more bool) {
	call, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	req := p.keep
	req.Limit = limit
	res, err := p.store.Prune(call, req)
	if err != nil {
		if ctx.Err() == nil {
			p.report.StoreFailed("prune", err)
		}
		return 0, false
	}
	p.report.StoreWorks("prune")
	total := res.Jobs + res.Slots + res.Nodes
	p.report.Step("prune", "", total)
	if total > 0 {
		p.report.Emit(event.Event{Kind: event.Pruned, Count: int64(total)})
	}
	return total, res.More
}
