package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// QueueRates implements rowwise.ClaimTx.
func (s *session) QueueRates(ctx context.Context, queue string, _ bool) (q store.QueueRates, err error) {
	err = s.Each(ctx, findQueueRates, args{"queue": queue}, func(r row) error {
		var limit store.Limit
		var tat, notBefore time.Time
		if err := r.Scan(&limit.ID, &limit.Revision, &limit.Rate, sqlrows.IntoDuration(&limit.Per), &limit.Burst,
			sqlrows.IntoTime(&tat), sqlrows.IntoTime(&notBefore)); err != nil {
			return err
		}
		q.Add(&limit, tat, notBefore)
		return nil
	})
	return q, err
}

// SaveRate implements rowwise.ClaimTx.
func (s *session) SaveRate(ctx context.Context, limit int64, tat time.Time) error {
	return s.Exec(ctx, upsertRateLane, args{"limit": limit, "tat": sqlrows.Micros(tat)})
}

// AwaitClaims implements rowwise.PermitsTx: a transaction that writes has waited for all others.
func (s *session) AwaitClaims(context.Context) error { return nil }

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
	return s.Exec(ctx, sqlrows.UpsertPermits, args{"permits": sqlrows.JSON(saved)})
}
