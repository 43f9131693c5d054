package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// ChangeJobs cancels, retries or deletes jobs; see store.Jobs.
func (b *Backend) ChangeJobs(ctx context.Context, req store.ChangeJobsRequest) (store.ChangeJobsResult, error) {
	asked := when(req.Now)
	out, err := rowwise.InTxAt(b.within(ctx, "change jobs", req.Tx, req.Now), func(tx querier, at time.Time) (store.ChangeJobsResult, error) {
		req := req
		req.Now = at
		return b.changeJobs(ctx, tx, req)
	})
	if err == nil && req.Tx == nil && (req.Action == store.CancelJobs || req.Action == store.DeleteJobs || req.Action == store.RetryJobs) {
		b.releaseSoon(ctx, asked)
	}
	return out, err
}

// changeJobs is ChangeJobs in a transaction.
func (b *Backend) changeJobs(ctx context.Context, tx querier, req store.ChangeJobsRequest) (out store.ChangeJobsResult, err error) {
	out.EntryID = req.EntryID
	ids, err := b.idsOf(ctx, tx, req)
	if err != nil || len(ids) == 0 {
		return out, err
	}
	if err := b.lockRetried(ctx, tx, req, ids); err != nil {
		return out, err
	}
	places, err := b.placesFor(ctx, tx, req, ids)
	if err != nil {
		return out, err
	}
	if err := b.match(ctx, tx, req, places); err != nil {
		return out, err
	}
	plan := req.Action.Plan(ids, statesOf(places))
	forgotten, err := rowwise.StepsToForget(ctx, stepsTx{auditTx{b, tx}}, req, plan)
	if err != nil {
		return out, err
	}
	if err := b.apply(ctx, tx, req, plan, places); err != nil {
		return out, err
	}
	holders, err := b.revive(ctx, tx, when(req.Now), plan.Revive)
	if err != nil {
		return out, err
	}
	store.WithConflicts(plan.Changes, holders)
	if err := rowwise.ForgetSteps(ctx, stepsTx{auditTx{b, tx}}, plan.Changes, forgotten); err != nil {
		return out, err
	}
	entry, err := rowwise.RecordMore(ctx, auditTx{b, tx}, req.Entry(plan.Changes), req.EntryID, req.Now)
	return store.ChangeJobsResult{Changes: plan.Changes, EntryID: entry}, err
}

// lockRetried locks the schedules of jobs that a transaction of the driver retries.
func (b *Backend) lockRetried(ctx context.Context, tx querier, req store.ChangeJobsRequest, ids []int64) error {
	if req.Action != store.RetryJobs || req.Tx != nil {
		return nil
	}
	_, err := tx.Exec(ctx, b.q(lockRetriedSchedules), ids)
	return err
}

// statesOf returns the states of jobs.
func statesOf(places map[int64]place) map[int64]store.State {
	states := make(map[int64]store.State, len(places))
	for id, p := range places {
		states[id] = p.state
	}
	return states
}

// idsOf returns the numbers of the jobs that a request is about.
func (b *Backend) idsOf(ctx context.Context, tx querier, req store.ChangeJobsRequest) ([]int64, error) {
	if req.Action != store.CancelJobs || req.Schedule == "" {
		return req.IDs, nil
	}
	return collect(ctx, tx, pgx.RowTo[int64], b.q(findScheduleJobs), req.Schedule)
}

// place is a job that is locked.
type place struct {
	state store.State // of a finished job: any finished state
	later bool        // ready or waiting, and due later
	node  int64       // of a live job's last claim
}

// placesFor locks the jobs of a request, as far as its transaction may lock them.
func (b *Backend) placesFor(ctx context.Context, tx querier, req store.ChangeJobsRequest, ids []int64) (map[int64]place, error) {
	if req.Tx == nil {
		return b.locate(ctx, tx, when(req.Now), ids)
	}
	shared, err := b.findShared(ctx, tx, req, ids)
	if err != nil {
		return nil, err
	}
	rest := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { _, is := shared[id]; return is })
	places, err := b.locate(ctx, tx, when(req.Now), rest)
	if err != nil {
		return nil, err
	}
	for id, p := range places {
		if p.state == store.StateRunning {
			return nil, errMoved // claimed since findShared; its outcome must not wait for the caller
		}
		shared[id] = p
	}
	return shared, nil
}

