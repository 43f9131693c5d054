package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// collect runs a statement and reads all its rows; nil: there are none. The
// rows count only when all of them have been read without an error.
func collect[T any](ctx context.Context, tx querier, scan pgx.RowToFunc[T], text string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scan)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list, nil
}

// each runs a statement, scans each row into the targets and calls do.
func each(ctx context.Context, tx querier, targets []any, do func(), text string, args ...any) error {
	rows, err := tx.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		do()
		return nil
	})
	return err
}

// send runs statements in one round trip. The answer of each goes to the function that was
// given when the statement was queued.
func send(ctx context.Context, s sender, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	return s.SendBatch(ctx, batch).Close()
}

// queueCollect is collect for a statement in a batch.
func queueCollect[T any](batch *pgx.Batch, list *[]T, scan pgx.RowToFunc[T], text string, args ...any) {
	batch.Queue(text, args...).Query(func(rows pgx.Rows) (err error) {
		if *list, err = pgx.CollectRows(rows, scan); len(*list) == 0 {
			*list = nil
		}
		return err
	})
}

// scanEach reads the answer of a statement in a batch: it scans each row into the
// targets and calls do.
func scanEach(targets []any, do func()) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, targets, func() error {
			do()
			return nil
		})
		return err
	}
}
