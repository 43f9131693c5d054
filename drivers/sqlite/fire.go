package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// DueSchedules reads what is due; see store.Schedules.
func (b *Backend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	var out store.DueSchedulesResult
	err := b.read(ctx, "read due schedules", func(s *session) error {
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

// Fire accounts for slots; see store.Schedules. It reads what it decides on for
// all firings at once, decides in memory, and writes what has to be written, a
// statement for each table.
//
// A slot that has made a job before, because the schedule's mark was moved back
// by a reset, makes no second one: it is passed over in silence.
func (b *Backend) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	out, _, err := b.fire(ctx, req, 0)
	return out, err
}

// fire accounts for slots, and with ahead for slots that are due later. busy are the
// schedules of early firings that were left out.
func (b *Backend) fire(ctx context.Context, req store.FireRequest, ahead time.Duration) (out store.FireResult, busy []int64, err error) {
	if len(req.Firings) == 0 {
		return out, nil, nil
	}
	err = b.write(ctx, "fire schedules", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		rows, err := s.dueRows(ctx, req.Firings, now.Add(ahead))
		if err != nil {
			return err
		}
		if !req.Until.IsZero() && now.After(instant(req.Until)) {
			rows = nil // nothing holds any more
		}
		plan := newFirePlan(req.Firings, rows)
		if err := s.readForFiring(ctx, plan, now); err != nil {
			return err
		}
		busy = plan.leaveBusy(now)
		plan.settle()
		if err := s.applyFiring(ctx, plan, now); err != nil {
			return err
		}
		out = plan.out
		return nil
	})
	if err != nil {
		return store.FireResult{}, nil, err
	}
	return out, busy, nil
}

// dueRow is what a firing is compared with.
type dueRow struct {
	revision               int64
	mark, nextAt, pausedAt time.Time
}

// dueRows reads the schedules of firings that live and are due until then.
func (s *session) dueRows(ctx context.Context, firings []store.Firing, until time.Time) (map[int64]dueRow, error) {
	ids := make([]int64, len(firings))
	for i, f := range firings {
		ids[i] = f.Schedule
	}
	rows := map[int64]dueRow{}
	err := s.each(ctx, lockDueSchedules, args{"ids": jsonList(ids), "until": micros(until)}, func(r row) error {
		var id int64
		var d dueRow
		err := r.Scan(&id, &d.revision, into(&d.mark), into(&d.nextAt), into(&d.pausedAt))
		rows[id] = d
		return err
	})
	return rows, err
}

// matches reports whether a firing was decided from the present row.
func (d dueRow) matches(f store.Firing) bool {
	return d.revision == f.Revision && d.mark.Equal(instant(f.Mark)) && d.nextAt.Equal(instant(f.NextAt)) && d.pausedAt.Equal(instant(f.PausedAt))
}

// firePlan is what Fire reads, decides and has to write.
type firePlan struct {
	firings []store.Firing // those that match
	live    map[int64][]store.LiveJob
	newest  map[int64]*slotRow // the newest record of a schedule
	fired   map[slotKey]bool   // slots that made a job before

	jobs       []store.NewJob
	jobRows    []*slotRow // the record of each job
	slots      []*slotRow // in order
	extended   []*slotRow // of the books
	supersede  []rowwise.End
	ask        []int64             // running jobs to be asked to cancel
	touched    []store.SerialGroup // of what ends, or is added to wait
	firedCount map[int64]int64
	out        store.FireResult
}

// slotKey names a slot, also in the JSON of a parameter.
type slotKey struct {
	Schedule int64 `json:"schedule"`
	Slot     int64 `json:"slot"` // microseconds
}

func keyOf(schedule int64, slot time.Time) slotKey {
	return slotKey{schedule, instant(slot).UnixMicro()}
}

// slotRow is a record, of the books (id is not 0) or to be written.
type slotRow struct {
	id       int64
	schedule int64
	store.SlotRecord
	job   int64
	added int64 // slots to add to a record of the books
}

func newFirePlan(firings []store.Firing, rows map[int64]dueRow) *firePlan {
	p := &firePlan{
		live: map[int64][]store.LiveJob{}, newest: map[int64]*slotRow{},
		fired: map[slotKey]bool{}, firedCount: map[int64]int64{},
	}
	for _, f := range firings {
		if d, due := rows[f.Schedule]; due && d.matches(f) {
			p.firings = append(p.firings, f)
		} else {
			p.out.Lost = append(p.out.Lost, f.Schedule)
		}
	}
	return p
}

// readForFiring reads live jobs, newest records and earlier jobs of slots, each
// only for the firings that depend on them.
func (s *session) readForFiring(ctx context.Context, p *firePlan, now time.Time) error {
	var overlaps, extends []int64
	var slots []slotKey
	for _, f := range p.firings {
		if f.Overlap != store.OverlapAllow && (len(f.Jobs) > 0 || early(f, now)) {
			overlaps = append(overlaps, f.Schedule)
		}
		for _, record := range f.Slots {
			if record.Extend {
				extends = append(extends, f.Schedule)
				break
			}
		}
		for _, job := range f.Jobs {
			slots = append(slots, keyOf(f.Schedule, job.Slot))
		}
	}
	if err := s.readLive(ctx, overlaps, p); err != nil {
		return err
	}
	if err := s.readNewest(ctx, extends, p); err != nil {
		return err
	}
	return s.readFired(ctx, slots, p)
}

func (s *session) readLive(ctx context.Context, schedules []int64, p *firePlan) error {
	if len(schedules) == 0 {
		return nil
	}
	return s.each(ctx, lockLiveJobs, args{"ids": jsonList(schedules)}, func(r row) error {
		var schedule int64
		var j store.LiveJob
		err := r.Scan(&schedule, &j.ID, into(&j.Slot), &j.Running, &j.Waiting, &j.Attempt, &j.Origin)
		p.live[schedule] = append(p.live[schedule], j)
		return err
	})
}

func (s *session) readNewest(ctx context.Context, schedules []int64, p *firePlan) error {
	if len(schedules) == 0 {
		return nil
	}
	return s.each(ctx, findNewestSlots, args{"ids": jsonList(schedules)}, func(r row) error {
		var n slotRow
		err := r.Scan(&n.schedule, &n.id, into(&n.Slot), into(&n.Last), &n.Outcome, &n.Reason)
		p.newest[n.schedule] = &n
		return err
	})
}

func (s *session) readFired(ctx context.Context, slots []slotKey, p *firePlan) error {
	if len(slots) == 0 {
		return nil
	}
	return s.each(ctx, findFiredSlots, args{"slots": jsonList(slots)}, func(r row) error {
		var i int
		err := r.Scan(&i)
		p.fired[slots[i]] = true
		return err
	})
}

// settle decides about every firing.
func (p *firePlan) settle() {
	for _, f := range p.firings {
		f.Jobs = slices.DeleteFunc(slices.Clone(f.Jobs), func(job store.NewJob) bool { return p.fired[keyOf(f.Schedule, job.Slot)] })
		settled := f.Settle(p.live[f.Schedule])
		for _, job := range p.live[f.Schedule] {
			if job.Waiting { // so that nothing that was left waiting waits for ever
				p.touched = append(p.touched, store.SerialGroup{Schedule: f.Schedule})
			}
		}
		p.end(f.Schedule, settled.Replace, store.ReplacedReason)
		p.end(f.Schedule, settled.Supersede, store.SupersededReason)
		p.ask = append(p.ask, settled.Cancel...)
		for _, record := range settled.Slots {
			p.record(f.Schedule, record)
			p.out.Slots = append(p.out.Slots, store.SkippedSlot{Schedule: f.Schedule, Record: record})
		}
		for _, job := range settled.Jobs {
			p.fire(f.Schedule, job)
		}
	}
}

// end ends live jobs of a schedule as cancelled.
func (p *firePlan) end(schedule int64, jobs []int64, reason string) {
	for _, id := range jobs {
		p.supersede = append(p.supersede, rowwise.End{ID: id, State: store.StateCancelled, Reason: reason})
		p.touched = append(p.touched, store.SerialGroup{Schedule: schedule})
	}
	p.out.Superseded = append(p.out.Superseded, jobs...)
}

// record adds a record without a job, or prolongs the newest one.
func (p *firePlan) record(schedule int64, record store.SlotRecord) {
	record.Slot, record.Last = instant(record.Slot), instant(record.Last)
	newest := p.newest[schedule]
	if record.Extend && newest != nil && newest.Outcome == record.Outcome && newest.Reason == record.Reason && newest.Last.Before(record.Slot) {
		if newest.id != 0 && newest.added == 0 {
			p.extended = append(p.extended, newest)
		}
		newest.Last = record.Last
		newest.Count += record.Count
		newest.added += record.Count
		return
	}
	p.add(&slotRow{schedule: schedule, SlotRecord: record})
}

// add adds a record; a later one with the same slot is the newer.
func (p *firePlan) add(r *slotRow) {
	p.slots = append(p.slots, r)
	if newest := p.newest[r.schedule]; newest == nil || !r.Slot.Before(newest.Slot) {
		p.newest[r.schedule] = r
	}
}

// fire adds a job with its record.
func (p *firePlan) fire(schedule int64, job store.NewJob) {
	slot := instant(job.Slot)
	job.Schedule = schedule
	if job.Waiting {
		p.touched = append(p.touched, store.SerialGroup{Schedule: schedule})
	}
	r := &slotRow{schedule: schedule, SlotRecord: store.SlotRecord{Slot: slot, Last: slot, Count: 1, Outcome: store.SlotFired}}
	p.add(r)
	p.jobs = append(p.jobs, job)
	p.jobRows = append(p.jobRows, r)
	p.firedCount[schedule]++
}

// applyFiring writes a plan and completes its answer with the jobs' numbers.
func (s *session) applyFiring(ctx context.Context, p *firePlan, now time.Time) error {
	if len(p.supersede) > 0 {
		if err := s.EndJobs(ctx, p.supersede, now); err != nil {
			return err
		}
	}
	inserted, err := s.InsertJobs(ctx, p.jobs, now)
	if err != nil {
		return err
	}
	for i, r := range p.jobRows {
		r.job = inserted[i].ID
		p.out.Fired = append(p.out.Fired, store.FiredSlot{Schedule: r.schedule, Slot: r.Slot, Job: r.job})
	}
	if err := rowwise.Release(ctx, s, p.touched); err != nil {
		return err
	}
	if err := s.onIDs(ctx, p.ask, args{"now": micros(now), "reason": store.ReplacedReason}, requestCancels); err != nil {
		return err
	}
	p.out.Asked = p.ask
	if err := s.saveSlots(ctx, p, now); err != nil {
		return err
	}
	if err := s.moveMarks(ctx, p); err != nil {
		return err
	}
	var after []*store.FollowUp
	for _, f := range p.firings {
		after = append(after, f.After)
	}
	return rowwise.Follow(ctx, s, after, now)
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

func (r *slotRow) parameter(count int64) newSlot {
	out := newSlot{
		ID: r.id, Schedule: r.schedule, Slot: micros(r.Slot), Last: micros(r.Last),
		Count: count, Outcome: int16(r.Outcome), Reason: r.Reason,
	}
	if r.job != 0 {
		out.Job = &r.job
	}
	return out
}

func (s *session) saveSlots(ctx context.Context, p *firePlan, now time.Time) error {
	var added, extended []newSlot
	for _, r := range p.slots {
		added = append(added, r.parameter(r.Count))
	}
	for _, r := range p.extended {
		extended = append(extended, r.parameter(r.added))
	}
	if len(added) > 0 {
		if err := s.exec(ctx, insertSlots, args{"slots": jsonOf(added), "now": micros(now)}); err != nil {
			return err
		}
	}
	if len(extended) > 0 {
		return s.exec(ctx, extendSlots, args{"slots": jsonOf(extended), "now": micros(now)})
	}
	return nil
}

// movedMark is a schedule on its way to advance_schedules.sql.
type movedMark struct {
	ID     int64  `json:"id"`
	Mark   *int64 `json:"mark"`
	NextAt *int64 `json:"next_at"`
	Fired  int64  `json:"fired"`
}

// moveMarks says in the schedules how far they are accounted for.
func (s *session) moveMarks(ctx context.Context, p *firePlan) error {
	if len(p.firings) == 0 {
		return nil
	}
	moved := make([]movedMark, len(p.firings))
	for i, f := range p.firings {
		moved[i] = movedMark{f.Schedule, micros(f.NewMark), micros(f.NewNextAt), p.firedCount[f.Schedule]}
	}
	return s.exec(ctx, advanceSchedules, args{"schedules": jsonOf(moved)})
}
