package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/store"
)

const (
	recountEvery = time.Minute
	// recountRarely is how many times as long a node waits that leaves the work to an older node.
	recountRarely = 4
	// recountRows is how many lanes and how many jobs a step changes, and recountRest the pause between two steps.
	recountRows = 500
	recountRest = 100 * time.Millisecond
)

// recounter compares the permits that limits count with the permits that jobs and nodes hold, and repairs what differs; see
// store.Permits.RecountPermits. One goroutine uses it.
type recounter struct {
	store       store.Permits
	node        *node.Node
	callTimeout time.Duration
}

// run recounts every recountEvery or so, until ctx ends; less often while another node does it.
func (r recounter) run(ctx context.Context) {
	for wait := recountEvery; ; {
		if loop.Sleep(ctx, time.Duration(float64(wait)*(0.5+loop.Around(r.store).Random("recount")))) != nil {
			return
		}
		wait = recountEvery
		for !r.node.Blocked() {
			more, left := r.once(ctx)
			if left {
				wait = recountRarely * recountEvery
			}
			if !more {
				break
			}
			if loop.Sleep(ctx, recountRest) != nil {
				return
			}
		}
	}
}

// once makes one step, and reports whether there is more to do, and whether the work is left to the oldest node.
func (r recounter) once(ctx context.Context) (more, left bool) {
	number, _, leased := r.node.Session()
	if !leased {
		return false, false
	}
	call, cancel := context.WithTimeout(ctx, r.callTimeout)
	defer cancel()
	report := r.node.Report()
	res, err := r.store.RecountPermits(call, store.RecountRequest{Node: number, Limit: recountRows})
	if err != nil {
		if ctx.Err() == nil {
			report.StoreFailed("recount permits", err)
		}
		return false, false
	}
	report.StoreWorks("recount permits")
	for _, lane := range res.Lanes {
		report.Emit(event.Event{
			Kind: event.PermitsRepaired, Name: lane.Limit,
			Detail: fmt.Sprintf("key %q: permits were counted as %d and starts as %d, and jobs hold %d and %d",
				lane.Key, lane.Counted.Permits, lane.Counted.Starts, lane.Held.Permits, lane.Held.Starts),
		})
	}
	report.Step("recount", "", len(res.Lanes)+res.Nodes+res.Jobs)
	return res.More, res.Left
}
