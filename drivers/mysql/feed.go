package mysql

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// newEvents is a row of the feed on its way to insert_events.sql. Lists are JSON texts in it.
type newEvents struct {
	Type     store.EventType `json:"type"`
	Subjects string          `json:"subjects"`
	Slots    *string         `json:"slots"`
	Counts   *string         `json:"counts"`
	Reasons  *string         `json:"reasons"`
}

// InsertEvents implements rowwise.Feed. The rows get their numbers later; see numberEvents.
func (s *session) InsertEvents(ctx context.Context, rows store.EventRows, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	list := make([]newEvents, len(rows))
	for i, row := range rows {
		var slots []*int64
		for _, slot := range row.Slots {
			slots = append(slots, sqlrows.Micros(slot))
		}
		list[i] = newEvents{row.Type, sqlrows.JSONList(row.Subjects), listOrNull(slots), listOrNull(row.Counts), listOrNull(row.Reasons)}
	}
	return s.Exec(ctx, sqlrows.InsertEvents, args{"events": sqlrows.JSON(list), "now": sqlrows.Micros(now)})
}

// listOrNull is a list as JSON; nil for an empty list.
func listOrNull[T any](list []T) *string {
	if len(list) == 0 {
		return nil
	}
	text := sqlrows.JSON(list)
	return &text
}

// eventStep is how many rows of the feed one transaction numbers.
const eventStep = 1000

// numberEvents gives numbers to the rows of the feed that have none. The numbers that the server gives are
// not in the order of the commits, so that a reader that continues after a number could miss rows. So rows get their
// places in the feed after their commits: one transaction at a time numbers the committed rows. Rows of
// transactions that are open get greater numbers later.
func (b *Backend) numberEvents(ctx context.Context) error {
	for n := eventStep; n == eventStep; {
		var err error
		n, err = rowwise.InTx(b.writeOnly(ctx, "number events"), func(s *session) (int, error) {
			var last int64
			if err := s.One(ctx, lockCounter, args{"name": "event"}, &last); err != nil {
				return 0, err
			}
			entries, err := s.Numbers(ctx, lockUnnumberedEvents, args{"limit": eventStep})
			if err != nil || len(entries) == 0 {
				return 0, err
			}
			if err := s.Exec(ctx, numberEvents, args{"entries": sqlrows.JSONList(entries), "last": last}); err != nil {
				return 0, err
			}
			return len(entries), s.Exec(ctx, sqlrows.RaiseCounter, args{"name": "event", "value": last + int64(len(entries))})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ListEvents reads the feed; see store.Feed. A user who may only read sees the rows that have numbers: other readers and,
// about once a minute, the nodes give them.
func (b *Backend) ListEvents(ctx context.Context, req store.ListEventsRequest) (store.ListEventsResult, error) {
	type read struct {
		page       store.ListEventsResult
		unnumbered bool
	}
	for numbered := false; ; numbered = true {
		did, err := rowwise.InTx(b.read(ctx, "list events"), func(s *session) (did read, err error) {
			did.page, did.unnumbered, err = s.listEvents(ctx, req, numbered)
			return did, err
		})
		if err != nil || numbered || !did.unnumbered {
			return did.page, err
		}
		if err := b.numberEvents(ctx); err != nil && !mayOnlyRead(err) {
			return store.ListEventsResult{}, err
		}
	}
}

// listEvents reads a page of the feed, or, unless all rows are to be numbered already, reports that rows have to be numbered
// before.
func (s *session) listEvents(ctx context.Context, req store.ListEventsRequest, numbered bool) (page store.ListEventsResult, unnumbered bool, err error) {
	var gone store.EventCursor
	if err := s.One(ctx, readFeed, nil, sqlrows.IntoDuration(&page.Keep), &gone.ID, &unnumbered); err != nil || unnumbered && !numbered {
		return page, unnumbered, err
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
		err := r.Scan(&e.Cursor.ID, sqlrows.IntoTime(&e.At), &e.Type, sqlrows.IntoList(&e.Subjects), sqlrows.IntoList(&slots),
			sqlrows.IntoList(&e.Counts), sqlrows.IntoList(&e.Reasons))
		for _, slot := range slots {
			e.Slots = append(e.Slots, time.UnixMicro(slot).UTC())
		}
		rows = append(rows, e)
		return err
	})
	if err != nil {
		return page, false, err
	}
	if err := s.addNames(ctx, rows); err != nil {
		return page, false, err
	}
	if req.Newest {
		slices.Reverse(rows)
	}
	return store.EventsPage(req, rows, from, page), false, nil
}

// addNames reads the names of the schedules that events are about.
func (s *session) addNames(ctx context.Context, rows []store.EventRow) error {
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
	err := s.Each(ctx, findScheduleNames, args{"ids": slices.Compact(slices.Sorted(slices.Values(ids)))}, func(r row) error {
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

// KeepEvents sets for how long events are kept; see store.Feed. If none were stored until now, readers that continue
// have missed events: a number is left out, and counts as deleted.
func (b *Backend) KeepEvents(ctx context.Context, req store.KeepEventsRequest) error {
	if err := b.numberEvents(ctx); err != nil {
		return err
	}
	return b.withinAt(ctx, "keep events", nil, req.Now)(func(s *session, now time.Time) error {
		var last int64
		if err := s.One(ctx, lockCounter, args{"name": "event"}, &last); err != nil {
			return err
		}
		var before time.Duration
		if err := s.One(ctx, lockFeed, nil, sqlrows.IntoDuration(&before)); err != nil {
			return err
		}
		if before == 0 && req.Keep > 0 {
			for _, name := range []string{"event", "event_gone"} {
				if err := s.Exec(ctx, sqlrows.RaiseCounter, args{"name": name, "value": last + 1}); err != nil {
					return err
				}
			}
		}
		if err := s.Exec(ctx, sqlrows.UpdateFeed, args{"keep": req.Keep.Microseconds()}); err != nil {
			return err
		}
		return rowwise.Record(ctx, s, req.Entry(), now)
	})
}

// pruneEvents deletes rows of the feed that have been kept long enough, of the rows that have numbers.
func (s *session) pruneEvents(ctx context.Context, limit int, now time.Time) (int, error) {
	ids, err := s.Numbers(ctx, findOldEvents, args{"now": sqlrows.Micros(now), "limit": limit})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := s.Exec(ctx, sqlrows.RaiseCounter, args{"name": "event_gone", "value": slices.Max(ids)}); err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, pruneEvents)
}
