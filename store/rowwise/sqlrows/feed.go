package sqlrows

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// InsertEvents implements rowwise.Feed.
func (s *Session) InsertEvents(ctx context.Context, rows store.EventRows, now time.Time) error {
	type events struct { // lists are JSON texts
		Type     store.EventType `json:"type"`
		Subjects string          `json:"subjects"`
		Slots    *string         `json:"slots,omitempty"`
		Counts   *string         `json:"counts,omitempty"`
		Reasons  *string         `json:"reasons,omitempty"`
	}
	if len(rows) == 0 {
		return nil
	}
	list := make([]events, len(rows))
	for i, row := range rows {
		var slots []*int64
		for _, slot := range row.Slots {
			slots = append(slots, Micros(slot))
		}
		list[i] = events{row.Type, JSONList(row.Subjects), listOrNull(slots), listOrNull(row.Counts), listOrNull(row.Reasons)}
	}
	return s.Exec(ctx, insertEvents, Args{"events": JSON(list), "now": Micros(now)})
}

// putFeed sets for how long events are kept; see store.PutRequest.
func (c Calls[S]) putFeed(ctx context.Context, req store.PutRequest) error {
	return c.WriteAt(ctx, req.String(), nil, req.Now)(func(s S, now time.Time) error {
		if err := s.BeginFeed(ctx, req.Feed.Keep); err != nil {
			return err
		}
		if err := s.Base().Exec(ctx, updateFeed, Args{"keep": req.Feed.Keep.Microseconds()}); err != nil {
			return err
		}
		return rowwise.Record(ctx, s, req.FeedEntry(), now)
	})
}

// ReadEvents reads a page of the feed, after the last row that was deleted. keep is for how long events are kept.
func (s *Session) ReadEvents(ctx context.Context, req store.ListEventsRequest, keep time.Duration, gone store.EventCursor,
) (out store.ListEventsResult, err error) {
	page := store.ListEventsResult{Keep: keep}
	from, gap := store.EventsBegin(req, gone)
	page.Gap = gap
	name := ListEvents
	if req.Newest {
		name = ListNewestEvents
	}
	var rows []store.EventRow
	err = s.Each(ctx, name, Args{"from_id": from.ID, "limit": store.EventRowsRead(req)}, func(r Row) error {
		var e store.EventRow
		slots := []int64{}
		err := r.Scan(&e.Cursor.ID, IntoTime(&e.At), &e.Type, IntoList(&e.Subjects), IntoList(&slots), IntoList(&e.Counts), IntoList(&e.Reasons))
		for _, slot := range slots {
			e.Slots = append(e.Slots, time.UnixMicro(slot).UTC())
		}
		rows = append(rows, e)
		return err
	})
	if err != nil {
		return out, err
	}
	if err := s.addNames(ctx, rows); err != nil {
		return out, err
	}
	if req.Newest {
		slices.Reverse(rows)
	}
	return store.EventsPage(req, rows, from, page), nil
}

// addNames reads the names of the schedules that events are about.
func (s *Session) addNames(ctx context.Context, rows []store.EventRow) error {
	var ids []int64
	for i := range rows {
		if rows[i].Type.OfSchedule() {
			ids = append(ids, rows[i].Subjects...)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	names := map[int64]string{}
	err := s.Each(ctx, findScheduleNames, Args{"ids": slices.Compact(slices.Sorted(slices.Values(ids)))}, func(r Row) error {
		var id int64
		var name string
		err := r.Scan(&id, &name)
		names[id] = name
		return err
	})
	for i := range rows {
		if rows[i].Type.OfSchedule() {
			for _, id := range rows[i].Subjects {
				rows[i].Names = append(rows[i].Names, names[id])
			}
		}
	}
	return err
}
