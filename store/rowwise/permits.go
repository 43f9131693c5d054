package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// PermitsTx reads and writes the permits of limits of whole queues, which nodes hold.
type PermitsTx interface {
	NodeHolder

	// AwaitClaims waits for the claims of all nodes that have begun, and keeps nodes from claiming until the transaction ends.
	AwaitClaims(ctx context.Context) error

	// LockQueueLimits returns the limits of a whole queue. No other transaction exchanges their permits, or changes them, until this
	// transaction ends.
	LockQueueLimits(ctx context.Context, queue string) (store.QueueLimits, error)

	// NodePermits returns the permits of limits.
	NodePermits(ctx context.Context, limits []int64) ([]store.NodePermits, error)

	// SavePermits inserts or updates permits.
	SavePermits(ctx context.Context, rows []store.NodePermits) error

	// DropPermits deletes the permits of limits.
	DropPermits(ctx context.Context, limits []int64) error

	// RunningJobs counts the jobs of a queue, and of its places, that nodes have claimed, by node.
	RunningJobs(ctx context.Context, queue string) (map[int64]int, error)
}

// ExchangePermits replaces the permits of a node; see store.Permits.
func ExchangePermits(ctx context.Context, tx PermitsTx, req store.ExchangePermitsRequest, now time.Time) (out store.QueuePermits, err error) {
	if _, err := holdNode(ctx, tx, req.Node); err != nil {
		return out, err
	}
	limits, err := tx.LockQueueLimits(ctx, req.Queue)
	if err != nil || len(limits) == 0 {
		return out, err
	}
	held, err := tx.NodePermits(ctx, ids(limits))
	if err != nil {
		return out, err
	}
	out, own := limits.Exchange(held, req, now)
	if len(own) > 0 {
		err = tx.SavePermits(ctx, own)
	}
	return out, err
}

// seedPermits gives nodes permits for the jobs that they run already when a limit is created or changed.
func seedPermits(ctx context.Context, tx PermitsTx, written []store.Limit) error {
	for i := range written {
		if limit := &written[i]; !limit.WholeQueue() || limit.Concurrency == 0 {
			continue
		}
		limits, err := tx.LockQueueLimits(ctx, written[i].Queue)
		if err != nil {
			return err
		}
		held, err := tx.NodePermits(ctx, ids(limits))
		if err != nil {
			return err
		}
		running, err := tx.RunningJobs(ctx, written[i].Queue)
		if err != nil {
			return err
		}
		if rows := limits.Seed(held, running); len(rows) > 0 {
			if err := tx.SavePermits(ctx, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// ids returns the numbers of limits.
func ids(limits store.QueueLimits) []int64 {
	out := make([]int64, len(limits))
	for i := range limits {
		out[i] = limits[i].ID
	}
	return out
}
