package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// listEnds reads the ends of predecessors that wait for schedules. It ignores a caller's transaction, which holds up no other
// transaction that fires.
func (b *Backend) listEnds(ctx context.Context, req store.ListRequest) (store.Listing, error) {
	return rowwise.InTx(b.pipeline(ctx, nodeConns, req.String()), func(s sender) (out store.Listing, err error) {
		var batch pgx.Batch
		queueCollect(&batch, &out.Ends, func(r pgx.CollectableRow) (e store.ScheduleEnd, err error) {
			err = r.Scan(&e.Schedule, into(&e.Slot), &e.After, &e.ID, (*int16)(&e.State), into(&e.At), &e.Reason, &e.Paused)
			return e, err
		}, b.q(findDueEnds), req.IDs, req.Limit)
		err = send(ctx, s, &batch)
		return out, err
	})
}

// lockChain excludes transactions that change which schedules follow which. It comes before
// other locks. Puts without predecessors exclude such transactions, but not each other: a
// schedule that they create may be a predecessor already.
func (b *Backend) lockChain(ctx context.Context, tx querier, req store.PutSchedulesRequest) error {
	lock := lockChainShared
	if len(req.Predecessors()) > 0 {
		lock = lockChain
	}
	var locked int
	return tx.QueryRow(ctx, b.q(lock)).Scan(&locked)
}

// chainTx reads and writes which schedules follow which.
type chainTx struct {
	b  *Backend
	tx querier
}

// hasNotes is rowwise.Schedules.HasNotes.
func (t chainTx) hasNotes(ctx context.Context, schedules []string) (found bool, err error) {
	err = t.tx.QueryRow(ctx, t.b.q(findScheduleRelease), schedules).Scan(&found)
	return found, err
}

// predecessors is rowwise.Schedules.FindPredecessors.
func (t chainTx) predecessors(ctx context.Context, schedules []string) (map[string][]string, error) {
	found := map[string][]string{}
	var schedule, predecessor string
	err := each(ctx, t.tx, []any{&schedule, &predecessor}, func() {
		found[schedule] = append(found[schedule], predecessor)
	}, t.b.q(findChain), schedules)
	return found, err
}

// check refuses a put while ends are not passed on that the old definitions concern, and
// schedules that would follow each other in a circle.
func (t chainTx) check(ctx context.Context, req store.PutSchedulesRequest, edited []string) error {
	if len(edited) == 0 {
		return nil
	}
	if err := rowwise.CheckNotes(ctx, t.hasNotes, slices.Concat(edited, req.Predecessors())); err != nil {
		return err
	}
	return rowwise.CheckCycle(ctx, t.predecessors, req.Schedules)
}

// write notes which schedules the schedules of a put follow that were created or changed, and
// lets the ends of jobs of predecessors leave rows in release.
func (t chainTx) write(ctx context.Context, req store.PutSchedulesRequest, p putting) error {
	if len(p.out.Edited) == 0 {
		return nil
	}
	if len(p.changed) > 0 {
		if _, err := t.tx.Exec(ctx, t.b.q(deleteChain), numbersOf(p.changed)); err != nil {
			return err
		}
	}
	edited := setOfNames(p.out.Edited)
	var predecessors, names []string
	for _, e := range rowwise.ChainEdges(req.Schedules, func(name string) bool { return edited[name] }) {
		predecessors, names = append(predecessors, e.Predecessor), append(names, e.Schedule)
	}
	if len(names) > 0 {
		if _, err := t.tx.Exec(ctx, t.b.q(insertChain), predecessors, names); err != nil {
			return err
		}
	}
	marked, err := collect(ctx, t.tx, pgx.RowTo[int64], t.b.q(markPredecessors), slices.Concat(p.out.Edited, predecessors))
	if err != nil || len(marked) == 0 {
		return err
	}
	_, err = t.tx.Exec(ctx, t.b.q(markScheduleJobs), marked)
	return err
}

