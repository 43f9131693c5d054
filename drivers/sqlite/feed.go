package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// ListEvents reads the feed; see store.Feed. Transactions write one after the other, so that
// the numbers of rows are in the order of the commits.
func (b *Backend) ListEvents(ctx context.Context, req store.ListEventsRequest) (store.ListEventsResult, error) {
	return rowwise.InTx(b.read(ctx, "list events"), func(s *session) (out store.ListEventsResult, err error) {
		var keep time.Duration
		var gone store.EventCursor
		if err := s.One(ctx, readFeed, nil, sqlrows.IntoDuration(&keep), &gone.ID); err != nil {
			return out, err
		}
		out, err = s.ReadEvents(ctx, req, keep, gone)
		return out, err
	})
}

// BeginFeed implements sqlrows.Tx, while no events are stored.
func (s *session) BeginFeed(ctx context.Context, _ time.Duration) error {
	return s.Exec(ctx, raiseEvents, nil)
}

// PruneEvents implements sqlrows.PruneTx.
func (s *session) PruneEvents(ctx context.Context, limit int, now time.Time) (int, error) {
	gone, last := 0, int64(0)
	err := s.Each(ctx, pruneEvents, args{"now": sqlrows.Micros(now), "limit": limit}, func(r row) error {
		var id int64
		err := r.Scan(&id)
		gone, last = gone+1, max(last, id)
		return err
	})
	if err != nil || gone == 0 {
		return 0, err
	}
	return gone, s.Exec(ctx, updateGoneEvents, args{"id": last})
}
