package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// Prune deletes what is old, the oldest first; see store.Keeper.
func (b *Backend) Prune(ctx context.Context, req store.PruneRequest) (store.PruneResult, error) {
	var out store.PruneResult
	err := b.work(ctx, "prune", func(tx pgx.Tx) error {
		out = store.PruneResult{}
		now := when(req.Now)
		prune := func(count *int, keep time.Duration, text string, args ...any) error {
			if keep == 0 {
				return nil
			}
			var gone int
			err := tx.QueryRow(ctx, text, append(args, keep.Microseconds(), req.Limit)...).Scan(&gone)
			*count += gone
			out.More = out.More || gone >= req.Limit
			return err
		}
		done := []int16{int16(store.StateCompleted), int16(store.StateCancelled)}
		if err := prune(&out.Jobs, req.Completed, b.q("prune_jobs"), now, done); err != nil {
			return err
		}
		if err := prune(&out.Jobs, req.Failed, b.q("prune_jobs"), now, []int16{int16(store.StateFailed)}); err != nil {
			return err
		}
		if err := prune(&out.Slots, req.Slots, b.q("prune_slots"), now); err != nil {
			return err
		}
		return prune(&out.Nodes, req.Nodes, b.q("prune_nodes"), now)
	})
	if err != nil {
		return store.PruneResult{}, err
	}
	return out, nil
}

// Now reads the store's clock; see store.Keeper.
func (b *Backend) Now(ctx context.Context) (time.Time, error) {
	const what = "read the clock"
	var now time.Time
	if b.invalid != nil {
		return now, b.explain(what, b.invalid)
	}
	// Microseconds as a number: they look the same under any DateStyle.
	var micros int64
	err := b.pool.QueryRow(ctx, "select (extract(epoch from now()) * 1000000)::bigint").Scan(&micros)
	if err != nil {
		return now, b.explain(what, err)
	}
	return time.UnixMicro(micros).UTC(), nil
}
