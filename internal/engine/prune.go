package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/hourbell/hourbell/event"
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

// prune deletes old rows every pruneEvery or so. The slower the store, the smaller its steps, so
// that a step never delays claims for long.
func (e *Engine) prune(ctx context.Context) {
	for {
		if sleep(ctx, time.Duration(float64(pruneEvery)*(0.5+rand.Float64()))) != nil {
			return
		}
		e.pruneAll(ctx, sleep)
	}
}

// pruneAll deletes until no old rows are left, with pauses between the steps.
func (e *Engine) pruneAll(ctx context.Context, rest func(context.Context, time.Duration) error) {
	pace := prunePace{limit: min(firstPruned, e.cfg.Keep.Limit)}
	for !e.history.blocked() {
		began := monotonic()
		if !e.pruneOnce(ctx, pace.limit) || rest(ctx, pace.step(began.elapsed(), e.cfg.Keep.Limit)) != nil {
			return
		}
	}
}

// pruneOnce deletes up to limit rows of each table, and reports whether there are more.
func (e *Engine) pruneOnce(ctx context.Context, limit int) bool {
	call, cancel := context.WithTimeout(ctx, e.cfg.CallTimeout)
	defer cancel()
	req := e.cfg.Keep
	req.Limit = limit
	res, err := e.cfg.Backend.Prune(call, req)
	if err != nil {
		if ctx.Err() == nil {
			e.storeErrors.add("prune", err)
		}
		return false
	}
	e.storeErrors.clear("prune")
	total := res.Jobs + res.Slots + res.Nodes
	e.step("prune", "", total)
	if total > 0 {
		e.emit(event.Event{Kind: event.Pruned, Count: int64(total)})
	}
	return res.More
}
