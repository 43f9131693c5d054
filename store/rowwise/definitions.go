package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Put creates or changes calendars, limits or handlers; see store.Definitions.
func Put(ctx context.Context, tx Tx, req store.PutRequest, now time.Time) (store.PutResult, error) {
	switch req.Of() {
	case store.OfCalendars:
		return putCalendars(ctx, tx, req, now)
	case store.OfHandlers:
		return PutHandlers(ctx, tx, req, now)
	case store.OfPauses:
		return PutPauses(ctx, tx, req, now)
	}
	return PutLimits(ctx, tx, req, now)
}

// Delete deletes calendars, limits or handlers, or what is known of hosts; see store.Definitions.
func Delete(ctx context.Context, tx Tx, req store.DeleteRequest, now time.Time) error {
	switch req.Of {
	case store.OfCalendars:
		return deleteCalendars(ctx, tx, req, now)
	case store.OfHandlers:
		return DeleteHandlers(ctx, tx, req, now)
	case store.OfPauses:
		return DeletePauses(ctx, tx, req, now)
	case store.OfNodes:
		return ForgetHosts(ctx, tx, req, now)
	}
	return DeleteLimits(ctx, tx, req, now)
}
