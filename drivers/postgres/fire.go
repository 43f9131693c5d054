package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// DueSchedules reads what is due; see store.Schedules.
func (b *Backend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	var out store.DueSchedulesResult
	err := b.work(ctx, "read due schedules", func(tx pgx.Tx) (err error) {
		text, args := b.q("due_schedules"), []any{when(req.Now), req.Limit}
		if len(req.Names) > 0 {
			text, args = b.q("due_schedules_named"), append(args, req.Names)
		}
		if out.Schedules, err = collect(ctx, tx, scanSchedule, text, args...); err != nil {
			return err
		}
		err = tx.QueryRow(ctx, b.q("next_schedule"), when(req.Now)).Scan(into(&out.Now), into(&out.Next))
		if len(req.Names) > 0 {
			out.Next = time.Time{}
		}
		return err
	})
	if err != nil {
		return store.DueSchedulesResult{}, err
	}
	return out, nil
}

// Fire accounts for slots; see store.Schedules. It sends a fixed number of
// statements for any number of firings (and one more for each some thousand
// jobs).
func (b *Backend) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	if len(req.Firings) == 0 {
		return store.FireResult{}, nil
	}
	var out store.FireResult
	err := b.work(ctx, "fire schedules", func(tx pgx.Tx) error {
		f := firing{b: b, tx: tx, at: req.Now, now: when(req.Now)}
		err := f.run(ctx, req.Firings)
		out = f.out
		return err
	})
	if err != nil {
		return store.FireResult{}, err
	}
	return out, nil
}

// firing is one run of Fire.
type firing struct {
	b   *Backend
	tx  pgx.Tx
	at  time.Time
	now *time.Time
	out store.FireResult
}

// run locks the schedules, then their jobs, settles all firings in memory and
// writes the results in bulk.
func (f *firing) run(ctx context.Context, all []store.Firing) error {
	held, err := f.lockFirings(ctx, all)
	if err != nil {
		return err
	}
	live, err := f.lockLive(ctx, held)
	if err != nil {
		return err
	}
	fired, err := f.firedBefore(ctx, held)
	if err != nil {
		return err
	}
	var settled []store.Settled
	for i := range held {
		held[i].Jobs = slices.DeleteFunc(slices.Clone(held[i].Jobs), func(job store.NewJob) bool {
			return fired[slotKey{held[i].Schedule, job.Slot.UnixMicro()}]
		})
		settled = append(settled, held[i].Settle(liveOf(live[held[i].Schedule])))
	}
	touched := waitingLanes(live) // so that nothing that was left waiting waits for ever
	if err := f.end(ctx, settled, touched); err != nil {
		return err
	}
	if err := f.ask(ctx, settled, live); err != nil {
		return err
	}
	if err := f.insert(ctx, held, settled, touched); err != nil {
		return err
	}
	if err := f.b.release(ctx, f.tx, touched); err != nil {
		return err
	}
	if err := f.record(ctx, held, settled); err != nil {
		return err
	}
	if err := f.advance(ctx, held, settled); err != nil {
		return err
	}
	var after []*store.Aftermath
	for _, one := range held {
		after = append(after, one.After)
	}
	return f.b.follow(ctx, f.tx, f.at, after)
}

// lockFirings locks the schedules of firings and returns those firings that
// were decided from the rows as they are; the others are lost.
func (f *firing) lockFirings(ctx context.Context, all []store.Firing) ([]store.Firing, error) {
	ordered := slices.Clone(all)
	slices.SortFunc(ordered, func(a, b store.Firing) int { return cmp.Compare(a.Schedule, b.Schedule) })
	n := len(ordered)
	ids, revisions := make([]int64, n), make([]int64, n)
	marks, nexts := make([]*time.Time, n), make([]*time.Time, n)
	for i, one := range ordered {
		ids[i], revisions[i], marks[i], nexts[i] = one.Schedule, one.Revision, when(one.Mark), when(one.NextAt)
	}
	locked := map[int64]bool{}
	var id int64
	err := each(ctx, f.tx, []any{&id}, func() { locked[id] = true }, f.b.q("lock_firings"), f.now, ids, revisions, marks, nexts)
	var held []store.Firing
	for _, one := range all {
		if locked[one.Schedule] {
			held = append(held, one)
		} else {
			f.out.Lost = append(f.out.Lost, one.Schedule)
		}
	}
	return held, err
}

// liveJob is a living job and the node of its last claim.
type liveJob struct {
	store.LiveJob
	node int64
}

// waitingLanes are those of schedules of which a job waits.
func waitingLanes(live map[int64][]liveJob) lanes {
	out := lanes{}
	for schedule, jobs := range live {
		for _, job := range jobs {
			if job.Waiting {
				out.add(lane{schedule: schedule})
			}
		}
	}
	return out
}

func liveOf(jobs []liveJob) (out []store.LiveJob) {
	for _, job := range jobs {
		out = append(out, job.LiveJob)
	}
	return out
}

