package rowwise

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Fire accounts for slots; see store.Schedules. It reads what it decides on for
// all firings at once, and writes with a fixed number of statements.
//
// A slot that has made a job before, because a reset has moved the schedule's
// mark back, makes no second job; Fire passes over it.
func Fire(ctx context.Context, tx Tx, req store.FireRequest, now time.Time) (store.FireResult, error) {
	if len(req.Firings) == 0 {
		return store.FireResult{}, nil
	}
	ids := make([]int64, len(req.Firings))
	for i, f := range req.Firings {
		ids[i] = f.Schedule
	}
	until := now.Add(req.Ahead)
	if req.Replan {
		until = now.AddDate(1_000, 0, 0)
	}
	due, err := tx.LockDueSchedules(ctx, ids, until)
	if err != nil {
		return store.FireResult{}, err
	}
	plan := newFirePlan(req, due, now)
	if err := plan.read(ctx, tx, now); err != nil {
		return store.FireResult{}, err
	}
	plan.leaveBusy(now)
	plan.leaveFired()
	if err := plan.readDelays(ctx, tx, now); err != nil {
		return store.FireResult{}, err
	}
	plan.settle()
	if err := plan.write(ctx, tx, now); err != nil {
		return store.FireResult{}, err
	}
	return plan.out, nil
}

// firePlan is what Fire has read and decided, and will write.
type firePlan struct {
	firings []store.Firing // except lost and busy firings
	live    map[int64][]store.LiveJob
	delays  store.Delays       // if a firing asks why
	newest  map[int64]*Slot    // the newest record of each schedule
	fired   map[SlotKey]bool   // slots that made a job before
	chained map[FollowKey]bool // ends of jobs that made a job before
	due     map[int64]Due
	replan  bool                // FireRequest.Replan
	out     store.FireResult    // without the numbers of jobs
	jobs    []store.NewJob      // to insert
	ends    []End               // jobs that are replaced or superseded
	touched []store.SerialGroup // of jobs that end, and of added waiting jobs
	added   []*Slot             // new records, in order; the records of jobs are in jobSlots too
	counts  map[int64]int64     // fired slots by schedule
	events  store.EventRows

	jobSlots []*Slot // the record of each job
	extended []*Slot // stored records that become longer
}

// newFirePlan returns a plan of the firings that were decided from the present
// rows; the other firings are lost.
func newFirePlan(req store.FireRequest, due map[int64]Due, now time.Time) *firePlan {
	p := &firePlan{counts: map[int64]int64{}, due: due, replan: req.Replan}
	expired := !req.Until.IsZero() && now.After(instant(req.Until))
	for _, f := range req.Firings {
		if row, is := due[f.Schedule]; is && !expired && row.decided(f) {
			p.firings = append(p.firings, f)
		} else {
			p.out.Lost = append(p.out.Lost, f.Schedule)
		}
	}
	return p
}

// decided reports whether a firing was decided from this row.
func (d Due) decided(f store.Firing) bool {
	return d.Revision == f.Revision && d.Mark.Equal(instant(f.Mark)) && d.NextAt.Equal(instant(f.NextAt)) && d.PausedAt.Equal(instant(f.PausedAt))
}

// read reads live jobs, newest records and earlier jobs of slots, each only for
// the firings that depend on them.
func (p *firePlan) read(ctx context.Context, tx Tx, now time.Time) (err error) {
	var overlaps, extends []int64
	var slots []SlotKey
	var follows []FollowKey
	for _, f := range p.firings {
		if f.Overlap != store.OverlapAllow && (len(f.Jobs) > 0 || p.early(f, now)) {
			overlaps = append(overlaps, f.Schedule)
		}
		if slices.ContainsFunc(f.Slots, func(r store.SlotRecord) bool { return r.Extend }) {
			extends = append(extends, f.Schedule)
		}
		for _, job := range f.Jobs {
			slots = append(slots, keyOf(f.Schedule, job.Slot))
			if f.Follows {
				follows = append(follows, FollowKey{f.Schedule, job.After[0].Job})
			}
		}
	}
	p.newest, p.fired, p.chained = map[int64]*Slot{}, map[SlotKey]bool{}, map[FollowKey]bool{}
	if len(overlaps) > 0 {
		if p.live, err = tx.LockLiveJobs(ctx, overlaps, now); err != nil {
			return err
		}
	}
	if len(extends) > 0 {
		newest, err := tx.NewestSlots(ctx, extends)
		if err != nil {
			return err
		}
		for i := range newest {
			p.newest[newest[i].Schedule] = &newest[i]
		}
	}
	if len(slots) > 0 {
		fired, err := tx.FiredSlots(ctx, slots)
		if err != nil {
			return err
		}
		for _, slot := range fired {
			p.fired[slot] = true
		}
	}
	if len(follows) > 0 {
		before, err := tx.FollowedEnds(ctx, follows)
		if err != nil {
			return err
		}
		for _, key := range before {
			p.chained[key] = true
		}
	}
	return nil
}

