package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Prune deletes what is old, the oldest first; see store.Maintenance.
func (b *Backend) Prune(ctx context.Context, req store.PruneRequest) (store.PruneResult, error) {
	return rowwise.InTx(b.work(ctx, nodeConns, "prune"), func(tx pgx.Tx) (out store.PruneResult, err error) {
		// What a crash brings back is deleted again, so nothing has to wait for the disk.
		if _, err := tx.Exec(ctx, "set local synchronous_commit = off"); err != nil {
			return out, err
		}
		p := pruning{tx: tx, now: when(req.Now), limit: req.Limit}
		for _, sort := range []struct {
			keep   time.Duration
			failed bool
		}{{req.Completed, false}, {req.Failed, true}} {
			room := p.prune(ctx, b.q(pruneJobs), p.limit, &out.Jobs, sort.keep, sort.failed)
			room = p.pruneNoted(ctx, b, room, &out.Jobs, sort.keep, sort.failed)
			p.left(room)
		}
		p.left(p.delete(ctx, b.q(pruneKeptJobs), p.limit, &out.Jobs, p.now, p.limit))
		p.left(p.prune(ctx, b.q(pruneSlots), p.limit, &out.Slots, req.Slots))
		p.left(p.prune(ctx, b.q(pruneNodes), p.limit, &out.Nodes, req.Nodes))
		p.left(p.prune(ctx, b.q(pruneAudit), p.limit, &out.Audit, req.Audit))
		p.left(p.delete(ctx, b.q(pruneEvents), p.limit, &out.Events, p.now, p.limit))
		var ends, copies int
		p.left(p.prune(ctx, b.q(pruneCopies), p.limit, &copies, req.Nodes))
		p.left(p.prune(ctx, b.q(pruneChainEnds), p.limit, &ends, req.Slots))
		p.pruneKeyHolds(ctx, b)
		p.pruneBatches(ctx, b, req.BatchAge())
		out.More = p.more
		return out, p.err
	})
}

// pruning is one run of Prune.
type pruning struct {
	tx    pgx.Tx
	now   *time.Time
	limit int // rows of each sort
	more  bool
	err   error // the first; nothing is done after it
}

// prune deletes rows of one sort that have been kept long enough, room of them at
// most, and counts them. The statement takes the clock, the time to keep, the number of
// rows, and more; it returns how many it deleted and how many it looked at. It
// returns the room that is left.
func (p *pruning) prune(ctx context.Context, text string, room int, count *int, keep time.Duration, more ...any) int {
	if keep == 0 {
		return room
	}
	return p.delete(ctx, text, room, count, append([]any{p.now, keep.Microseconds(), room}, more...)...)
}

// left notes that there may be more rows of a sort if no room is left.
func (p *pruning) left(room int) {
	p.more = p.more || room <= 0
}

// delete runs a statement that deletes rows, room of them at most. It counts the rows
// and returns the room that is left.
func (p *pruning) delete(ctx context.Context, text string, room int, count *int, args ...any) int {
	if p.err != nil {
		return room
	}
	var gone, seen int
	p.err = p.tx.QueryRow(ctx, text, args...).Scan(&gone, &seen)
	*count += gone
	return room - seen
}

// noted is a batch of jobs that ended together.
type noted struct {
	finishedAt time.Time
	id         int64
	ids        []int64
}

// mostNoted bounds how many batches are read at once. A batch notes leastNoted jobs,
// or what is left of more.
func mostNoted(room int) int { return room/leastNoted + 1 }

// pruneNoted is prune for the jobs that batches note. What is cut from a batch is
// computed here, since not every PostgreSQL takes an UPDATE that slices an array.
func (p *pruning) pruneNoted(ctx context.Context, b *Backend, room int, count *int, keep time.Duration, failed bool) int {
	if keep == 0 || p.err != nil || room <= 0 {
		return room
	}
	var batches []noted
	batches, p.err = collect(ctx, p.tx, func(r pgx.CollectableRow) (n noted, err error) {
		err = r.Scan(into(&n.finishedAt), &n.id, &n.ids)
		return n, err
	}, b.q(lockHistoryBatches), p.now, keep.Microseconds(), mostNoted(room), failed)
	if p.err != nil || len(batches) == 0 {
		return room
	}
	var (
		statements pgx.Batch
		jobs       []int64
		usedAt     []time.Time
		used       []int64
	)
	for _, n := range batches {
		if left := room - len(jobs); len(n.ids) > left {
			jobs = append(jobs, n.ids[:left]...)
			if left > 0 {
				statements.Queue(b.q(cutHistoryBatch), failed, n.finishedAt, n.id, n.ids[left:])
			}
			break
		}
		jobs = append(jobs, n.ids...)
		usedAt, used = append(usedAt, n.finishedAt), append(used, n.id)
	}
	statements.Queue(b.q(deleteHistoryBatches), failed, usedAt, used)
	statements.Queue(b.q(pruneNotedJobs), p.now, keep.Microseconds(), jobs, failed).QueryRow(func(row pgx.Row) error {
		var gone int
		err := row.Scan(&gone)
		*count += gone
		return err
	})
	p.err = p.tx.SendBatch(ctx, &statements).Close()
	if p.err == nil && len(batches) == mostNoted(room) && len(jobs) < room {
		p.more = true // batches that are not read yet
	}
	return room - len(jobs)
}

// pruneKeyHolds deletes holds of keys that have expired.
func (p *pruning) pruneKeyHolds(ctx context.Context, b *Backend) {
	if p.err != nil {
		return
	}
	var gone int
	p.err = p.tx.QueryRow(ctx, b.q(pruneKeyHolds), p.now, p.limit).Scan(&gone)
	p.more = p.more || gone >= p.limit
}

// pruneBatches deletes batches without jobs that are older than age, which 0 switches off.
func (p *pruning) pruneBatches(ctx context.Context, b *Backend, age time.Duration) {
	if p.err != nil || age == 0 {
		return
	}
	var gone int
	p.err = p.tx.QueryRow(ctx, b.q(pruneBatches), p.now, age.Microseconds(), p.limit).Scan(&gone)
	p.more = p.more || gone >= p.limit
}

// Now reads the store's clock; see store.Maintenance.
func (b *Backend) Now(ctx context.Context) (time.Time, error) {
	const what = "read the clock"
	var now time.Time
	// A number of microseconds, because the text of a timestamp depends on DateStyle.
	micros, err := rowwise.InTx(b.alone(ctx, programConns, what), func(conn *pgxpool.Conn) (micros int64, err error) {
		err = conn.QueryRow(ctx, "select (extract(epoch from now()) * 1000000)::bigint").Scan(&micros)
		return micros, err
	})
	if err != nil {
		return now, err
	}
	return time.UnixMicro(micros).UTC(), nil
}
