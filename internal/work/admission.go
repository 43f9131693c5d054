package work

import (
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
)

// admissionPause is how long a fetcher waits after the admission has refused, until it asks again.
const admissionPause = 100 * time.Millisecond

// admission asks the program whether the node may claim jobs. It is safe for concurrent use.
type admission struct {
	ask    func() bool // nil: the node may always claim
	report *loop.Report

	mu        sync.Mutex
	held      bool // the last answer was no
	heldSince loop.Instant
}

// admits reports whether the node may claim jobs at present.
func (a *admission) admits() bool {
	if a.ask == nil {
		return true
	}
	a.mu.Lock()
	admitted := a.ask()
	changed := admitted == a.held
	since, now := a.heldSince, loop.Now()
	if changed {
		a.held, a.heldSince = !admitted, now
	}
	a.mu.Unlock()
	switch {
	case changed && admitted:
		a.report.Emit(event.Event{Kind: event.ClaimsFree, Took: now.Sub(since)})
	case changed:
		a.report.Emit(event.Event{Kind: event.ClaimsHeld})
	}
	return admitted
}