// leaveFired leaves out the jobs of slots and of ends that have made a job before.
func (p *firePlan) leaveFired() {
	for i, f := range p.firings {
		p.firings[i].Jobs = slices.DeleteFunc(slices.Clone(f.Jobs), func(job store.NewJob) bool {
			return p.fired[keyOf(f.Schedule, job.Slot)] || f.Follows && p.chained[FollowKey{f.Schedule, job.After[0].Job}]
		})
	}
}

// readDelays reads what may delay jobs, if a firing asks why a job has not started.
func (p *firePlan) readDelays(ctx context.Context, tx Tx, now time.Time) (err error) {
	if !slices.ContainsFunc(p.firings, func(f store.Firing) bool { return f.AsksWhy(p.live[f.Schedule]) }) {
		return nil
	}
	if p.delays.Nodes, err = tx.FindLivingNodes(ctx); err != nil {
		return err
	}
	p.delays.Pauses, err = tx.ActivePauses(ctx, now)
	return err
}

// settle decides about every firing.
func (p *firePlan) settle() {
	for _, f := range p.firings {
		settled := f.Settle(p.live[f.Schedule], p.delays)
		for _, job := range p.live[f.Schedule] {
			if job.Waiting { // a job that waits without reason is released too
				p.touched = append(p.touched, store.SerialGroup{Schedule: f.Schedule})
			}
		}
		p.end(f.Schedule, settled.Replace, store.ReplacedReason)
		p.end(f.Schedule, settled.Supersede, store.SupersededReason)
		p.out.Asked = append(p.out.Asked, settled.Cancel...)
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
		p.ends = append(p.ends, End{ID: id, State: store.StateCancelled, Reason: reason})
		p.touched = append(p.touched, store.SerialGroup{Schedule: schedule})
	}
	p.out.Superseded = append(p.out.Superseded, jobs...)
}

// record adds a record without a job, or extends the newest record.
func (p *firePlan) record(schedule int64, record store.SlotRecord) {
	record.Slot, record.Last = instant(record.Slot), instant(record.Last)
	p.events.AddSlots(schedule, record)
	if newest := p.newest[schedule]; newest != nil && record.Extends(newest.SlotRecord) {
		if newest.ID != 0 && newest.Added == 0 {
			p.extended = append(p.extended, newest)
		}
		newest.Last = record.Last
		newest.Count += record.Count
		newest.Added += record.Count
		return
	}
	p.add(&Slot{Schedule: schedule, SlotRecord: record})
}

// add adds a record; of two records with the same slot the later one is the newer.
func (p *firePlan) add(r *Slot) {
	p.added = append(p.added, r)
	if newest := p.newest[r.Schedule]; newest == nil || !r.Slot.Before(newest.Slot) {
		p.newest[r.Schedule] = r
	}
}

// fire adds a job with its record.
func (p *firePlan) fire(schedule int64, job store.NewJob) {
	slot := instant(job.Slot)
	job.Schedule = schedule
	if job.Waiting {
		p.touched = append(p.touched, store.SerialGroup{Schedule: schedule})
	}
	r := &Slot{Schedule: schedule, SlotRecord: store.SlotRecord{Slot: slot, Last: slot, Count: 1, Outcome: store.SlotFired}}
	p.add(r)
	p.jobs, p.jobSlots = append(p.jobs, job), append(p.jobSlots, r)
	p.counts[schedule]++
}

