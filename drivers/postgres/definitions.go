package postgres

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// Put creates or changes calendars, limits, handlers or pauses; see store.Definitions.
func (b *Backend) Put(ctx context.Context, req store.PutRequest) (store.PutResult, error) {
	switch req.Of() {
	case store.OfCalendars:
		return b.putCalendars(ctx, req)
	case store.OfHandlers:
		return b.putHandlers(ctx, req)
	case store.OfPauses:
		return b.putPauses(ctx, req)
	case store.OfFeed:
		return store.PutResult{}, b.putFeed(ctx, req)
	}
	return b.putLimits(ctx, req)
}

// Delete deletes calendars, limits, handlers or pauses, or what is known of hosts; see store.Definitions.
func (b *Backend) Delete(ctx context.Context, req store.DeleteRequest) error {
	switch req.Of {
	case store.OfCalendars:
		return b.deleteCalendars(ctx, req)
	case store.OfHandlers:
		return b.deleteHandlers(ctx, req)
	case store.OfPauses:
		return b.deletePauses(ctx, req)
	case store.OfNodes:
		return b.forgetHosts(ctx, req)
	}
	return b.deleteLimits(ctx, req)
}
