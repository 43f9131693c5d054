package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// NewestSlots implements rowwise.Slots.
func (s *Session) NewestSlots(ctx context.Context, schedules []int64) (newest []rowwise.Slot, err error) {
	err = s.Each(ctx, FindNewestSlots, Args{"ids": schedules}, func(r Row) error {
		var n rowwise.Slot
		err := r.Scan(&n.Schedule, &n.ID, IntoTime(&n.Slot), IntoTime(&n.Last), &n.Outcome, &n.Reason)
		newest = append(newest, n)
		return err
	})
	return newest, err
}

// FiredSlots implements rowwise.Slots.
func (s *Session) FiredSlots(ctx context.Context, slots []rowwise.SlotKey) (fired []rowwise.SlotKey, err error) {
	err = s.Each(ctx, FindFiredSlots, Args{"slots": JSONList(slots)}, func(r Row) error {
		var i int
		err := r.Scan(&i)
		fired = append(fired, slots[i])
		return err
	})
	return fired, err
}

// LiveColumns are the columns that ReadLive scans.
const LiveColumns = "schedule_id id slot running waiting attempt snoozed origin due starts_at limited queue kind group_name job_key"

// ReadLive returns, by schedule, the live jobs of schedules that a statement reads.
func (s *Session) ReadLive(ctx context.Context, name Statement, a Args) (map[int64][]store.LiveJob, error) {
	live := map[int64][]store.LiveJob{}
	err := s.Each(ctx, name, a, func(r Row) error {
		var schedule int64
		var j store.LiveJob
		err := r.Scan(&schedule, &j.ID, IntoTime(&j.Slot), &j.Running, &j.Waiting, &j.Attempt, &j.Snoozed, &j.Origin,
			&j.Due, IntoTime(&j.StartsAt), &j.Limited, &j.Queue, &j.Kind, IntoText(&j.Group), IntoText(&j.Key))
		live[schedule] = append(live[schedule], j)
		return err
	})
	return live, err
}

// ReadMarks returns, by number, the marks of schedules that a statement reads.
func (s *Session) ReadMarks(ctx context.Context, name Statement, a Args) (map[int64]time.Time, error) {
	marks := map[int64]time.Time{}
	err := s.Each(ctx, name, a, func(r Row) error {
		var id int64
		var mark time.Time
		err := r.Scan(&id, IntoTime(&mark))
		marks[id] = mark
		return err
	})
	return marks, err
}

// movedMark is a schedule on its way to advance_schedules.sql.
type movedMark struct {
	ID     int64  `json:"id"`
	Mark   *int64 `json:"mark"`
	NextAt *int64 `json:"next_at"`
	Fired  int64  `json:"fired"`
}

// AdvanceSchedules implements rowwise.Slots.
func (s *Session) AdvanceSchedules(ctx context.Context, schedules []rowwise.Advance) error {
	moved := make([]movedMark, len(schedules))
	for i, a := range schedules {
		moved[i] = movedMark{a.Schedule, Micros(a.Mark), Micros(a.NextAt), a.Fired}
	}
	return s.Exec(ctx, AdvanceSchedules, Args{"schedules": JSON(moved)})
}

// CountFailing implements rowwise.FollowUps.
func (s *Session) CountFailing(ctx context.Context, schedules []rowwise.Failing) error {
	return s.Exec(ctx, CountFailing, Args{"failing": JSON(schedules)})
}

// slotConditions are the conditions of list_slots.sql that a request gives.
func slotConditions(req store.ListRequest) (given []string, a Args) {
	a = Args{"limit": req.Limit}
	if name := req.Name(); name != "" {
		given, a["schedule"] = append(given, "schedule"), name
	}
	if req.HostsOf != "" {
		given, a["hosts_of"] = append(given, "hosts"), req.HostsOf
	}
	if req.Group != "" {
		given, a["group_name"] = append(given, "group"), req.Group
	}
	if !req.From.IsZero() {
		given, a["from"] = append(given, "from"), req.From.UnixMicro()
	}
	if !req.To.IsZero() {
		given, a["to"] = append(given, "to"), req.To.UnixMicro()
	}
	if req.Before != (store.Cursor{}) {
		given = append(given, "before")
		a["before_slot"], a["before_id"] = req.Before.At.UnixMicro(), req.Before.ID
	}
	return given, a
}
