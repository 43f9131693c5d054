package engine

import (
	"sync"

	"github.com/hourbell/hourbell/event"
)

// outage tells each failure of the store once, by what was being done, and
// when that works again.
type storeErrors struct {
	emit    func(event.Event)
	onError func(what string, err error) // is told of each failure

	mu           sync.Mutex
	failingSince map[string]instant
}

func newStoreErrors(emit func(event.Event), failed func(what string, err error)) *storeErrors {
	return &storeErrors{emit: emit, onError: failed, failingSince: map[string]instant{}}
}

// fail records that doing what failed.
func (o *storeErrors) add(what string, err error) {
	o.mu.Lock()
	_, told := o.failingSince[what]
	if !told {
		o.failingSince[what] = monotonic()
	}
	o.mu.Unlock()
	o.onError(what, err)
	kind := event.StoreFailed
	if told {
		kind = event.StoreRetried
	}
	o.emit(event.Event{Kind: kind, Detail: what, Err: err})
}

// over records that doing what succeeded.
func (o *storeErrors) clear(what string) {
	o.mu.Lock()
	since, failing := o.failingSince[what]
	delete(o.failingSince, what)
	o.mu.Unlock()
	if failing {
		o.emit(event.Event{Kind: event.StoreBack, Detail: what, Took: since.elapsed()})
	}
}
