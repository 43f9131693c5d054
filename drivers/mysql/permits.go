package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// QueueRates implements rowwise.ClaimTx.
func (s *session) QueueRates(ctx context.Context, queue string, lock bool) (q store.QueueRates, err error) {
	missing := []args{}
	err = s.Each(ctx, findQueueRates, args{"queue": queue}, func(r row) error {
		var limit store.Limit
		var tat, notBefore time.Time
		var made bool
		if err := r.Scan(&limit.ID, &limit.Revision, &limit.Rate, sqlrows.IntoDuration(&limit.Per), &limit.Burst,
			sqlrows.IntoTime(&tat), sqlrows.IntoTime(&notBefore), &made); err != nil {
			return err
		}
		if q.Add(&limit, tat, notBefore) && !made {
			missing = append(missing, args{"limit": limit.ID, "key": ""})
		}
		return nil
	})
	if err != nil || !lock || len(q.Rates) == 0 {
		return q, err
	}
	if err := s.InsertRows(ctx, sqlrows.InsertLanes, missing); err != nil {
		return q, err
	}
	ids, tats := sqlrows.NumbersOf(q.Rates, func(r *store.QueueRate) int64 { return r.Limit }), map[int64]time.Time{}
	err = s.Each(ctx, lockRateLanes, args{"limits": ids}, func(r row) error {
		var id int64
		var tat time.Time
		err := r.Scan(&id, sqlrows.IntoTime(&tat))
		tats[id] = tat
		return err
	})
	for i := range q.Rates {
		q.Rates[i].TAT = tats[q.Rates[i].Limit]
	}
	return q, err
}

// SaveRate implements rowwise.ClaimTx.
func (s *session) SaveRate(ctx context.Context, limit int64, tat time.Time) error {
	return s.Exec(ctx, updateRateLanes, args{"limit": limit, "tat": sqlrows.Micros(tat)})
}

// AwaitClaims implements rowwise.PermitsTx. A claim locks the row of its node before all else.
func (s *session) AwaitClaims(ctx context.Context) error {
	if _, err := s.Numbers(ctx, lockClaimingNodes, nil); err != nil || !s.cluster {
		return err
	}
	_, err := s.raiseTokens(ctx, 1) // as each claim does; see TouchJobs
	return err
}

// LockQueueLimits implements rowwise.PermitsTx.
func (s *session) LockQueueLimits(ctx context.Context, queue string) (store.QueueLimits, error) {
	all, err := s.LimitsOf(ctx, lockQueueLimits, args{"queue": queue})
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	return all.Of(queue), s.touch(ctx, touchLimits, ids)
}
