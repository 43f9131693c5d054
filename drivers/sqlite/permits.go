package sqlite

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

// queueRates reads the limits of a whole queue.
func (s *session) queueRates(ctx context.Context, queue string) (q queueRates, err error) {
	err = s.Each(ctx, findQueueRates, args{"queue": queue}, func(r row) error {
		var limit store.Limit
		var tat, notBefore time.Time
		if err := r.Scan(&limit.ID, &limit.Revision, &limit.Rate, sqlrows.IntoDuration(&limit.Per), &limit.Burst, sqlrows.IntoTime(&tat), sqlrows.IntoTime(&notBefore)); err != nil {
			return err
		}
		q.revision = max(q.revision, limit.Revision)
		if notBefore.After(q.notBefore) {
			q.notBefore = notBefore
		}
		if rate, rated := limit.Pace(); rated {
			q.rates, q.tats, q.ids = append(q.rates, rate), append(q.tats, tat), append(q.ids, limit.ID)
		}
		return nil
	})
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
		if err := s.Exec(ctx, upsertRateLane, args{"limit": q.ids[i], "tat": sqlrows.Micros(q.tats[i])}); err != nil {
			return err
		}
	}
	return nil
}

// AwaitClaims implements rowwise.PermitsTx: a transaction that writes has waited for all others.
func (s *session) AwaitClaims(context.Context) error { return nil }

// HoldNode implements rowwise.PermitsTx.
func (s *session) HoldNode(ctx context.Context, node int64) error {
	_, err := s.checkNode(ctx, node)
	return err
}

// LockQueueLimits implements rowwise.PermitsTx.
func (s *session) LockQueueLimits(ctx context.Context, queue string) (store.QueueLimits, error) {
	all, err := s.ReadLimits(ctx)
	return all.Of(queue), err
}

// savedPermits are the permits of a node on their way to upsert_permits.sql.
type savedPermits struct {
	Limit   int64 `json:"limit"`
	Node    int64 `json:"node"`
	Permits int   `json:"permits"`
	Wants   int   `json:"wants"`
}

// SavePermits implements rowwise.PermitsTx.
func (s *session) SavePermits(ctx context.Context, rows []store.NodePermits) error {
	saved := make([]savedPermits, len(rows))
	for i, row := range rows {
		saved[i] = savedPermits(row)
	}
	return s.Exec(ctx, upsertPermits, args{"permits": sqlrows.JSON(saved)})
}
