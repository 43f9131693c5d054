package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// follow applies follow-ups, one after the other; nil follow-ups are ignored. It
// is called after all locks on schedules and jobs were taken. Rows are locked in
// the order of their numbers, and new rows are inserted before rows are changed,
// so that a transaction that has changed a row waits for no other transaction.
func (b *Backend) follow(ctx context.Context, tx querier, at time.Time, followUps []*store.FollowUp) error {
	ids := schedulesOf(followUps)
	if len(ids) == 0 {
		return nil
	}
	failing := map[int64]int64{}
	var id, failures int64
	if err := each(ctx, tx, []any{&id, &failures}, func() { failing[id] = failures }, b.q(lockFailing), ids); err != nil {
		return err
	}
	c := store.Follow(followUps, failing)
	counts := func(ids []int64) (out []int64) {
		for _, id := range ids {
			out = append(out, c.Failures[id])
		}
		return out
	}
	if err := b.begin(ctx, tx, at, c); err != nil {
		return err
	}
	var batch pgx.Batch
	if len(c.Again) > 0 {
		batch.Queue(b.q(renewFailing), when(at), c.Again, counts(c.Again))
	}
	if len(c.Counted) > 0 {
		batch.Queue(b.q(countFailing), c.Counted, counts(c.Counted))
	}
	if len(c.Ended) > 0 {
		batch.Queue(b.q(endFailing), c.Ended)
	}
	var events store.EventRows
	events.AddRecoveries(c.Recovered)
	b.queueEvents(&batch, when(at), events)
	if err := send(ctx, tx, &batch); err != nil {
		return err
	}
	_, err := b.insertionIn(tx, at).insert(ctx, c.Jobs)
	return err
}

// begin records schedules that are failing from now on. If another transaction
// has recorded one of them concurrently and there are failures to be counted,
// the transaction begins again.
func (b *Backend) begin(ctx context.Context, tx querier, at time.Time, c store.Consequences) error {
	if len(c.Begun) == 0 {
		return nil
	}
	missing := map[int64]bool{}
	failures := make([]int64, len(c.Begun))
	for i, id := range c.Begun {
		failures[i], missing[id] = c.Failures[id], c.Failures[id] > 0
	}
	var id int64
	err := each(ctx, tx, []any{&id}, func() { missing[id] = false }, b.q(beginFailing), when(at), c.Begun, failures)
	if err == nil && slices.Contains(slices.Collect(maps.Values(missing)), true) {
		return errMoved
	}
	return err
}

func schedulesOf(followUps []*store.FollowUp) []int64 {
	var ids []int64
	for _, a := range followUps {
		if a != nil {
			ids = append(ids, a.Schedule)
		}
	}
	return ids
}

// well forgets that schedules, whose rows are locked, were failing.
func (b *Backend) well(ctx context.Context, tx querier, schedules []int64) error {
	if len(schedules) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, b.q(endFailing), schedules)
	return err
}