// lockLive locks the living jobs of schedules whose overlaps are to be settled
// and returns them by schedule.
func (f *firing) lockLive(ctx context.Context, held []store.Firing) (map[int64][]liveJob, error) {
	var ids []int64
	for _, one := range held {
		if len(one.Jobs) > 0 && one.Overlap != store.OverlapAllow {
			ids = append(ids, one.Schedule)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	live := map[int64][]liveJob{}
	var schedule int64
	var job liveJob
	var origin int16
	targets := []any{&job.ID, &schedule, into(&job.Slot), &job.Running, &job.Waiting, &job.Attempt, &origin, (*number)(&job.node)}
	err := each(ctx, f.tx, targets, func() {
		job.Origin = store.Origin(origin)
		live[schedule] = append(live[schedule], job)
	}, f.b.q("lock_live_jobs"), ids)
	return live, err
}

// slotKey is a slot of a schedule, in microseconds.
type slotKey struct{ schedule, slot int64 }

// firedBefore finds slots that have fired already. The mark keeps them away,
// but for a mark that was reset: such a slot makes no second job.
func (f *firing) firedBefore(ctx context.Context, held []store.Firing) (map[slotKey]bool, error) {
	var schedules []int64
	var slots []*time.Time
	for _, one := range held {
		for _, job := range one.Jobs {
			schedules, slots = append(schedules, one.Schedule), append(slots, when(job.Slot))
		}
	}
	if len(slots) == 0 {
		return nil, nil
	}
	fired := map[slotKey]bool{}
	var schedule int64
	var slot time.Time
	err := each(ctx, f.tx, []any{&schedule, into(&slot)}, func() { fired[slotKey{schedule, slot.UnixMicro()}] = true },
		f.b.q("find_fired_slots"), schedules, slots)
	return fired, err
}

// end ends jobs that await a retry which will not come, or that have waited in
// vain, and notes their lanes.
func (f *firing) end(ctx context.Context, settled []store.Settled, touched lanes) error {
	var over ends
	for _, s := range settled {
		for _, id := range s.Replace {
			over.add(id, 0, store.StateCancelled, store.ReplacedReason)
		}
		for _, id := range s.Supersede {
			over.add(id, 0, store.StateCancelled, store.SupersededReason)
		}
	}
	if len(over.ids) == 0 {
		return nil
	}
	f.out.Superseded = over.ids
	return touched.scan(ctx, f.tx, f.b.q("end_jobs"), f.now, over.ids, over.states, over.reasons)
}

// ask asks the nodes of running jobs to cancel them.
func (f *firing) ask(ctx context.Context, settled []store.Settled, live map[int64][]liveJob) error {
	var ids, nodes []int64
	for _, s := range settled {
		ids = append(ids, s.Cancel...)
	}
	if len(ids) == 0 {
		return nil
	}
	nodeOf := map[int64]int64{}
	for _, jobs := range live {
		for _, job := range jobs {
			nodeOf[job.ID] = job.node
		}
	}
	for _, id := range ids {
		nodes = append(nodes, nodeOf[id])
	}
	f.out.Asked = ids
	var batch pgx.Batch
	batch.Queue(f.b.q("request_cancels"), f.now, ids, nodes, store.ReplacedReason)
	f.b.queueWake(&batch, store.Wake{Kind: store.WakeCancels})
	return send(ctx, f.tx, &batch)
}

// insert makes the jobs of the slots that fire.
func (f *firing) insert(ctx context.Context, held []store.Firing, settled []store.Settled, touched lanes) error {
	var jobs []store.NewJob
	for i, s := range settled {
		for _, job := range s.Jobs {
			job.Schedule = held[i].Schedule
			jobs = append(jobs, job)
			if job.Waiting {
				touched.add(lane{schedule: job.Schedule})
			}
		}
	}
	ids, err := f.b.insertJobs(ctx, nativeTx{f.tx}, f.at, jobs)
	for i, id := range ids {
		slot := *when(jobs[i].Slot)
		f.out.Fired = append(f.out.Fired, store.FiredSlot{Schedule: jobs[i].Schedule, Slot: slot, Job: id})
	}
	return err
}

// advance moves marks and next instants.
func (f *firing) advance(ctx context.Context, held []store.Firing, settled []store.Settled) error {
	n := len(held)
	if n == 0 {
		return nil
	}
	ids, fired := make([]int64, n), make([]int64, n)
	marks, nexts := make([]*time.Time, n), make([]*time.Time, n)
	for i, one := range held {
		ids[i], marks[i], nexts[i], fired[i] = one.Schedule, when(one.NewMark), when(one.NewNextAt), int64(len(settled[i].Jobs))
	}
	_, err := f.tx.Exec(ctx, f.b.q("advance_schedules"), ids, marks, nexts, fired)
	return err
}
