package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// DueSchedules reads what is due; see store.Schedules.
func (b *Backend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	return rowwise.InTx(b.Read(ctx, "read due schedules", req.Tx), func(s *session) (out store.DueSchedulesResult, err error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return out, err
		}
		out.Now = now
		name, a := sqlrows.FindDueSchedules, args{
			"soon": sqlrows.Micros(now.Add(req.Ahead)), "after_at": sqlrows.Micros(req.After.NextAt), "after_id": req.After.ID, "limit": req.Limit,
		}
		if len(req.Names) > 0 {
			name, a = sqlrows.FindDueSchedulesNamed, args{"names": sqlrows.JSONList(req.Names), "now": sqlrows.Micros(now), "limit": req.Limit}
		}
		err = s.EachSchedule(ctx, name, a, func(row *store.Schedule) error {
			out.Schedules = append(out.Schedules, *row)
			return nil
		})
		if err != nil || len(req.Names) > 0 {
			return out, err
		}
		err = s.One(ctx, sqlrows.FindNextSchedule, args{"soon": sqlrows.Micros(now.Add(req.Ahead))}, sqlrows.IntoTime(&out.Next))
		return out, err
	})
}

// Fire accounts for slots; see store.Schedules.
func (b *Backend) Fire(ctx context.Context, req store.FireRequest) (out store.FireResult, err error) {
	if len(req.Firings) == 0 {
		return out, nil
	}
	return rowwise.InTxAt(b.WriteAt(ctx, "fire schedules", req.Tx, req.Now), func(s *session, now time.Time) (store.FireResult, error) {
		return rowwise.Fire(ctx, s, req, now)
	})
}
