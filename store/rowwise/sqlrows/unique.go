package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// SaveKeyHolds implements rowwise.Jobs.
func (s *Session) SaveKeyHolds(ctx context.Context, holds []store.KeyHold, _ time.Time) error {
	rows := make([]Args, len(holds))
	for i, h := range holds {
		rows[i] = Args{"kind": h.Kind, "unique": h.Unique, "id": h.ID, "until": Micros(h.Until)}
	}
	return s.InsertRows(ctx, upsertKeyHolds, rows)
}
