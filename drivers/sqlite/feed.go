package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// newEvents is a row of the feed on its way to insert_events.sql.
type newEvents struct {
	Type     store.EventType `json:"type"`
	Subjects []int64         `json:"subjects"`
	Slots    []*int64        `json:"slots,omitempty"`
	Counts   []int64         `json:"counts,omitempty"`
	Reasons  []string        `json:"reasons,omitempty"`
}

// InsertEvents implements rowwise.Feed.
func (s *session) InsertEvents(ctx context.Context, rows store.EventRows, now time.Time) error {
	list := make([]newEvents, len(rows))
	for i, row := range rows {
		list[i] = newEvents{Type: row.Type, Subjects: row.Subjects, Counts: row.Counts, Reasons: row.Reasons}
		for _, slot := range row.Slots {
			list[i].Slots = append(list[i].Slots, sqlrows.Micros(slot))
		}
	}
	return s.Exec(ctx, sqlrows.InsertEvents, args{"events": sqlrows.JSON(list), "now": sqlrows.Micros(now)})
}

// ListEvents reads the feed; see store.Feed. Transactions write one after the other, so that
// the numbers of rows are in the order of the commits.
func (b *Backend) ListEvents(ctx context.Context, req store.ListEventsRequest) (store.ListEventsResult, error) {
	return rowwise.InTx(b.read(ctx, "list events"), func(s *session) (out store.ListEventsResult, err error) {
		var page store.ListEventsResult
		var gone store.EventCursor
		if err := s.One(ctx, readFeed, nil, sqlrows.IntoDuration(&page.Keep), &gone.ID); err != nil {
			return out, err
		}
		from, gap := store.EventsBegin(req, gone)
		page.Gap = gap
		name := listEvents
		if req.Newest {
			name = listNewestEvents
		}
		var rows []store.EventRow
		err = s.Each(ctx, name, args{"from_id": from.ID, "limit": store.EventRowsRead(req)}, func(r row) error {
			var e store.EventRow
			slots := []int64{}
			err := r.Scan(&e.Cursor.ID, sqlrows.IntoTime(&e.At), &e.Type, sqlrows.IntoList(&e.Subjects),
				sqlrows.IntoList(&e.Names), sqlrows.IntoList(&slots), sqlrows.IntoList(&e.Counts), sqlrows.IntoList(&e.Reasons))
			for _, slot := range slots {
				e.Slots = append(e.Slots, time.UnixMicro(slot).UTC())
			}
			rows = append(rows, e)
			return err
		})
		if req.Newest {
			slices.Reverse(rows)
		}
		out = store.EventsPage(req, rows, from, page)
		return out, err
	})
}

// KeepEvents sets for how long events are kept; see store.Feed.
func (b *Backend) KeepEvents(ctx context.Context, req store.KeepEventsRequest) error {
	return b.withinAt(ctx, "keep events", nil, req.Now)(func(s *session, now time.Time) error {
		if err := s.Exec(ctx, raiseEvents, nil); err != nil {
			return err
		}
		if err := s.Exec(ctx, sqlrows.UpdateFeed, args{"keep": req.Keep.Microseconds()}); err != nil {
			return err
		}
		return rowwise.Record(ctx, s, req.Entry(), now)
	})
}

// pruneEvents deletes rows of the feed that have been kept long enough.
func (s *session) pruneEvents(ctx context.Context, limit int, now time.Time) (int, error) {
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