func setOfNames(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// LockFollowers implements rowwise.Chains. What may change until the lock is granted is read
// by a second statement.
func (t edgesTx) LockFollowers(ctx context.Context, predecessors []int64) ([]rowwise.Follower, error) {
	followers, err := collect(ctx, t.tx, func(r pgx.CollectableRow) (f rowwise.Follower, err error) {
		d, p := &f.Dependent, &f.Predecessor
		err = r.Scan(&d.ID, into(&d.Mark), into(&d.NextAt), &p.ID, &p.Name, into(&p.PausedAt), into(&p.PausedUntil),
			into(&p.GroupPausedAt), into(&p.GroupPausedUntil))
		return f, err
	}, t.b.q(lockFollowers), predecessors)
	if err != nil || len(followers) == 0 {
		return nil, err
	}
	var ids []int64
	for _, f := range followers {
		ids = append(ids, f.Dependent.ID)
	}
	last := map[int64]time.Time{}
	var id int64
	var slot time.Time
	err = each(ctx, t.tx, []any{&id, into(&slot)}, func() { last[id] = slot }, t.b.q(findLastEnds), slices.Compact(ids))
	for i := range followers {
		followers[i].Last = last[followers[i].Dependent.ID]
	}
	return followers, err
}

// InsertEnds implements rowwise.Chains.
func (t edgesTx) InsertEnds(ctx context.Context, ends []store.ScheduleEnd) error {
	n := len(ends)
	schedules, jobs := make([]int64, n), make([]int64, n)
	slots, at := make([]*time.Time, n), make([]*time.Time, n)
	states, paused := make([]int16, n), make([]bool, n)
	names, reasons := make([]string, n), make([]string, n)
	for i, e := range ends {
		schedules[i], jobs[i], slots[i], at[i] = e.Schedule, e.ID, when(e.Slot), when(e.At)
		states[i], paused[i], names[i], reasons[i] = int16(e.State), e.Paused, e.After, e.Reason
	}
	_, err := t.tx.Exec(ctx, t.b.q(insertChainEnds), schedules, slots, jobs, at, states, paused, names, reasons)
	return err
}

// SaveNext implements rowwise.Chains. Nodes are woken with the commit.
func (t edgesTx) SaveNext(ctx context.Context, schedules []rowwise.Advance) error {
	ids, next := make([]int64, len(schedules)), make([]*time.Time, len(schedules))
	for i, one := range schedules {
		ids[i], next[i] = one.Schedule, when(one.NextAt)
	}
	if _, err := t.tx.Exec(ctx, t.b.q(updateNext), ids, next); err != nil {
		return err
	}
	return t.b.wake(ctx, t.tx, store.Wake{Kind: store.WakeSchedules})
}

// leaveFollowed removes jobs whose schedules have made a job for an end of the same job before.
func (f *firing) leaveFollowed(ctx context.Context, held []store.Firing) error {
	var schedules, jobs []int64
	for _, one := range held {
		if one.Follows {
			for _, job := range one.Jobs {
				schedules, jobs = append(schedules, one.Schedule), append(jobs, job.After[0].Job)
			}
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	made := map[rowwise.FollowKey]bool{}
	var key rowwise.FollowKey
	err := each(ctx, f.tx, []any{&key.Schedule, &key.Job}, func() { made[key] = true }, f.b.q(findFollowedEnds), schedules, jobs)
	if err != nil || len(made) == 0 {
		return err
	}
	for i, one := range held {
		if one.Follows {
			held[i].Jobs = slices.DeleteFunc(slices.Clone(one.Jobs), func(job store.NewJob) bool {
				return made[rowwise.FollowKey{Schedule: one.Schedule, Job: job.After[0].Job}]
			})
		}
	}
	return nil
}

// chain stores what the new jobs of firings follow, lets the ends of jobs leave rows in release
// if their schedules have dependents, and accounts for the ends that set off the firings.
func (f *firing) chain(ctx context.Context, held []store.Firing, jobs []store.NewJob) error {
	var edges []rowwise.JobEdge
	var releases []int64
	for i, job := range jobs {
		id := f.out.Fired[i].Job
		edges = append(edges, rowwise.MatchedEdges(id, job)...)
		if f.releases[job.Schedule] {
			releases = append(releases, id)
		}
	}
	if len(edges) > 0 {
		if err := (edgesTx{f.b, f.tx}).InsertEdges(ctx, edges); err != nil {
			return err
		}
	}
	var batch pgx.Batch
	if len(releases) > 0 {
		batch.Queue(f.b.q(markReleases), releases)
	}
	schedules, notes := rowwise.FollowersOf(held, func(id int64) bool { return f.releases[id] })
	if len(schedules) > 0 {
		batch.Queue(f.b.q(closeChainEnds), schedules)
		batch.Queue(f.b.q(awaitChainEnds), schedules)
	}
	if n := len(notes); n > 0 {
		ids, owners, at, states, reasons := make([]int64, n), make([]int64, n), make([]*time.Time, n), make([]int16, n), make([]string, n)
		for i, note := range notes {
			ids[i], owners[i], at[i], states[i], reasons[i] = note.Ended.ID, note.Schedule, when(note.At), int16(note.State), note.Reason
		}
		batch.Queue(f.b.q(insertScheduleReleases), ids, owners, at, states, reasons)
		f.noted = true
	}
	return send(ctx, f.tx, &batch)
}

// markNoted lets the ends of new jobs leave rows in release; see store.Origin.LeavesNotes.
func (b *Backend) markNoted(ctx context.Context, tx querier, jobs []store.NewJob, inserted []store.Inserted) error {
	var ids []int64
	for i, job := range jobs {
		if job.Origin.LeavesNotes() {
			ids = append(ids, inserted[i].ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, b.q(markReleases), ids)
	return err
}
