package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// queueEvents stores rows of the feed. finish_jobs, forget_jobs and end_jobs store the ends
// of jobs themselves.
func (b *Backend) queueEvents(batch *pgx.Batch, now *time.Time, rows store.EventRows) {
	for _, row := range rows {
		slots := make([]*time.Time, len(row.Slots))
		for i := range slots {
			slots[i] = when(row.Slots[i])
		}
		batch.Queue(b.q(insertEvents), now, int16(row.Type), row.Subjects, listOrNull(slots), listOrNull(row.Counts), listOrNull(row.Reasons))
	}
}

// ListEvents reads the feed; see store.Feed. Rows are shown in the order of the numbers of
// their transactions, up to the oldest transaction that is still open.
func (b *Backend) ListEvents(ctx context.Context, req store.ListEventsRequest) (store.ListEventsResult, error) {
	return rowwise.InTx(b.list(ctx, "list events"), func(tx pgx.Tx) (out store.ListEventsResult, err error) {
		var keep, next int64
		var gone store.EventCursor
		page := store.ListEventsResult{}
		if err := tx.QueryRow(ctx, b.q(readFeed)).Scan(&keep, &gone.Tx, &gone.ID, &next, into(&page.Held)); err != nil {
			return out, err
		}
		page.Keep = time.Duration(keep) * time.Microsecond
		asked, fromElsewhere := req, req.After.Tx >= next // the cursor is from another server, whose data were copied here
		if fromElsewhere {
			asked.After = store.EventCursor{}
		}
		from, gap := store.EventsBegin(asked, gone)
		page.Gap = gap || fromElsewhere && !req.Newest
		name := listEvents
		if req.Newest {
			name = listNewestEvents
		}
		rows, err := collect(ctx, tx, scanEvents, b.q(name), from.Tx, from.ID, store.EventRowsRead(req))
		if req.Newest {
			slices.Reverse(rows)
		}
		out = store.EventsPage(asked, rows, from, page)
		return out, err
	})
}

func scanEvents(r pgx.CollectableRow) (row store.EventRow, err error) {
	var slots []time.Time
	err = r.Scan(&row.Cursor.Tx, &row.Cursor.ID, into(&row.At), (*int16)(&row.Type), &row.Subjects, &row.Names, &slots, &row.Counts, &row.Reasons)
	for _, slot := range slots {
		row.Slots = append(row.Slots, slot.UTC())
	}
	return row, err
}

// putFeed sets for how long events are kept.
func (b *Backend) putFeed(ctx context.Context, req store.PutRequest) error {
	return b.work(ctx, programConns, req.String())(func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, b.q(updateFeed), req.Feed.Keep.Microseconds()); err != nil {
			return err
		}
		return b.record(ctx, tx, req.FeedEntry(), req.Now)
	})
}
