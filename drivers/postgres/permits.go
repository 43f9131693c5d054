package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// ExchangePermits replaces the permits of a node; see store.Permits.
func (b *Backend) ExchangePermits(ctx context.Context, req store.ExchangePermitsRequest) (store.QueuePermits, error) {
	return rowwise.InTx(b.work(ctx, nodeConns, "exchange permits"), func(tx pgx.Tx) (out store.QueuePermits, err error) {
		var now time.Time
		if err := tx.QueryRow(ctx, b.q(readClock), when(req.Now)).Scan(into(&now)); err != nil {
			return out, err
		}
		out, err = rowwise.ExchangePermits(ctx, newLimitsTx(b, tx), req, now)
		return out, err
	})
}

// claimRated makes one claim from a queue that rates concern. The lanes of rates of the whole queue stay locked until the commit, so
// that nodes claim one after the other, and each sees the starts of the claims before. Of other rates, the claim uses the starts that
// its jobs hold.
func (b *Backend) claimRated(ctx context.Context, req store.ClaimRequest, from cursors, despiteEnds, limited bool) (madeClaim, error) {
	return rowwise.InTx(b.work(ctx, nodeConns, "claim jobs"), func(tx pgx.Tx) (made madeClaim, err error) {
		var now time.Time
		if err := nodeAlive(req.Node, tx.QueryRow(ctx, b.q(holdNode), when(req.Now), req.Node).Scan(into(&now))); err != nil {
			return made, err
		}
		whole := req.Limit
		part := req
		var lanes []rateLane
		if req.Permits.Rated() {
			part.Ahead = 0
			if lanes, err = b.lockRates(ctx, tx, req.Limited()); err != nil {
				return made, err
			}
		}
		for _, lane := range lanes {
			part.Limit = min(part.Limit, lane.rate.Room(lane.tat, now, whole))
		}
		text, args := b.claimStatement(&part, from, despiteEnds, limited, noPermits)
		if made, err = b.sendClaim(ctx, tx, part, text, args); err != nil {
			return made, err
		}
		clock := func() (now time.Time, err error) {
			if made.out.StartsFrom.IsZero() {
				made.out.StartsFrom = time.Now()
			}
			err = tx.QueryRow(ctx, b.q(readClockAgain), when(req.Now)).Scan(into(&now))
			return now, err
		}
		if limited && made.out.Rated { // not starts of a limit that has ended
			next, err := rowwise.StartJobs(ctx, lanesTx{auditTx: auditTx{b, tx}}, made.out.Jobs, clock)
			if err != nil {
				return made, err
			}
			if len(made.out.Jobs) < whole && !req.Suspects {
				made.out.NextDue = store.Earlier(made.out.NextDue, next)
			}
		}
		if len(lanes) > 0 && len(made.out.Jobs) > 0 {
			if now, err = clock(); err != nil {
				return made, err
			}
		}
		err = b.recordStarts(ctx, tx, lanes, now, &made.out, whole)
		return made, err
	})
}

// rateLane is the lane of a rate of a whole queue.
type rateLane struct {
	id   int64
	tat  time.Time
	rate store.Rate
}

// lockRates returns the locked lanes of the rates of a whole queue, and makes missing lanes.
func (b *Backend) lockRates(ctx context.Context, tx pgx.Tx, queue string) (lanes []rateLane, err error) {
	if _, err := tx.Exec(ctx, b.q(insertRateLanes), queue); err != nil {
		return nil, err
	}
	var lane rateLane
	var limit store.Limit
	var per int64
	err = each(ctx, tx, []any{&lane.id, into(&lane.tat), &limit.Rate, &per, &limit.Burst}, func() {
		limit.Per = time.Duration(per) * time.Microsecond
		lane.rate, _ = limit.Pace()
		lanes = append(lanes, lane)
	}, b.q(lockRateLanes), queue)
	return lanes, err
}

// recordStarts moves the lanes by the jobs that were claimed, and sets when the next job may start, if the rates may have left
// out jobs: the claim got fewer than most.
func (b *Backend) recordStarts(ctx context.Context, tx pgx.Tx, lanes []rateLane, now time.Time, out *store.ClaimResult, most int) error {
	ids, tats := make([]int64, len(lanes)), make([]time.Time, len(lanes))
	for i, lane := range lanes {
		ids[i], tats[i] = lane.id, lane.tat
		if len(out.Jobs) > 0 {
			tats[i] = lane.rate.After(lane.tat, now, len(out.Jobs))
		}
		if next := lane.rate.Next(tats[i], now); len(out.Jobs) < most && next.After(now) && next.After(out.NextStart) {
			out.NextStart = next
		}
	}
	if len(out.Jobs) == 0 || len(ids) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, b.q(updateRateLanes), ids, tats)
	return err
}

// AwaitClaims implements rowwise.PermitsTx.
func (t limitsTx) AwaitClaims(ctx context.Context) error {
	_, err := t.tx.Exec(ctx, t.b.q(lockClaimingNodes))
	return err
}

// HoldNode implements rowwise.NodeHolder.
func (t limitsTx) HoldNode(ctx context.Context, node int64) (found rowwise.Around, err error) {
	err = nodeAlive(node, t.tx.QueryRow(ctx, t.b.q(holdNode), nil, node).Scan(into(&found.Now)))
	found.Alive = err == nil
	return found, err
}

// LockQueueLimits implements rowwise.PermitsTx.
func (t limitsTx) LockQueueLimits(ctx context.Context, queue string) (store.QueueLimits, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (l store.Limit, err error) {
		err = scanLimit(r, &l)
		return l, err
	}, t.b.q(lockQueueLimits), queue)
}

// NodePermits implements rowwise.PermitsTx.
func (t limitsTx) NodePermits(ctx context.Context, limits []int64) ([]store.NodePermits, error) {
	return collect(ctx, t.tx, pgx.RowToStructByPos[store.NodePermits], t.b.q(findPermits), limits)
}

// SavePermits implements rowwise.PermitsTx.
func (t limitsTx) SavePermits(ctx context.Context, rows []store.NodePermits) error {
	limits, nodes := make([]int64, len(rows)), make([]int64, len(rows))
	permits, wants := make([]int, len(rows)), make([]int, len(rows))
	for i, row := range rows {
		limits[i], nodes[i], permits[i], wants[i] = row.Limit, row.Node, row.Permits, row.Wants
	}
	_, err := t.tx.Exec(ctx, t.b.q(upsertPermits), limits, nodes, permits, wants)
	return err
}

// DropPermits implements rowwise.PermitsTx.
func (t limitsTx) DropPermits(ctx context.Context, limits []int64) error {
	_, err := t.tx.Exec(ctx, t.b.q(deletePermits), limits)
	return err
}

// RunningJobs implements rowwise.PermitsTx.
func (t limitsTx) RunningJobs(ctx context.Context, queue string) (map[int64]int, error) {
	running := map[int64]int{}
	var node int64
	var jobs int
	err := each(ctx, t.tx, []any{&node, &jobs}, func() { running[node] = jobs }, t.b.q(countRunningJobs), queue)
	return running, err
}
