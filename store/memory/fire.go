package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// DueSchedules reads the schedules that are due; see store.Schedules.
func (s *Store) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	if own, ok := req.Tx.(*Tx); ok && own.changed != nil {
		req.Tx = nil
		return own.changed.DueSchedules(ctx, req)
	}
	now, err := s.begin(ctx, "read due schedules", req.Now)
	if err != nil {
		return store.DueSchedulesResult{}, err
	}
	defer s.mu.Unlock()
	s.polled(req.Polled)
	out := store.DueSchedulesResult{Now: now}
	soon := now.Add(req.Ahead)
	for _, row := range s.schedules {
		switch {
		case row.NextAt.IsZero():
		case row.NextAt.After(soon):
			if len(req.Names) == 0 {
				out.Next = earliest(out.Next, row.NextAt)
			}
		case !isAfter(row, req.After):
		case len(req.Names) == 0 || slices.Contains(req.Names, row.Name):
			out.Schedules = append(out.Schedules, s.copySchedule(row))
		}
	}
	slices.SortFunc(out.Schedules, func(a, b store.Schedule) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), cmp.Compare(a.ID, b.ID))
	})
	out.Schedules = out.Schedules[:min(len(out.Schedules), req.Limit)]
	return out, nil
}

// isAfter reports whether a schedule follows a cursor.
func isAfter(row *store.Schedule, c store.DueCursor) bool {
	return cmp.Or(row.NextAt.Compare(instant(c.NextAt)), cmp.Compare(row.ID, c.ID)) > 0
}

// Fire accounts for slots; see store.Schedules.
func (s *Store) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	s, err := s.within(ctx, &req.Tx, "fire schedules")
	if err != nil {
		return store.FireResult{}, err
	}
	var busy []int64
	out, err := s.fireIf(ctx, req, func(row *store.Schedule, f store.Firing, now time.Time) decision {
		switch {
		case req.Replan:
			return accepted
		case row.NextAt.After(now.Add(req.Ahead)):
			return lost
		case row.NextAt.After(now) && f.Overlap != store.OverlapAllow && s.anyLives(row.ID):
			busy = append(busy, row.ID)
			return left
		}
		return accepted
	})
	out.Busy = busy
	return out, err
}

// decision is what happens to a firing that matches its row.
type decision int

const (
	accepted decision = iota
	lost
	left // left out, but not lost
)

// fireIf writes the firings that match their rows and that decide accepts.
func (s *Store) fireIf(ctx context.Context, req store.FireRequest,
	decide func(row *store.Schedule, f store.Firing, now time.Time) decision,
) (store.FireResult, error) {
	now, err := s.beginWrite(ctx, "fire schedules", req.Now)
	if err != nil {
		return store.FireResult{}, err
	}
	defer s.mu.Unlock()
	var out store.FireResult
	var after []*store.FollowUp
	late := !req.Until.IsZero() && now.After(instant(req.Until))
	for _, f := range req.Firings {
		row, what := s.schedules[f.Schedule], lost
		if !late && matches(row, f) {
			what = decide(row, f, now)
		}
		switch what {
		case lost:
			out.Lost = append(out.Lost, f.Schedule)
		case accepted:
			s.fire(row, f, now, &out)
			after = append(after, s.allHandlers().AfterFiring(&f))
		}
	}
	for _, a := range after {
		s.follow(a, now)
	}
	return out, nil
}

// matches reports whether a firing was decided from the row as it is now.
func matches(row *store.Schedule, f store.Firing) bool {
	return row != nil && row.DeletedAt.IsZero() &&
		row.Revision == f.Revision && row.Mark.Equal(instant(f.Mark)) && row.NextAt.Equal(instant(f.NextAt)) &&
		laterOf(row.PausedAt, row.GroupPausedAt).Equal(instant(f.PausedAt)) &&
		!row.NextAt.IsZero()
}

