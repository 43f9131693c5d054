package engine

import (
	"sync"

	"github.com/hourbell/hourbell/event"
)

// storeErrors is the list of the operations on the store that fail at present. It emits an event
// for the first failure of each operation, an event of lower level for each further failure, and an
// event when the operation works again.
type storeErrors struct {
	emit    func(event.Event)
	onError func(what string, err error) // called for each failure

	mu           sync.Mutex
	failingSince map[string]instant
}

func newStoreErrors(emit func(event.Event), failed func(what string, err error)) *storeErrors {
	return &storeErrors{emit: emit, onError: failed, failingSince: map[string]instant{}}
}

// add records that the operation what failed with err.
func (o *storeErrors) add(what string, err error) {
	o.mu.Lock()
	_, known := o.failingSince[what]
	if !known {
		o.failingSince[what] = monotonic()
	}
	o.mu.Unlock()
	o.onError(what, err)
	kind := event.StoreFailed
	if known {
		kind = event.StoreRetried
	}
	o.emit(event.Event{Kind: kind, Detail: what, Err: err})
}

// clear records that the operation what succeeded.
func (o *storeErrors) clear(what string) {
	o.mu.Lock()
	since, failing := o.failingSince[what]
	delete(o.failingSince, what)
	o.mu.Unlock()
	if failing {
		o.emit(event.Event{Kind: event.StoreBack, Detail: what, Took: since.elapsed()})
	}
}
