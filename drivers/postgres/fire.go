package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// DueSchedules reads what is due; see store.Schedules.
func (b *Backend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	out, err := rowwise.InTx(b.pipeline(ctx, nodeConns, "read due schedules"), func(s sender) (out store.DueSchedulesResult, err error) {
		text, args := b.q(findDueSchedules), []any{when(req.Now), req.Limit, req.Ahead.Microseconds(), when(req.After.NextAt), req.After.ID}
		if len(req.Names) > 0 {
			text, args = b.q(findDueSchedulesNamed), []any{when(req.Now), req.Limit, req.Names}
		}
		var batch pgx.Batch
		queueCollect(&batch, &out.Schedules, scanSchedule, text, args...)
		batch.Queue(b.q(findNextSchedule), when(req.Now), req.Ahead.Microseconds()).QueryRow(func(row pgx.Row) error {
			return row.Scan(into(&out.Now), into(&out.Next))
		})
		b.queuePolled(&batch, req.Polled)
		err = send(ctx, s, &batch)
		return out, err
	})
	if err != nil {
		return store.DueSchedulesResult{}, err
	}
	if len(req.Names) > 0 {
		out.Next = time.Time{}
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
	early := &earlyFiring{ahead: req.Ahead.Microseconds(), replan: req.Replan}
	type fired struct {
		out   store.FireResult
		noted bool
	}
	run := func(patient bool) func(tx pgx.Tx) (fired, error) {
		return func(tx pgx.Tx) (fired, error) {
			f := firing{b: b, tx: tx, at: req.Now, now: when(req.Now), until: when(req.Until), patient: patient, early: early.begin()}
			err := f.run(ctx, req.Firings)
			return fired{f.out, f.noted}, err
		}
	}
	did, err := rowwise.InTx(b.transact(ctx, nodeConns, "fire schedules", b.workBegin()+impatient), run(false))
	if codeOf(err) == lockNotAvailable { // the first try was rolled back; the second leaves out what others lock
		did, err = rowwise.InTx(b.work(ctx, nodeConns, "fire schedules"), run(true))
	}
	early.oweWakes(b.earlyWakes) // also after an error: it may have been committed, and a wake-up too many does no harm
	if err == nil && (len(did.out.Superseded) > 0 || did.noted) {
		b.releaseSoon(ctx, when(req.Now))
	}
	return did.out, err
}

// A caller's transaction may lock schedules and jobs for long. Fire waits for locks no
// longer than 50 ms; if it has waited longer for one, it begins again and leaves
// out what others lock. A lock is rare, so that only then each row is tried.
const (
	impatient        = "; set local lock_timeout = '50ms'"
	lockNotAvailable = "55P03"
)

// firing is one run of Fire.
type firing struct {
	b   *Backend
	tx  pgx.Tx
	at  time.Time
	now *time.Time
	// until is how long the decisions hold; nil: for ever.
	until   *time.Time
	patient bool // schedules that others lock, or whose jobs others lock, are lost
	early   *earlyFiring
	out     store.FireResult
	// releases are the schedules whose jobs' ends leave rows in release; noted: this firing has left
	// one.
	releases map[int64]bool
	noted    bool
	// counted is how many slots of each firing that was taken are counted as fired.
	counted []int
}

// run moves the schedules on, locks their jobs, settles all firings in memory
// and writes the results in bulk.
func (f *firing) run(ctx context.Context, all []store.Firing) error {
	all, err := f.leaveLocked(ctx, all)
	if err != nil || len(all) == 0 {
		return err
	}
	all, err = f.leaveBusy(ctx, all)
	if err != nil || len(all) == 0 {
		return err
	}
	held, live, err := f.take(ctx, all)
	if err != nil || len(held) == 0 {
		return err
	}
	settled, err := f.settle(ctx, held, live)
	if err != nil {
		return err
	}
	touched := waitingGroups(live) // so that nothing that was left waiting waits for ever
	if err := f.end(ctx, settled, touched); err != nil {
		return err
	}
	if err := f.ask(ctx, settled, live); err != nil {
		return err
	}
	if err := f.record(ctx, held, settled); err != nil {
		return err
	}
	if err := f.insert(ctx, held, settled, touched); err != nil {
		return err
	}
	if err := f.b.release(ctx, f.tx, touched); err != nil {
		return err
	}
	if err := f.uncount(ctx, held, settled); err != nil {
		return err
	}
	after, err := rowwise.FollowFirings(ctx, edgesTx{f.b, f.tx}, held)
	if err != nil {
		return err
	}
	return f.b.follow(ctx, f.tx, f.at, after)
}

// leaveLocked removes, in a patient run, the firings of schedules that another
// transaction locks, or one of whose live jobs another transaction locks.
func (f *firing) leaveLocked(ctx context.Context, all []store.Firing) ([]store.Firing, error) {
	if !f.patient {
		return all, nil
	}
	ids := make([]int64, len(all))
	for i, one := range all {
		ids[i] = one.Schedule
	}
	free, err := collect(ctx, f.tx, pgx.RowTo[int64], f.b.q(lockFreeSchedules), ids)
	if err != nil {
		return nil, err
	}
	held, err := collect(ctx, f.tx, pgx.RowTo[int64], f.b.q(findHeldSchedules), free)
	if err != nil {
		return nil, err
	}
	ours := setOf(free)
	for _, id := range held {
		delete(ours, id)
	}
	return slices.DeleteFunc(slices.Clone(all), func(one store.Firing) bool {
		if ours[one.Schedule] {
			return false
		}
		f.out.Lost = append(f.out.Lost, one.Schedule)
		return true
	}), nil
}

// take advances the schedules of the firings whose decisions were made from the
// rows as they are now. It returns these firings, without the jobs of slots that
// fired before, and the live jobs of their schedules. All other firings are lost,
// because another node or an edit was first. The live jobs are read and locked
// after the schedules were locked. Jobs of lost firings' schedules are not locked,
// because they may be running.
func (f *firing) take(ctx context.Context, all []store.Firing) (held []store.Firing, live map[int64][]liveJob, err error) {
	advanced, err := f.advance(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range all {
		if !advanced[one.Schedule] {
			f.out.Lost = append(f.out.Lost, one.Schedule)
			continue
		}
		held = append(held, one)
		f.counted = append(f.counted, len(one.Jobs))
	}
	fired := map[slotKey]bool{}
	live = map[int64][]liveJob{}
	var batch pgx.Batch
	f.queueLive(&batch, held, live)
	f.queueFired(&batch, held, fired)
	if err := send(ctx, f.tx, &batch); err != nil {
		return nil, nil, err
	}
	if err := f.early.check(live); err != nil {
		return nil, nil, err
	}
	for i, one := range held {
		if len(fired) > 0 {
			held[i].Jobs = slices.DeleteFunc(slices.Clone(one.Jobs), func(job store.NewJob) bool {
				return fired[slotKey{one.Schedule, job.Slot.UnixMicro()}]
			})
		}
	}
	if err := f.leaveFollowed(ctx, held); err != nil {
		return nil, nil, err
	}
	return held, live, nil
}

// advance compares firings with the rows of their schedules, moves the marks of the
// rows that match, and returns the schedules of these rows. It counts all jobs of their firings as fired; see uncount.
func (f *firing) advance(ctx context.Context, all []store.Firing) (map[int64]bool, error) {
	ordered := slices.Clone(all)
	slices.SortFunc(ordered, func(a, b store.Firing) int { return cmp.Compare(a.Schedule, b.Schedule) })
	n := len(ordered)
	ids, revisions, jobs := make([]int64, n), make([]int64, n), make([]int64, n)
	marks, nexts := make([]*time.Time, n), make([]*time.Time, n)
	newMarks, newNexts, paused := make([]*time.Time, n), make([]*time.Time, n), make([]*time.Time, n)
	for i, one := range ordered {
		ids[i], revisions[i], jobs[i] = one.Schedule, one.Revision, int64(len(one.Jobs))
		marks[i], nexts[i], paused[i] = when(one.Mark), when(one.NextAt), when(one.PausedAt)
		newMarks[i], newNexts[i] = when(one.NewMark), when(one.NewNextAt)
	}
	advanced := make(map[int64]bool, n)
	var id int64
	var soon, releases bool
	f.releases = map[int64]bool{}
	err := each(ctx, f.tx, []any{&id, &soon, &releases}, func() {
		f.releases[id] = releases
		advanced[id] = true
		f.early.note(id, soon)
	}, f.b.q(advanceSchedules), f.now, f.until, ids, revisions, marks, nexts, paused, newMarks, newNexts, jobs, f.early.mayMove())
	return advanced, err
}

// settle decides the overlaps of firings. It reads what may delay jobs only if a firing asks why a job has not started.
func (f *firing) settle(ctx context.Context, held []store.Firing, live map[int64][]liveJob) ([]store.Settled, error) {
	settled, jobs := make([]store.Settled, len(held)), make([][]store.LiveJob, len(held))
	asks := false
	for i, one := range held {
		jobs[i] = liveOf(live[one.Schedule])
		asks = asks || one.AsksWhy(jobs[i])
	}
	var delays store.Delays
	if asks {
		var batch pgx.Batch
		queueCollect(&batch, &delays.Nodes, scanLiveNode, f.b.q(findLiveNodes))
		queueCollect(&batch, &delays.Pauses, scanPause, f.b.q(listPauses), f.now)
		if err := send(ctx, f.tx, &batch); err != nil {
			return nil, err
		}
	}
	for i, one := range held {
		settled[i] = one.Settle(jobs[i], delays)
	}
	return settled, nil
}

// liveJob is a living job and the node of its last claim.
type liveJob struct {
	store.LiveJob
	node int64
}

// waitingGroups returns the serial groups of schedules with a waiting job.
func waitingGroups(live map[int64][]liveJob) serialGroups {
	out := serialGroups{}
	for schedule, jobs := range live {
		for _, job := range jobs {
			if job.Waiting {
				out.add(store.SerialGroup{Schedule: schedule})
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

// queueLive locks the live jobs of schedules whose overlaps are to be settled,
// or that must have no live job.
func (f *firing) queueLive(batch *pgx.Batch, all []store.Firing, live map[int64][]liveJob) {
	var ids []int64
	for _, one := range all {
		if one.Overlap != store.OverlapAllow && (len(one.Jobs) > 0 || f.early.mayBe()) {
			ids = append(ids, one.Schedule)
		}
	}
	if len(ids) == 0 {
		return
	}
	var schedule int64
	var job liveJob
	var origin int16
	targets := []any{
		&job.ID, &schedule, into(&job.Slot), &job.Running, &job.Waiting, &job.Attempt, &job.Snoozed, &origin, (*number)(&job.node),
		&job.Due, into(&job.StartsAt), &job.Limited, (*repeated)(&job.Queue), (*repeated)(&job.Kind), (*word)(&job.Group), (*word)(&job.Key),
	}
	batch.Queue(f.b.q(lockLiveJobs), f.now, ids).Query(scanEach(targets, func() {
		job.Origin = store.Origin(origin)
		live[schedule] = append(live[schedule], job)
	}))
}

// slotKey is a slot of a schedule, in microseconds.
type slotKey struct{ schedule, slot int64 }

// queueFired finds slots that have fired already. The mark keeps them away,
// but for a mark that was reset: such a slot makes no second job.
func (f *firing) queueFired(batch *pgx.Batch, all []store.Firing, fired map[slotKey]bool) {
	var schedules []int64
	var slots []*time.Time
	for _, one := range all {
		for _, job := range one.Jobs {
			schedules, slots = append(schedules, one.Schedule), append(slots, when(job.Slot))
		}
	}
	if len(slots) == 0 {
		return
	}
	var schedule int64
	var slot time.Time
	batch.Queue(f.b.q(findFiredSlots), schedules, slots).
		Query(scanEach([]any{&schedule, into(&slot)}, func() { fired[slotKey{schedule, slot.UnixMicro()}] = true }))
}

// end ends jobs that await a retry which will not come, or that have waited in
// vain, and records their serial groups.
func (f *firing) end(ctx context.Context, settled []store.Settled, touched serialGroups) error {
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
	return touched.scan(ctx, f.tx, f.b.q(endJobs), f.now, over.ids, over.states, over.reasons)
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
	batch.Queue(f.b.q(requestCancels), f.now, ids, nodes, store.ReplacedReason)
	f.b.queueWake(&batch, store.Wake{Kind: store.WakeCancels})
	return send(ctx, f.tx, &batch)
}

// insert makes the jobs of the slots that fire, and the records of these.
func (f *firing) insert(ctx context.Context, held []store.Firing, settled []store.Settled, touched serialGroups) error {
	var jobs []store.NewJob
	for i, s := range settled {
		for _, job := range s.Jobs {
			job.Schedule = held[i].Schedule
			jobs = append(jobs, job)
			if job.Waiting {
				touched.add(store.SerialGroup{Schedule: job.Schedule})
			}
		}
	}
	in := f.b.insertionIn(f.tx, f.at)
	in.slots, in.wake = true, f.wake
	inserted, err := in.insert(ctx, jobs)
	if err != nil {
		return err
	}
	for i, job := range jobs {
		f.out.Fired = append(f.out.Fired, store.FiredSlot{Schedule: job.Schedule, Slot: *when(job.Slot), Job: inserted[i].ID})
	}
	return f.chain(ctx, held, jobs)
}

// uncount corrects how many slots have fired where not all that a firing asked
// for did.
func (f *firing) uncount(ctx context.Context, held []store.Firing, settled []store.Settled) error {
	var ids, less []int64
	for i, one := range held {
		if n := f.counted[i] - len(settled[i].Jobs); n != 0 {
			ids, less = append(ids, one.Schedule), append(less, int64(n))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := f.tx.Exec(ctx, f.b.q(uncountFiredSlots), ids, less)
	return err
}
