// Package timed reports the calls of a store: what they did, how long they took, and their errors.
package timed

import (
	"context"
	"sync/atomic"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
)

// New returns a backend that passes each call to next, and reports it to observe when it has
// returned. The operation is the name of the method in lower case, as in list_jobs; of List, Put and Delete, with the sort of rows. What is not reported, and
// which abilities the backend has, package intercept says.
func New(next store.Backend, observe func(event.Call)) store.Backend {
	return intercept.New(next, func(ctx context.Context, c intercept.Call, next func(context.Context) error) error {
		began := uptime.Now()
		var repeats atomic.Int64
		err := next(store.CountRepeats(ctx, &repeats))
		observe(event.Call{Operation: c.Operation, Took: uptime.Now().Sub(began), Repeats: int(repeats.Load()), Err: err})
		return err
	})
}
