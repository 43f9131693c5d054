package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// follow makes aftermaths happen, one after the other; nil ones are nothing. It
// comes after all locks on schedules and jobs. Rows are locked in the order of
// their numbers, and new ones come before changed ones: so nobody who has
// changed a row waits for anyone.
func (b *Backend) follow(ctx context.Context, tx pgx.Tx, at time.Time, aftermaths []*store.Aftermath) error {
	ids := schedulesOf(aftermaths)
	if len(ids) == 0 {
		return nil
	}
	failing := map[int64]bool{}
	var id int64
	if err := each(ctx, tx, []any{&id}, func() { failing[id] = true }, b.q("lock_failing"), ids); err != nil {
		return err
	}
	c := store.Follow(aftermaths, failing)
	var batch pgx.Batch
	if len(c.Begun) > 0 {
		batch.Queue(b.q("begin_failing"), when(at), c.Begun)
	}
	if len(c.Again) > 0 {
		batch.Queue(b.q("renew_failing"), when(at), c.Again)
	}
	if len(c.Ended) > 0 {
		batch.Queue(b.q("end_failing"), c.Ended)
	}
	if err := send(ctx, tx, &batch); err != nil {
		return err
	}
	_, err := b.insertJobs(ctx, nativeTx{tx}, at, c.Jobs)
	return err
}

func schedulesOf(aftermaths []*store.Aftermath) []int64 {
	var ids []int64
	for _, a := range aftermaths {
		if a != nil {
			ids = append(ids, a.Schedule)
		}
	}
	return ids
}

// well forgets that schedules, whose rows are locked, were failing.
func (b *Backend) well(ctx context.Context, tx pgx.Tx, schedules []int64) error {
	if len(schedules) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, b.q("end_failing"), schedules)
	return err
}
