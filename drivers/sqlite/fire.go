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
	return rowwise.InTx(b.readIn(ctx, "read due schedules", req.Tx), func(s *session) (out store.DueSchedulesResult, err error) {
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
	return rowwise.InTxAt(b.withinAt(ctx, "fire schedules", req.Tx, req.Now), func(s *session, now time.Time) (store.FireResult, error) {
		return rowwise.Fire(ctx, s, req, now)
	})
}

// LockDueSchedules implements rowwise.Slots.
func (s *session) LockDueSchedules(ctx context.Context, ids []int64, until time.Time) (map[int64]rowwise.Due, error) {
	rows := map[int64]rowwise.Due{}
	err := s.Each(ctx, lockDueSchedules, args{"ids": sqlrows.JSONList(ids), "until": sqlrows.Micros(until)}, func(r row) error {
		var id int64
		var d rowwise.Due
		err := r.Scan(&id, &d.Revision, sqlrows.IntoTime(&d.Mark), sqlrows.IntoTime(&d.NextAt), sqlrows.IntoTime(&d.PausedAt), &d.Releases)
		rows[id] = d
		return err
	})
	return rows, err
}

// LockLiveJobs implements rowwise.Slots.
func (s *session) LockLiveJobs(ctx context.Context, schedules []int64, now time.Time) (map[int64][]store.LiveJob, error) {
	return s.ReadLive(ctx, lockLiveJobs, args{"now": sqlrows.Micros(now), "ids": sqlrows.JSONList(schedules)})
}

// newSlot is a record on its way to insert_slots.sql or extend_slots.sql.
type newSlot struct {
	ID       int64  `json:"id"`
	Schedule int64  `json:"schedule"`
	Slot     *int64 `json:"slot"`
	Last     *int64 `json:"last"`
	Count    int64  `json:"count"`
	Outcome  int16  `json:"outcome"`
	Reason   string `json:"reason"`
	Job      *int64 `json:"job"`
}

func slotParameter(r *rowwise.Slot, count int64) newSlot {
	return newSlot{
		ID: r.ID, Schedule: r.Schedule, Slot: sqlrows.Micros(r.Slot), Last: sqlrows.Micros(r.Last),
		Count: count, Outcome: int16(r.Outcome), Reason: r.Reason, Job: sqlrows.OrNull(r.Job),
	}
}

// InsertSlots implements rowwise.Slots.
func (s *session) InsertSlots(ctx context.Context, slots []*rowwise.Slot, now time.Time) error {
	rows := make([]newSlot, len(slots))
	for i, r := range slots {
		rows[i] = slotParameter(r, r.Count)
	}
	return s.Exec(ctx, sqlrows.InsertSlots, args{"slots": sqlrows.JSON(rows), "now": sqlrows.Micros(now)})
}

// ExtendSlots implements rowwise.Slots.
func (s *session) ExtendSlots(ctx context.Context, slots []*rowwise.Slot, now time.Time) error {
	rows := make([]newSlot, len(slots))
	for i, r := range slots {
		rows[i] = slotParameter(r, r.Added)
	}
	return s.Exec(ctx, sqlrows.ExtendSlots, args{"slots": sqlrows.JSON(rows), "now": sqlrows.Micros(now)})
}

// LockMarks implements rowwise.Schedules.
func (s *session) LockMarks(ctx context.Context, ids []int64) (map[int64]time.Time, error) {
	return s.ReadMarks(ctx, lockTriggeredSchedules, args{"ids": sqlrows.JSONList(ids)})
}
