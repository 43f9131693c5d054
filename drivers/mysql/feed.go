package mysql

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

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
			if err := s.One(ctx, sqlrows.LockCounter, args{"name": "event"}, &last); err != nil {
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
	var keep time.Duration
	var gone store.EventCursor
	if err := s.One(ctx, readFeed, nil, sqlrows.IntoDuration(&keep), &gone.ID, &unnumbered); err != nil || unnumbered && !numbered {
		return page, unnumbered, err
	}
	page, err = s.ReadEvents(ctx, req, keep, gone)
	return page, false, err
}

// BeginFeed implements sqlrows.Tx: a number is left out, and counts as deleted.
func (s *session) BeginFeed(ctx context.Context, keep time.Duration) error {
	var last int64
	if err := s.One(ctx, sqlrows.LockCounter, args{"name": "event"}, &last); err != nil {
		return err
	}
	var before time.Duration
	if err := s.One(ctx, lockFeed, nil, sqlrows.IntoDuration(&before)); err != nil || before > 0 || keep <= 0 {
		return err
	}
	for _, name := range []string{"event", "event_gone"} {
		if err := s.Exec(ctx, sqlrows.RaiseCounter, args{"name": name, "value": last + 1}); err != nil {
			return err
		}
	}
	return nil
}

// PruneEvents implements sqlrows.PruneTx, of the rows that have numbers.
func (s *session) PruneEvents(ctx context.Context, limit int, now time.Time) (int, error) {
	ids, err := s.Numbers(ctx, findOldEvents, args{"now": sqlrows.Micros(now), "limit": limit})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := s.Exec(ctx, sqlrows.RaiseCounter, args{"name": "event_gone", "value": slices.Max(ids)}); err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, pruneEvents)
}
