package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// ListSlots reads records in pages; see store.Schedules.
func (b *Backend) ListSlots(ctx context.Context, req store.ListSlotsRequest) ([]store.SlotInfo, error) {
	return rowwise.InTx(b.read(ctx, "list slots"), func(s *session) ([]store.SlotInfo, error) { return s.ListSlots(ctx, req) })
}
