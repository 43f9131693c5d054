package intercept

import (
	"context"
	"sync/atomic"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
)

// Timed returns a backend that passes each call to next, and reports it to observe when it has
// returned: what it did, how long it took, and its error. The operation is the name of the method in lower case, as in list_jobs; of
// List, Put and Delete, with the sort of rows.
func Timed(next store.Backend, observe func(event.Call)) store.Backend {
	return New(next, func(ctx context.Context, c Call, next func(context.Context) error) error {
		began := uptime.Now()
		var repeats atomic.Int64
		err := next(store.CountRepeats(ctx, &repeats))
		observe(event.Call{Operation: c.Operation, Took: uptime.Now().Sub(began), Repeats: int(repeats.Load()), Err: err})
		return err
	})
}
