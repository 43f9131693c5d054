package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// DueSchedules reads what is due; see store.Schedules.
func (c Calls[S]) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	return rowwise.InTx(c.Read(ctx, "read due schedules", req.Tx), func(s S) (out store.DueSchedulesResult, err error) {
		if out.Now, err = s.Now(ctx, req.Now); err != nil {
			return out, err
		}
		err = s.Base().ReadDueSchedules(ctx, req, &out)
		return out, err
	})
}

// ReadDueSchedules reads the schedules that are due and, unless the request names schedules, when the next will be. out has the instant.
func (s *Session) ReadDueSchedules(ctx context.Context, req store.DueSchedulesRequest, out *store.DueSchedulesResult) error {
	soon := Micros(out.Now.Add(req.Ahead))
	name, a := FindDueSchedules, Args{
		"soon": soon, "after_at": Micros(req.After.NextAt), "after_id": req.After.ID, "limit": req.Limit,
	}
	if len(req.Names) > 0 {
		name, a = FindDueSchedulesNamed, Args{"names": req.Names, "now": Micros(out.Now), "limit": req.Limit}
	}
	err := s.EachSchedule(ctx, name, a, func(row *store.Schedule) error {
		out.Schedules = append(out.Schedules, *row)
		return nil
	})
	if err != nil || len(req.Names) > 0 {
		return err
	}
	return s.One(ctx, FindNextSchedule, Args{"soon": soon}, IntoTime(&out.Next))
}

// Fire accounts for slots; see store.Schedules.
func (c Calls[S]) Fire(ctx context.Context, req store.FireRequest) (out store.FireResult, err error) {
	if len(req.Firings) == 0 {
		return out, nil
	}
	return rowwise.InTxAt(c.WriteAt(ctx, "fire schedules", req.Tx, req.Now), func(s S, now time.Time) (store.FireResult, error) {
		return rowwise.Fire(ctx, s, req, now)
	})
}

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
func (s *Session) ReadLive(ctx context.Context, name Statement, schedules []int64, now time.Time) (map[int64][]store.LiveJob, error) {
	live := map[int64][]store.LiveJob{}
	err := s.Each(ctx, name, Args{"ids": schedules, "now": Micros(now)}, func(r Row) error {
		var schedule int64
		var j store.LiveJob
		err := r.Scan(&schedule, &j.ID, IntoTime(&j.Slot), &j.Running, &j.Waiting, &j.Attempt, &j.Snoozed, &j.Origin,
			&j.Due, IntoTime(&j.StartsAt), &j.Limited, &j.Queue, &j.Kind, IntoText(&j.Group), IntoText(&j.Key))
		live[schedule] = append(live[schedule], j)
		return err
	})
	return live, err
}

// ReadDue returns, by number, the schedules that a statement reads, as a firing is compared with them.
func (s *Session) ReadDue(ctx context.Context, name Statement, ids []int64, until time.Time) (map[int64]rowwise.Due, error) {
	rows := map[int64]rowwise.Due{}
	err := s.Each(ctx, name, Args{"ids": ids, "until": Micros(until)}, func(r Row) error {
		var id int64
		var d rowwise.Due
		err := r.Scan(&id, &d.Revision, IntoTime(&d.Mark), IntoTime(&d.NextAt), IntoTime(&d.PausedAt), &d.Releases)
		rows[id] = d
		return err
	})
	return rows, err
}

// InsertSlots implements rowwise.Slots.
func (s *Session) InsertSlots(ctx context.Context, slots []*rowwise.Slot, now time.Time) error {
	rows := make([]Args, len(slots))
	for i, r := range slots {
		rows[i] = Args{
			"schedule": r.Schedule, "slot": Micros(r.Slot), "last": Micros(r.Last), "count": r.Count,
			"outcome": int16(r.Outcome), "reason": r.Reason, "job": OrNull(r.Job), "now": Micros(now),
		}
	}
	return s.InsertRows(ctx, insertSlots, rows)
}

// ExtendSlots implements rowwise.Slots.
func (s *Session) ExtendSlots(ctx context.Context, slots []*rowwise.Slot, now time.Time) error {
	type longer struct {
		ID    int64  `json:"id"`
		Last  *int64 `json:"last"`
		Count int64  `json:"count"`
	}
	rows := make([]longer, len(slots))
	for i, r := range slots {
		rows[i] = longer{r.ID, Micros(r.Last), r.Added}
	}
	return s.Exec(ctx, ExtendSlots, Args{"slots": JSON(rows), "now": Micros(now)})
}

// LockFailing implements rowwise.FollowUps.
func (s *Session) LockFailing(ctx context.Context, schedules []int64) (map[int64]int64, error) {
	failing := map[int64]int64{}
	err := s.Each(ctx, LockFailing, Args{"ids": schedules}, func(r Row) error {
		var id, failures int64
		err := r.Scan(&id, &failures)
		failing[id] = failures
		return err
	})
	return failing, err
}

// BeginFailing implements rowwise.FollowUps.
func (s *Session) BeginFailing(ctx context.Context, schedules []rowwise.Failing, now time.Time) error {
	_, err := s.InsertFailing(ctx, schedules, now)
	return err
}

// InsertFailing records that schedules are failing, and returns how many rows it inserted.
func (s *Session) InsertFailing(ctx context.Context, schedules []rowwise.Failing, now time.Time) (int, error) {
	return s.Count(ctx, beginFailing, Args{"failing": JSON(schedules), "now": Micros(now)})
}

// ReadMarks returns, by number, the marks of schedules that a statement reads.
func (s *Session) ReadMarks(ctx context.Context, name Statement, ids []int64) (map[int64]time.Time, error) {
	marks := map[int64]time.Time{}
	err := s.Each(ctx, name, Args{"ids": ids}, func(r Row) error {
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

// LockDueSchedules implements rowwise.Slots.
func (s *Session) LockDueSchedules(ctx context.Context, ids []int64, until time.Time) (map[int64]rowwise.Due, error) {
	return s.ReadDue(ctx, LockDueSchedules, ids, until)
}

// LockLiveJobs implements rowwise.Slots.
func (s *Session) LockLiveJobs(ctx context.Context, schedules []int64, now time.Time) (map[int64][]store.LiveJob, error) {
	return s.ReadLive(ctx, LockLiveJobs, schedules, now)
}

// LockMarks implements rowwise.Schedules.
func (s *Session) LockMarks(ctx context.Context, ids []int64) (map[int64]time.Time, error) {
	return s.ReadMarks(ctx, LockTriggeredSchedules, ids)
}
