package loop

import (
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
)

// Report sends the events of one node to a sink. It also keeps the list of the operations on the
// store that fail at present: it emits an event for the first failure of each operation, an event of
// lower level for each further failure, and an event when the operation works again. Concurrent
// calls are allowed.
type Report struct {
	sink   event.Sink
	node   func() int64
	failed func(what string, err error)

	mu           sync.Mutex
	failingSince map[string]Instant
}

// NewReport returns a Report. node returns the number of the node; failed is called for each failure
// of the store.
func NewReport(sink event.Sink, node func() int64, failed func(what string, err error)) *Report {
	return &Report{sink: sink, node: node, failed: failed, failingSince: map[string]Instant{}}
}

// Emit sends an event; it sets the event's node and time.
func (r *Report) Emit(ev event.Event) {
	ev.Node = r.node()
	ev.Time = time.Now()
	r.sink(ev)
}

// Step emits the event of a loop iteration.
func (r *Report) Step(loop, queue string, count int) {
	r.Emit(event.Event{Kind: event.Step, Detail: loop, Queue: queue, Count: int64(count)})
}

// StoreFailed records that the operation what failed with err.
func (r *Report) StoreFailed(what string, err error) {
	r.mu.Lock()
	_, known := r.failingSince[what]
	if !known {
		r.failingSince[what] = Now()
	}
	r.mu.Unlock()
	r.failed(what, err)
	kind := event.StoreFailed
	if known {
		kind = event.StoreRetried
	}
	r.Emit(event.Event{Kind: kind, Detail: what, Err: err})
}

// StoreWorks records that the operation what succeeded.
func (r *Report) StoreWorks(what string) {
	r.mu.Lock()
	since, failing := r.failingSince[what]
	delete(r.failingSince, what)
	r.mu.Unlock()
	if failing {
		r.Emit(event.Event{Kind: event.StoreBack, Detail: what, Took: since.Elapsed()})
	}
}