// write writes the plan and completes the result with the numbers of the jobs.
func (p *firePlan) write(ctx context.Context, tx Tx, now time.Time) error {
	if len(p.ends) > 0 {
		if err := tx.EndJobs(ctx, p.ends, now); err != nil {
			return err
		}
	}
	if err := p.insertJobs(ctx, tx, now); err != nil {
		return err
	}
	if err := Release(ctx, tx, p.touched); err != nil {
		return err
	}
	if len(p.out.Asked) > 0 {
		if err := tx.RequestCancels(ctx, p.out.Asked, store.ReplacedReason, now); err != nil {
			return err
		}
	}
	if err := p.writeSlots(ctx, tx, now); err != nil {
		return err
	}
	return p.advance(ctx, tx, now)
}

func (p *firePlan) insertJobs(ctx context.Context, tx Tx, now time.Time) error {
	if len(p.jobs) == 0 {
		return nil
	}
	inserted, err := tx.InsertJobs(ctx, p.jobs, now)
	if err != nil {
		return err
	}
	for i, r := range p.jobSlots {
		r.Job = inserted[i].ID
		p.out.Fired = append(p.out.Fired, store.FiredSlot{Schedule: r.Schedule, Slot: r.Slot, Job: r.Job})
	}
	var edges []JobEdge
	var releases []int64
	for i, job := range p.jobs {
		edges = append(edges, MatchedEdges(inserted[i].ID, job)...)
		if p.due[job.Schedule].Releases {
			releases = append(releases, inserted[i].ID)
		}
	}
	if len(edges) > 0 {
		if err := tx.InsertEdges(ctx, edges); err != nil {
			return err
		}
	}
	if len(releases) > 0 {
		return tx.MarkReleases(ctx, releases)
	}
	return nil
}

// MatchedEdges returns the edges of a job by which its schedule has started.
func MatchedEdges(id int64, job store.NewJob) (edges []JobEdge) {
	for _, e := range job.After {
		edges = append(edges, JobEdge{ID: id, JobEdge: store.JobEdge{Edge: e, State: store.EdgeMatched}})
	}
	return edges
}

// closeEnds accounts for the ends that set off firings, and notes the ends that the firings
// are for the schedules that follow them.
func (p *firePlan) closeEnds(ctx context.Context, tx Tx) error {
	schedules, notes := FollowersOf(p.firings, func(id int64) bool { return p.due[id].Releases })
	if len(schedules) > 0 {
		if err := tx.CloseEnds(ctx, schedules); err != nil {
			return err
		}
	}
	if len(notes) > 0 {
		return tx.InsertNotes(ctx, notes)
	}
	return nil
}

// FollowersOf returns the schedules of firings that follow other schedules, and the notes of
// their ends for the schedules that follow them; releases reports whether there are any.
func FollowersOf(firings []store.Firing, releases func(schedule int64) bool) (schedules []int64, notes []Note) {
	for _, f := range firings {
		if !f.Follows {
			continue
		}
		schedules = append(schedules, f.Schedule)
		if !releases(f.Schedule) {
			continue
		}
		for _, end := range f.NotStarted {
			notes = append(notes, Note{Schedule: f.Schedule, Ended: end})
		}
	}
	return schedules, notes
}

func (p *firePlan) writeSlots(ctx context.Context, tx Tx, now time.Time) error {
	if len(p.added) > 0 {
		if err := tx.InsertSlots(ctx, p.added, now); err != nil {
			return err
		}
	}
	if len(p.extended) > 0 {
		if err := tx.ExtendSlots(ctx, p.extended, now); err != nil {
			return err
		}
	}
	return insertEvents(ctx, tx, p.events, now)
}

// advance writes how far the schedules are accounted for, and applies the
// follow-ups.
func (p *firePlan) advance(ctx context.Context, tx Tx, now time.Time) error {
	if len(p.firings) == 0 {
		return nil
	}
	advances := make([]Advance, len(p.firings))
	for i, f := range p.firings {
		advances[i] = Advance{f.Schedule, instant(f.NewMark), instant(f.NewNextAt), p.counts[f.Schedule]}
	}
	after, err := FollowFirings(ctx, tx, p.firings)
	if err != nil {
		return err
	}
	if err := tx.AdvanceSchedules(ctx, advances); err != nil {
		return err
	}
	if err := p.closeEnds(ctx, tx); err != nil {
		return err
	}
	return Follow(ctx, tx, after, now)
}

func keyOf(schedule int64, slot time.Time) SlotKey {
	return SlotKey{schedule, instant(slot).UnixMicro()}
}

// instant brings a time to the form in which it is stored: UTC, microseconds.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
