package memory

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// feed is the feed: one row for each event.
type feed struct {
	keep   time.Duration // 0: nothing is stored
	rows   []store.EventRow
	lastID int64
	gone   store.EventCursor // the last row that was deleted
}

// note stores an event of a job.
func (s *Store) note(t store.EventType, job int64, reason string, now time.Time) {
	var rows store.EventRows
	rows.Add(t, job, reason)
	s.noteAll(rows, now)
}

// noteAll stores events.
func (s *Store) noteAll(rows store.EventRows, now time.Time) {
	if s.feed.keep == 0 {
		return
	}
	for _, row := range rows {
		s.feed.lastID++
		row.Cursor, row.At = store.EventCursor{ID: s.feed.lastID}, now
		for i := range row.Slots {
			row.Slots[i] = instant(row.Slots[i])
		}
		s.feed.rows = append(s.feed.rows, row)
	}
}

// ListEvents reads the feed; see store.Feed.
func (s *Store) ListEvents(ctx context.Context, req store.ListEventsRequest) (store.ListEventsResult, error) {
	if _, err := s.begin(ctx, "list events", time.Time{}); err != nil {
		return store.ListEventsResult{}, err
	}
	defer s.mu.Unlock()
	from, gap := store.EventsBegin(req, s.feed.gone)
	rows := slices.DeleteFunc(slices.Clone(s.feed.rows), func(row store.EventRow) bool { return row.Cursor.Before(from) })
	if n := store.EventRowsRead(req); len(rows) > n && req.Newest {
		rows = rows[len(rows)-n:]
	} else {
		rows = rows[:min(len(rows), n)]
	}
	for i := range rows {
		if row := &rows[i]; row.Type.OfSchedule() {
			row.Names = nil
			for _, id := range row.Subjects {
				row.Names = append(row.Names, s.scheduleName(id))
			}
		}
	}
	return store.EventsPage(req, rows, from, store.ListEventsResult{Gap: gap, Keep: s.feed.keep}), nil
}

// putFeed sets for how long events are kept.
func (s *Store) putFeed(req store.PutRequest, now time.Time) {
	if s.feed.keep == 0 && req.Feed.Keep > 0 {
		s.feed.lastID++
		s.feed.gone = store.EventCursor{ID: s.feed.lastID}
	}
	s.feed.keep = req.Feed.Keep
	s.record(req.FeedEntry(), 0, now)
}

// pruneEvents deletes rows of the feed that have been kept long enough.
func (s *Store) pruneEvents(limit int, now time.Time) int {
	gone := 0
	for gone < min(limit, len(s.feed.rows)) && s.feed.rows[gone].At.Add(s.feed.keep).Before(now) {
		s.feed.gone = s.feed.rows[gone].Cursor
		gone++
	}
	s.feed.rows = s.feed.rows[gone:]
	return gone
}
