package engine

import (
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
)

// outage tells each failure of the store once, by what was being done, and
// when that works again.
type outage struct {
	emit   func(event.Event)
	failed func(what string, err error) // is told of each failure

	mu    sync.Mutex
	since map[string]time.Duration
}

func newOutage(emit func(event.Event), failed func(what string, err error)) *outage {
	return &outage{emit: emit, failed: failed, since: map[string]time.Duration{}}
}

// fail records that doing what failed.
func (o *outage) fail(what string, err error) {
	o.mu.Lock()
	_, told := o.since[what]
	if !told {
		o.since[what] = monotonic()
	}
	o.mu.Unlock()
	o.failed(what, err)
	kind := event.StoreFailed
	if told {
		kind = event.StoreRetried
	}
	o.emit(event.Event{Kind: kind, Detail: what, Err: err})
}

// over records that doing what succeeded.
func (o *outage) over(what string) {
	o.mu.Lock()
	since, failing := o.since[what]
	delete(o.since, what)
	o.mu.Unlock()
	if failing {
		o.emit(event.Event{Kind: event.StoreBack, Detail: what, Took: monotonic() - since})
	}
}
