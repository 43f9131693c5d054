package bound

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// earlyBackend bounds the calls of a store that fires early.
type earlyBackend struct {
	backend
	early store.EarlyFirer
}

// FireEarly implements store.EarlyFirer.
func (b earlyBackend) FireEarly(ctx context.Context, req store.FireEarlyRequest) (store.FireEarlyResult, error) {
	return Call(ctx, b.items(len(req.Firings)), b.early.FireEarly, req)
}

// FiredTo implements store.EarlyFirer.
func (b earlyBackend) FiredTo(ctx context.Context, req store.FiredToRequest) (time.Time, error) {
	return Call(ctx, b.items(len(req.Names)), b.early.FiredTo, req)
}
