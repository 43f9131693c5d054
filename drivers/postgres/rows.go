package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// collect runs a statement and reads all its rows; nil: there are none. The
// rows count only when all of them have been read without an error.
func collect[T any](ctx context.Context, tx pgx.Tx, scan pgx.RowToFunc[T], text string, args ...any) ([]T, error) {
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
func each(ctx context.Context, tx pgx.Tx, targets []any, do func(), text string, args ...any) error {
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

// send runs statements whose answers do not matter, in one round trip.
func send(ctx context.Context, tx pgx.Tx, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	return tx.SendBatch(ctx, batch).Close()
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
