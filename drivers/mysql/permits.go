package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// ExchangePermits replaces the permits of a node; see store.Permits.
func (b *Backend) ExchangePermits(ctx context.Context, req store.ExchangePermitsRequest) (out store.QueuePermits, err error) {
	err = b.writeAt(ctx, "exchange permits", req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.ExchangePermits(ctx, s, req, now)
		return err
	})
	if err != nil {
		return store.QueuePermits{}, err
	}
	return out, nil
}

// queueRates is what a claim has to know of the limits of a whole queue.
type queueRates struct {
	revision int64
	rates    []store.Rate
	tats     []time.Time
	ids      []int64 // of the limits
	// notBefore is until when a worker has asked that nothing of the queue starts; zero: no such instant.
	notBefore time.Time
}

// queueRates reads the limits of a whole queue. With lock, claims from a queue with a rate happen one after the other, and
// each sees the starts of the claims before.
func (s *session) queueRates(ctx context.Context, queue string, lock bool) (q queueRates, err error) {
	missing := []args{}
	err = s.Each(ctx, findQueueRates, args{"queue": queue}, func(r row) error {
		var limit store.Limit
		var tat, notBefore time.Time
		var made bool
		if err := r.Scan(&limit.ID, &limit.Revision, &limit.Rate, sqlrows.IntoDuration(&limit.Per), &limit.Burst, sqlrows.IntoTime(&tat), sqlrows.IntoTime(&notBefore), &made); err != nil {
			return err
		}
		q.revision = max(q.revision, limit.Revision)
		if notBefore.After(q.notBefore) {
			q.notBefore = notBefore
		}
		if rate, rated := limit.Pace(); rated {
			q.rates, q.tats, q.ids = append(q.rates, rate), append(q.tats, tat), append(q.ids, limit.ID)
			if !made {
				missing = append(missing, args{"limit": limit.ID, "key": ""})
			}
		}
		return nil
	})
	if err != nil || !lock || len(q.rates) == 0 {
		return q, err
	}
	if _, err := s.insertRows(ctx, insertLanes, missing); err != nil {
		return q, err
	}
	tats := map[int64]time.Time{}
	err = s.Each(ctx, lockRateLanes, args{"limits": q.ids}, func(r row) error {
		var id int64
		var tat time.Time
		err := r.Scan(&id, sqlrows.IntoTime(&tat))
		tats[id] = tat
		return err
	})
	for i, id := range q.ids {
		q.tats[i] = tats[id]
	}
	return q, err
}

// room returns how many jobs may start now, at most most.
func (q *queueRates) room(now time.Time, most int) int {
	for i, rate := range q.rates {
		most = rate.Room(q.tats[i], now, most)
	}
	return most
}

// next returns when the next job may start; zero: now.
func (q *queueRates) next(now time.Time) (next time.Time) {
	if q.notBefore.After(now) {
		next = q.notBefore
	}
	for i, rate := range q.rates {
		if at := rate.Next(q.tats[i], now); at.After(now) && at.After(next) {
			next = at
		}
	}
	return next
}

// recordStarts moves the lanes of the rates by the jobs that were claimed.
func (s *session) recordStarts(ctx context.Context, q *queueRates, now time.Time, jobs int) error {
	if jobs == 0 {
		return nil
	}
	for i, rate := range q.rates {
		q.tats[i] = rate.After(q.tats[i], now, jobs)
		if err := s.Exec(ctx, updateRateLanes, args{"limit": q.ids[i], "tat": sqlrows.Micros(q.tats[i])}); err != nil {
			return err
		}
	}
	return nil
}

// AwaitClaims implements rowwise.PermitsTx. A claim locks the row of its node before all else.
func (s *session) AwaitClaims(ctx context.Context) error {
	if _, err := s.Numbers(ctx, lockClaimingNodes, nil); err != nil || !s.cluster {
		return err
	}
	_, err := s.raiseTokens(ctx, 1) // as each claim does; see touchJobs
	return err
}

// HoldNode implements rowwise.PermitsTx.
func (s *session) HoldNode(ctx context.Context, node int64) error {
	_, err := s.checkNode(ctx, holdNode, node)
	return err
}

// LockQueueLimits implements rowwise.PermitsTx.
func (s *session) LockQueueLimits(ctx context.Context, queue string) (store.QueueLimits, error) {
	all, err := s.limits(ctx, lockQueueLimits, args{"queue": queue})
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	return all.Of(queue), s.touch(ctx, touchLimits, ids)
}

// SavePermits implements rowwise.PermitsTx.
func (s *session) SavePermits(ctx context.Context, rows []store.NodePermits) error {
	saved := make([]args, len(rows))
	for i, row := range rows {
		saved[i] = args{"limit": row.Limit, "node": row.Node, "permits": row.Permits, "wants": row.Wants}
	}
	_, err := s.insertRows(ctx, upsertPermits, saved)
	return err
}