// fire writes one firing and adds its effects to out.
func (s *Store) fire(row *store.Schedule, f store.Firing, now time.Time, out *store.FireResult) {
	f.Jobs = slices.DeleteFunc(slices.Clone(f.Jobs), func(n store.NewJob) bool {
		return s.firedBefore(row.ID, n.Slot) || f.Follows && s.followed(row.ID, n.After[0].Job)
	})
	live := s.liveJobs(row.ID, now)
	var delays store.Delays
	if f.AsksWhy(live) {
		delays = s.delays(now)
	}
	settled := f.Settle(live, delays)
	s.endOverlapping(settled, now, out)
	for _, record := range settled.Slots {
		s.recordSlot(row.ID, record, now)
		out.Slots = append(out.Slots, store.SkippedSlot{Schedule: row.ID, Record: record})
	}
	for _, n := range settled.Jobs {
		n.Schedule = row.ID
		j := s.newJob(n, now)
		for _, e := range n.After {
			j.After = append(j.After, store.JobEdge{Edge: e, State: store.EdgeMatched})
		}
		s.add(j)
		record := store.SlotRecord{Slot: j.Slot, Last: j.Slot, Count: 1, Outcome: store.SlotFired}
		s.addSlot(row.ID, record, j.ID, now)
		out.Fired = append(out.Fired, store.FiredSlot{Schedule: row.ID, Slot: j.Slot, Job: j.ID})
		row.Fired++
	}
	s.release(&job{JobInfo: store.JobInfo{Schedule: row.ID}})
	row.Mark = instant(f.NewMark)
	row.NextAt = instant(f.NewNextAt)
	if f.Follows {
		s.account(row)
		for _, end := range f.NotStarted {
			s.passOn(row.ID, end)
		}
	}
}

// endOverlapping ends the jobs of a schedule that its new jobs replace or supersede, and asks others to cancel.
func (s *Store) endOverlapping(settled store.Settled, now time.Time, out *store.FireResult) {
	for _, id := range settled.Replace {
		s.end(s.live[id], store.StateCancelled, store.ReplacedReason, now)
		out.Superseded = append(out.Superseded, id)
	}
	for _, id := range settled.Supersede {
		s.end(s.live[id], store.StateCancelled, store.SupersededReason, now)
		out.Superseded = append(out.Superseded, id)
	}
	for _, id := range settled.Cancel {
		s.cancelJob(s.live[id], store.ReplacedReason, now)
		out.Asked = append(out.Asked, id)
	}
}

// firedBefore reports whether a slot has made a job. The mark excludes such
// slots, unless a reset moved it back.
func (s *Store) firedBefore(schedule int64, slot time.Time) bool {
	return slices.ContainsFunc(s.slots, func(row *store.SlotInfo) bool {
		return row.Schedule == schedule && row.Outcome == store.SlotFired && row.Slot.Equal(instant(slot))
	})
}

