package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// LockKeys implements rowwise.Jobs.
func (s *session) LockKeys(ctx context.Context, keys []store.JobKey, now time.Time) (map[store.JobKey]store.KeyHolder, error) {
	holders := map[store.JobKey]store.KeyHolder{}
	err := s.each(ctx, findUniqueJobs, args{"keys": jsonOf(keys), "now": micros(now)}, func(r row) error {
		var place int
		var h store.KeyHolder
		err := r.Scan(&place, &h.ID, &h.Live)
		holders[keys[place]] = h
		return err
	})
	return holders, err
}

// SaveKeyHolds implements rowwise.Jobs.
func (s *session) SaveKeyHolds(ctx context.Context, holds []store.KeyHold) error {
	type row struct {
		Kind, Unique string
		ID, Until    int64
	}
	rows := make([]row, len(holds))
	for i, h := range holds {
		rows[i] = row{h.Kind, h.Unique, h.ID, h.Until.UnixMicro()}
	}
	return s.exec(ctx, upsertKeyHolds, args{"holds": jsonOf(rows)})
}
