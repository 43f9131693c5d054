package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// DueSchedules reads what is due; see store.Schedules.
func (b *Backend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	var out store.DueSchedulesResult
	err := b.readIn(ctx, "read due schedules", req.Tx, func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		out.Now = now
		name, a := findDueSchedules, args{
			"soon": micros(now.Add(req.Ahead)), "after_at": micros(req.After.NextAt), "after_id": req.After.ID, "limit": req.Limit,
		}
		if len(req.Names) > 0 {
			name, a = findDueSchedulesNamed, args{"names": jsonList(req.Names), "now": micros(now), "limit": req.Limit}
		}
		err = s.eachSchedule(ctx, name, a, func(row *store.Schedule) error {
			out.Schedules = append(out.Schedules, *row)
			return nil
		})
		if err != nil || len(req.Names) > 0 {
			return err
		}
		return s.one(ctx, findNextSchedule, args{"soon": micros(now.Add(req.Ahead))}, into(&out.Next))
	})
	if err != nil {
		return store.DueSchedulesResult{}, err
	}
	return out, nil
}

// Fire accounts for slots; see store.Schedules.
func (b *Backend) Fire(ctx context.Context, req store.FireRequest) (out store.FireResult, err error) {
	if len(req.Firings) == 0 {
		return out, nil
	}
	err = b.withinAt(ctx, "fire schedules", req.Tx, req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.Fire(ctx, s, req, now)
		return err
	})
	if err != nil {
		return store.FireResult{}, err
	}
	return out, nil
}

// LockDueSchedules implements rowwise.Slots.
func (s *session) LockDueSchedules(ctx context.Context, ids []int64, until time.Time) (map[int64]rowwise.Due, error) {
	rows := map[int64]rowwise.Due{}
	err := s.each(ctx, lockDueSchedules, args{"ids": jsonList(ids), "until": micros(until)}, func(r row) error {
		var id int64
		var d rowwise.Due
		err := r.Scan(&id, &d.Revision, into(&d.Mark), into(&d.NextAt), into(&d.PausedAt), &d.Releases)
		rows[id] = d
		return err
	})
	return rows, err
}

// LockLiveJobs implements rowwise.Slots.
func (s *session) LockLiveJobs(ctx context.Context, schedules []int64) (map[int64][]store.LiveJob, error) {
	live := map[int64][]store.LiveJob{}
	err := s.each(ctx, lockLiveJobs, args{"ids": jsonList(schedules)}, func(r row) error {
		var schedule int64
		var j store.LiveJob
		err := r.Scan(&schedule, &j.ID, into(&j.Slot), &j.Running, &j.Waiting, &j.Attempt, &j.Snoozed, &j.Origin)
		live[schedule] = append(live[schedule], j)
		return err
	})
	return live, err
}

// NewestSlots implements rowwise.Slots.
func (s *session) NewestSlots(ctx context.Context, schedules []int64) (newest []rowwise.Slot, err error) {
	err = s.each(ctx, findNewestSlots, args{"ids": jsonList(schedules)}, func(r row) error {
		var n rowwise.Slot
		err := r.Scan(&n.Schedule, &n.ID, into(&n.Slot), into(&n.Last), &n.Outcome, &n.Reason)
		newest = append(newest, n)
		return err
	})
	return newest, err
}

// FiredSlots implements rowwise.Slots.
func (s *session) FiredSlots(ctx context.Context, slots []rowwise.SlotKey) (fired []rowwise.SlotKey, err error) {
	err = s.each(ctx, findFiredSlots, args{"slots": jsonList(slots)}, func(r row) error {
		var i int
		err := r.Scan(&i)
		fired = append(fired, slots[i])
		return err
	})
	return fired, err
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
		ID: r.ID, Schedule: r.Schedule, Slot: micros(r.Slot), Last: micros(r.Last),
		Count: count, Outcome: int16(r.Outcome), Reason: r.Reason, Job: orNull(r.Job),
	}
}

// InsertSlots implements rowwise.Slots.
func (s *session) InsertSlots(ctx context.Context, slots []*rowwise.Slot, now time.Time) error {
	rows := make([]newSlot, len(slots))
	for i, r := range slots {
		rows[i] = slotParameter(r, r.Count)
	}
	return s.exec(ctx, insertSlots, args{"slots": jsonOf(rows), "now": micros(now)})
}

// ExtendSlots implements rowwise.Slots.
func (s *session) ExtendSlots(ctx context.Context, slots []*rowwise.Slot, now time.Time) error {
	rows := make([]newSlot, len(slots))
	for i, r := range slots {
		rows[i] = slotParameter(r, r.Added)
	}
	return s.exec(ctx, extendSlots, args{"slots": jsonOf(rows), "now": micros(now)})
}

// movedMark is a schedule on its way to advance_schedules.sql.
type movedMark struct {
	ID     int64  `json:"id"`
	Mark   *int64 `json:"mark"`
	NextAt *int64 `json:"next_at"`
	Fired  int64  `json:"fired"`
}

// AdvanceSchedules implements rowwise.Slots.
func (s *session) AdvanceSchedules(ctx context.Context, schedules []rowwise.Advance) error {
	moved := make([]movedMark, len(schedules))
	for i, a := range schedules {
		moved[i] = movedMark{a.Schedule, micros(a.Mark), micros(a.NextAt), a.Fired}
	}
	return s.exec(ctx, advanceSchedules, args{"schedules": jsonOf(moved)})
}
