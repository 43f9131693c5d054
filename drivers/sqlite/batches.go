package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// InsertBatch implements rowwise.Edges.
func (s *session) InsertBatch(ctx context.Context, finally *store.Finally, now time.Time) (id int64, err error) {
	a := args{"now": sqlrows.Micros(now), "on": nil, "any": nil}
	if finally != nil {
		a["on"], a["any"] = int16(finally.On), finally.Any
	}
	err = s.One(ctx, insertBatch, a, &id)
	return id, err
}

// LockBatchJob implements rowwise.Edges.
func (s *session) LockBatchJob(ctx context.Context, batch int64) (found bool, err error) {
	err = s.Each(ctx, sqlrows.LockBatchJob, args{"batch": batch}, func(r row) error {
		var id int64
		found = true
		return r.Scan(&id)
	})
	return found, err
}