// findShared returns the live jobs of a request that a caller's transaction must not lock.
// To cancel such a job is to request it, as if it were running; see CarryOut.
func (b *Backend) findShared(ctx context.Context, tx querier, req store.ChangeJobsRequest, ids []int64) (map[int64]place, error) {
	shared := map[int64]place{}
	var refused error
	var id int64
	p := place{state: store.StateRunning}
	var running bool
	err := each(ctx, tx, []any{&id, &running, &p.node}, func() {
		if !running {
			p.node = 0 // of its last claim
			if req.Action != store.CancelJobs {
				refused = fmt.Errorf("job %d is a live job of a schedule: %w", id, store.ErrNotInTx)
			}
		}
		shared[id] = p
	}, b.q(findSharedJobs), ids)
	return shared, cmp.Or(err, refused)
}

// openCancels is how many requests one transaction of settleCancels carries out.
const openCancels = 1000

// settleCancels cancels the jobs that callers' transactions asked to cancel and that are not
// running. Jobs are locked before their requests, as by outcomes.
func (b *Backend) settleCancels(ctx context.Context, asked time.Time) error {
	for {
		ids, err := rowwise.InTx(b.work(ctx, nodeConns, "carry out cancel requests"), func(tx pgx.Tx) (ids []int64, err error) {
			ids, err = collect(ctx, tx, pgx.RowTo[int64], b.q(findOpenCancels), openCancels)
			if err != nil || len(ids) == 0 {
				return ids, err
			}
			if _, err := b.locate(ctx, tx, when(asked), ids); err != nil {
				return ids, err
			}
			byReason := map[string][]int64{}
			var id int64
			var reason string
			err = each(ctx, tx, []any{&id, &reason}, func() { byReason[reason] = append(byReason[reason], id) }, b.q(deleteOpenCancels), ids)
			for _, reason := range slices.Sorted(maps.Keys(byReason)) {
				if err == nil {
					_, err = b.changeJobs(ctx, tx, store.ChangeJobsRequest{Now: asked, Action: store.CancelJobs, IDs: byReason[reason], Reason: reason})
				}
			}
			return ids, err
		})
		if err != nil || len(ids) < openCancels {
			return err
		}
	}
}

