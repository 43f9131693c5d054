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
		p := pruning{tx: tx, now: when(req.Now), limit: req.Limit}
		jobs := []string{b.q("prune_jobs"), b.q("prune_batches")}
		p.prune(ctx, &out.Jobs, req.Completed, jobs, false)
		p.prune(ctx, &out.Jobs, req.Failed, jobs, true)
		p.prune(ctx, &out.Slots, req.Slots, []string{b.q("prune_slots")})
		p.prune(ctx, &out.Nodes, req.Nodes, []string{b.q("prune_nodes")})
		out.More = p.more
		return p.err
	})
	if err != nil {
		return store.PruneResult{}, err
	}
	return out, nil
}

// pruning is one run of Prune.
type pruning struct {
	tx    pgx.Tx
	now   *time.Time
	limit int // rows of each sort
	more  bool
	err   error // the first; nothing is done after it
}

// prune deletes what of one sort has been kept for long enough, by one statement
// after the other, up to the limit, and counts it. Each statement takes the clock,
// the time to keep, how many rows to look at, and more; it returns how many went
// and how many it looked at.
func (p *pruning) prune(ctx context.Context, count *int, keep time.Duration, statements []string, more ...any) {
	room := p.limit
	for _, text := range statements {
		if keep == 0 || p.err != nil || room <= 0 {
			break
		}
		var gone, seen int
		p.err = p.tx.QueryRow(ctx, text, append([]any{p.now, keep.Microseconds(), room}, more...)...).Scan(&gone, &seen)
		*count += gone
		room -= seen
	}
	p.more = p.more || room <= 0
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
