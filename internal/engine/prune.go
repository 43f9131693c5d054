package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/hourbell/hourbell/event"
)

const (
	pruneEvery = time.Minute
	pruneRest  = 20 * time.Millisecond // between two batches, for others to get in
)

// prune deletes what has been kept long enough, in small batches.
func (e *Engine) prune(ctx context.Context) {
	for {
		if sleep(ctx, time.Duration(float64(pruneEvery)*(0.5+rand.Float64()))) != nil {
			return
		}
		for !e.history.closed() && e.pruneOnce(ctx) {
			if sleep(ctx, pruneRest) != nil {
				return
			}
		}
	}
}

// pruneOnce deletes one batch, and says whether there is more.
func (e *Engine) pruneOnce(ctx context.Context) bool {
	call, cancel := context.WithTimeout(ctx, e.cfg.CallTimeout)
	defer cancel()
	res, err := e.cfg.Backend.Prune(call, e.cfg.Keep)
	if err != nil {
		if ctx.Err() == nil {
			e.outage.fail("prune", err)
		}
		return false
	}
	e.outage.over("prune")
	total := res.Jobs + res.Slots + res.Nodes
	e.step("prune", "", total)
	if total > 0 {
		e.emit(event.Event{Kind: event.Pruned, Count: int64(total)})
	}
	return res.More
}