// locate locks jobs in whichever table they are. A job may move between the
// tables while one of them is read, so a job that is in neither is looked up
// again among the live jobs.
func (b *Backend) locate(ctx context.Context, tx querier, now *time.Time, ids []int64) (map[int64]place, error) {
	found := map[int64]place{}
	missing := slices.Clone(ids)
	for _, look := range []func() error{
		func() error { return b.lockLiving(ctx, tx, now, missing, found) },
		func() error { return b.lockFinished(ctx, tx, missing, found) },
		func() error { return b.lockLiving(ctx, tx, now, missing, found) },
	} {
		missing = slices.DeleteFunc(missing, func(id int64) bool {
			_, is := found[id]
			return is
		})
		if len(missing) == 0 {
			break
		}
		if err := look(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (b *Backend) lockLiving(ctx context.Context, tx querier, now *time.Time, ids []int64, found map[int64]place) error {
	var id int64
	var p place
	var running, waiting bool
	return each(ctx, tx, []any{&id, (*number)(&p.node), &running, &waiting, &p.later}, func() {
		switch {
		case running:
			p.state = store.StateRunning
		case waiting:
			p.state = store.StateWaiting
		default:
			p.state = store.StateReady
		}
		found[id] = p
	}, b.q(lockJobs), ids, now)
}

func (b *Backend) lockFinished(ctx context.Context, tx querier, ids []int64, found map[int64]place) error {
	var id int64
	return each(ctx, tx, []any{&id}, func() { found[id] = place{state: store.StateCompleted} }, b.q(lockFinishedJobs), ids)
}

// match removes the jobs, which are locked, that do not match the filter of a request.
func (b *Backend) match(ctx context.Context, tx querier, req store.ChangeJobsRequest, places map[int64]place) error {
	if req.Match.Empty() || len(places) == 0 {
		return nil
	}
	f := req.Match
	f.IDs = slices.Collect(maps.Keys(places))
	matching, err := collect(ctx, tx, pgx.RowTo[int64], b.q(matchJobs), jobFilterValues(f, req.Now)...)
	if err != nil {
		return err
	}
	match := map[int64]bool{}
	for _, id := range matching {
		match[id] = true
	}
	maps.DeleteFunc(places, func(id int64, _ place) bool { return !match[id] })
	return nil
}

// apply does what was planned, except for finished jobs; all jobs are locked.
func (b *Backend) apply(ctx context.Context, tx querier, req store.ChangeJobsRequest, plan store.JobPlan, places map[int64]place) error {
	now := when(req.Now)
	if err := b.endAndDelete(ctx, tx, now, plan, req.Reason); err != nil {
		return err
	}
	var batch pgx.Batch
	if req.Tx != nil && len(plan.End)+len(plan.Delete)+len(plan.Revive) > 0 {
		b.queueWake(&batch, store.Wake{Kind: store.WakeCancels}) // the nodes release dependents
	}
	if len(plan.Ask) > 0 {
		nodes := make([]int64, len(plan.Ask))
		for i, id := range plan.Ask {
			nodes[i] = places[id].node
		}
		batch.Queue(b.q(requestCancels), now, plan.Ask, nodes, req.Reason)
		b.queueWake(&batch, store.Wake{Kind: store.WakeCancels})
	}
	pull := slices.DeleteFunc(plan.Pull, func(id int64) bool { return !places[id].later })
	if len(pull) > 0 {
		batch.Queue(b.q(pullJobs), now, pull, store.MostAhead.Microseconds())
	}
	switch {
	case len(plan.Alter) == 0:
	case req.Action == store.MoveJobs:
		batch.Queue(b.q(updateJobs), now, plan.Alter, req.Queue, nil)
		b.queueWake(&batch, store.Wake{Kind: store.WakeJobs, Queue: req.Queue})
	default:
		batch.Queue(b.q(updateJobs), now, plan.Alter, nil, req.Priority)
	}
	if len(pull)+len(plan.Revive) > 0 {
		b.queueWake(&batch, store.Wake{Kind: store.WakeJobs})
	}
	return send(ctx, tx, &batch)
}

// endAndDelete cancels the jobs that a plan ends, deletes its others, and releases the jobs that waited in their serial groups.
func (b *Backend) endAndDelete(ctx context.Context, tx querier, now *time.Time, plan store.JobPlan, reason string) error {
	freed := serialGroups{}
	if n := len(plan.End); n > 0 {
		err := freed.scan(ctx, tx, b.q(endJobs), now, plan.End, repeat(int16(store.StateCancelled), n), repeat(reason, n))
		if err != nil {
			return err
		}
	}
	if len(plan.Delete) > 0 {
		if err := freed.scan(ctx, tx, b.q(deleteJobs), now, plan.Delete); err != nil {
			return err
		}
	}
	return b.release(ctx, tx, freed)
}

// revive makes finished jobs, which are locked, ready again. For jobs whose key
// another job has, it returns the other job. That job may end while it is looked
// up: then the key is free, and the change is tried again.
func (b *Backend) revive(ctx context.Context, tx querier, now *time.Time, ids []int64) (holders map[int64]int64, err error) {
	holders = map[int64]int64{}
	if len(ids) > 0 { // a request that came too late is not for the next run
		if _, err := tx.Exec(ctx, b.q(deleteCancels), ids); err != nil {
			return nil, err
		}
	}
	for len(ids) > 0 {
		revived, err := collect(ctx, tx, pgx.RowTo[int64], b.q(reviveJobs), now, ids, store.MostAhead.Microseconds())
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return slices.Contains(revived, id) })
		if len(ids) == 0 {
			break
		}
		var id, holder int64
		var key store.JobKey
		err = each(ctx, tx, []any{&id, &key.Kind, &key.Unique, &holder}, func() { holders[id] = holder }, b.q(findKeyHolders), now, ids)
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id int64) bool { return holders[id] != 0 })
	}
	return holders, nil
}

// repeat is a column of equal values.
func repeat[T any](v T, n int) []T { return slices.Repeat([]T{v}, n) }
