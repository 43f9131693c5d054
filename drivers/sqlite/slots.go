package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// ListSlots reads records in pages; see store.Schedules.
func (b *Backend) ListSlots(ctx context.Context, req store.ListSlotsRequest) ([]store.SlotInfo, error) {
	return reading(ctx, b, "list slots", func(s *session) ([]store.SlotInfo, error) { return s.ListSlots(ctx, req) })
}