// liveJobs returns a schedule's live jobs for Settle, by number.
func (s *Store) liveJobs(schedule int64, now time.Time) []store.LiveJob {
	var out []store.LiveJob
	for _, j := range s.live {
		if j.Schedule != schedule {
			continue
		}
		live := store.LiveJob{
			JobSpec: store.JobSpec{Queue: j.Queue, Kind: j.Kind, Group: j.Group, Key: j.Key},
			ID:      j.ID, Slot: j.Slot, Running: j.State == store.StateRunning, Waiting: j.State == store.StateWaiting, Attempt: j.Attempt, Origin: j.Origin,
			Snoozed: j.Snoozes > 0, Limited: j.waits, Due: !j.RunAt.After(now),
		}
		if !j.Slot.IsZero() {
			live.Due = !j.Slot.After(now)
		}
		if j.RunAt.After(now) {
			live.StartsAt = j.RunAt
		}
		out = append(out, live)
	}
	slices.SortFunc(out, func(a, b store.LiveJob) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// delays returns what may delay a due job.
func (s *Store) delays(now time.Time) store.Delays {
	d := store.Delays{Pauses: s.activePauses(now)}
	for _, node := range s.sortedNodes() {
		if node.EndedAt.IsZero() {
			d.Nodes = append(d.Nodes, *node)
		}
	}
	return d
}

// recordSlot adds a record without a job, or extends the newest record.
func (s *Store) recordSlot(schedule int64, r store.SlotRecord, now time.Time) {
	var rows store.EventRows
	rows.AddSlots(schedule, r)
	s.noteAll(rows, now)
	newest := s.newestSlot(schedule)
	if r.Extend && newest != nil && newest.Outcome == r.Outcome && newest.Reason == r.Reason && newest.Last.Before(instant(r.Slot)) {
		newest.Last = instant(r.Last)
		newest.Count += r.Count
		newest.RecordedAt = now
		return
	}
	s.addSlot(schedule, r, 0, now)
}

// newestSlot returns a schedule's newest record, or nil.
func (s *Store) newestSlot(schedule int64) *store.SlotInfo {
	var newest *store.SlotInfo
	for _, row := range s.slots {
		if row.Schedule == schedule && (newest == nil || compareSlots(row, newest) < 0) {
			newest = row
		}
	}
	return newest
}

// compareSlots orders records newest first.
func compareSlots(a, b *store.SlotInfo) int {
	return cmp.Or(b.Slot.Compare(a.Slot), cmp.Compare(b.ID, a.ID))
}

func (s *Store) addSlot(schedule int64, r store.SlotRecord, job int64, now time.Time) {
	s.lastSlot++
	r.Slot, r.Last, r.Extend = instant(r.Slot), instant(r.Last), false
	s.slots = append(s.slots, &store.SlotInfo{
		ID: s.lastSlot, Schedule: schedule, SlotRecord: r, Job: job, RecordedAt: now,
	})
}

func (s *Store) listSlots(req store.ListRequest) (out []store.SlotInfo) {
	if len(req.IDs) == 0 {
		return s.newestSlots(req.Limit, func(row *store.SlotInfo) bool { return s.slotSelected(row, req) })
	}
	for _, id := range req.IDs {
		out = append(out, s.newestSlots(req.Limit, func(row *store.SlotInfo) bool { return row.Schedule == id })...)
	}
	return out
}

// newestSlots returns the newest records that are selected, at most limit of them.
func (s *Store) newestSlots(limit int, selected func(*store.SlotInfo) bool) (out []store.SlotInfo) {
	var rows []*store.SlotInfo
	for _, row := range s.slots {
		if selected(row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, compareSlots)
	for _, row := range rows[:min(len(rows), limit)] {
		info := *row
		info.JobState, info.JobKept = s.stateOf(row.Job)
		info.ScheduleName = s.scheduleName(row.Schedule)
		if schedule := s.schedules[row.Schedule]; schedule != nil {
			info.Host = store.HostOf(schedule.Name, schedule.Owner)
		}
		if e := s.endOf(row.Schedule, row.Slot); e != nil {
			info.After, info.AfterSchedule = e.ID, e.ScheduleEnd.After
		}
		out = append(out, info)
	}
	return out
}

// stateOf returns the state of a job, and whether the job is stored.
func (s *Store) stateOf(id int64) (state store.State, kept bool) {
	for _, j := range []*job{s.live[id], s.finished[id]} {
		if j != nil {
			return j.State, true
		}
	}
	return 0, false
}

func (s *Store) slotSelected(row *store.SlotInfo, req store.ListRequest) bool {
	cursor := store.SlotInfo{ID: req.Before.ID, SlotRecord: store.SlotRecord{Slot: instant(req.Before.At)}}
	return s.slotOf(row.Schedule, req) &&
		(req.From.IsZero() || !row.Last.Before(req.From)) &&
		(req.To.IsZero() || row.Slot.Before(req.To)) &&
		(req.Before == store.Cursor{} || compareSlots(row, &cursor) > 0)
}

// slotOf reports whether a request selects the slots of a schedule.
func (s *Store) slotOf(schedule int64, req store.ListRequest) bool {
	return (req.Name() == "" || req.Name() == s.scheduleName(schedule)) &&
		(req.HostsOf == "" || s.ofHosts(schedule, req.HostsOf)) &&
		(req.Group == "" || s.schedules[schedule] != nil && s.schedules[schedule].Group == req.Group)
}

// ofHosts reports whether a schedule has this name, or is made for a host from the schedule with this name.
func (s *Store) ofHosts(id int64, name string) bool {
	row := s.schedules[id]
	return row != nil && row.IsOrIsMadeFrom(name)
}
