package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// ChangeJobs cancels, retries or deletes jobs; see store.Jobs.
func (b *Backend) ChangeJobs(ctx context.Context, req store.ChangeJobsRequest) (store.ChangeJobsResult, error) {
	var out store.ChangeJobsResult
	err := b.work(ctx, programConns, "change jobs", func(tx pgx.Tx) error {
		ids, err := b.idsOf(ctx, tx, req)
		if err != nil || len(ids) == 0 {
			return err
		}
		if req.Action == store.RetryJobs {
			if _, err := tx.Exec(ctx, b.q(lockRetriedSchedules), ids); err != nil {
				return err
			}
		}
		places, err := b.locate(ctx, tx, when(req.Now), ids)
		if err != nil {
			return err
		}
		c := plan(req.Action, ids, places)
		out.Changes = c.answers
		if err := b.apply(ctx, tx, req, c); err != nil {
			return err
		}
		holders, err := b.revive(ctx, tx, when(req.Now), c.revive)
		store.WithConflicts(out.Changes, holders)
		return err
	})
	if err != nil {
		return store.ChangeJobsResult{}, err
	}
	return out, nil
}

// idsOf returns the numbers of the jobs that a request is about.
func (b *Backend) idsOf(ctx context.Context, tx pgx.Tx, req store.ChangeJobsRequest) ([]int64, error) {
	if req.Action != store.CancelJobs || req.Schedule == "" {
		return req.IDs, nil
	}
	return collect(ctx, tx, pgx.RowTo[int64], b.q(findScheduleJobs), req.Schedule)
}

// place is where a job is. The zero value: nowhere.
type place struct {
	resting  bool // live, and not claimed
	later    bool // resting, and due later
	running  bool
	waiting  bool // resting, until others have ended
	asked    bool // running, and asked to be cancelled by this call
	finished bool
	node     int64 // of the last claim
}

// locate locks jobs in whichever table they are. A job may move between the
// tables while one of them is read, so a job that is in neither is looked up
// again among the live jobs.
func (b *Backend) locate(ctx context.Context, tx pgx.Tx, now *time.Time, ids []int64) (map[int64]place, error) {
	found := map[int64]place{}
	missing := slices.Clone(ids)
	for _, look := range []func() error{
		func() error { return b.lockLiving(ctx, tx, now, missing, found) },
		func() error { return b.lockFinished(ctx, tx, missing, found) },
		func() error { return b.lockLiving(ctx, tx, now, missing, found) },
	} {
		missing = slices.DeleteFunc(missing, func(id int64) bool { return found[id] != place{} })
		if len(missing) == 0 {
			break
		}
		if err := look(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (b *Backend) lockLiving(ctx context.Context, tx pgx.Tx, now *time.Time, ids []int64, found map[int64]place) error {
	var id int64
	var p place
	return each(ctx, tx, []any{&id, (*number)(&p.node), &p.running, &p.waiting, &p.later}, func() {
		p.resting = !p.running
		found[id] = p
	}, b.q(lockJobs), ids, now)
}

func (b *Backend) lockFinished(ctx context.Context, tx pgx.Tx, ids []int64, found map[int64]place) error {
	var id int64
	return each(ctx, tx, []any{&id}, func() { found[id] = place{finished: true} }, b.q(lockFinishedJobs), ids)
}

// changes are what ChangeJobs is to do, and its answers.
type changes struct {
	answers []store.JobChange
	end     []int64 // resting jobs to cancel
	ask     []int64 // running jobs to cancel, and their nodes
	nodes   []int64
	pull    []int64 // resting jobs to make due now
	revive  []int64 // finished jobs to make ready
	remove  []int64
}

// plan decides for each job, in order, what becomes of it; a number that is
// named twice meets what its first naming left.
func plan(action store.JobAction, ids []int64, places map[int64]place) changes {
	var c changes
	for _, id := range ids {
		var answer store.Change
		p := places[id]
		switch {
		case p == place{}:
			answer = store.NotFound
		case action == store.CancelJobs:
			answer, p = c.cancel(id, p)
		case action == store.RetryJobs:
			answer, p = c.retry(id, p)
		default:
			answer, p = c.delete(id, p)
		}
		places[id] = p
		c.answers = append(c.answers, store.JobChange{ID: id, Change: answer})
	}
	return c
}

func (c *changes) cancel(id int64, p place) (store.Change, place) {
	switch {
	case p.running:
		if !p.asked {
			c.ask, c.nodes = append(c.ask, id), append(c.nodes, p.node)
		}
		p.asked = true
		return store.Requested, p
	case p.resting:
		c.end = append(c.end, id)
		return store.Changed, place{finished: true}
	}
	return store.Unchanged, p
}

func (c *changes) retry(id int64, p place) (store.Change, place) {
	switch {
	case p.running, p.waiting:
		return store.Unchanged, p
	case p.later:
		c.pull = append(c.pull, id)
	case p.finished:
		c.revive = append(c.revive, id)
	}
	return store.Changed, place{resting: true}
}

func (c *changes) delete(id int64, p place) (store.Change, place) {
	if p.running {
		return store.Unchanged, p
	}
	c.remove = append(c.remove, id)
	return store.Changed, place{}
}

// apply does what was planned; all jobs are locked.
func (b *Backend) apply(ctx context.Context, tx pgx.Tx, req store.ChangeJobsRequest, c changes) error {
	now := when(req.Now)
	freed := serialGroups{}
	if len(c.end) > 0 {
		err := freed.scan(ctx, tx, b.q(endJobs), now, c.end, repeat(int16(store.StateCancelled), len(c.end)), repeat(req.Reason, len(c.end)))
		if err != nil {
			return err
		}
	}
	if len(c.remove) > 0 {
		if err := freed.scan(ctx, tx, b.q(deleteJobs), c.remove); err != nil {
			return err
		}
	}
	if err := b.release(ctx, tx, freed); err != nil {
		return err
	}
	var batch pgx.Batch
	if len(c.ask) > 0 {
		batch.Queue(b.q(requestCancels), now, c.ask, c.nodes, req.Reason)
		b.queueWake(&batch, store.Wake{Kind: store.WakeCancels})
	}
	if len(c.pull) > 0 {
		batch.Queue(b.q(pullJobs), now, c.pull, store.MostAhead.Microseconds())
	}
	if len(c.pull)+len(c.revive) > 0 {
		b.queueWake(&batch, store.Wake{Kind: store.WakeJobs})
	}
	return send(ctx, tx, &batch)
}

// revive makes finished jobs, which are locked, ready again. For jobs whose key
// another job has, it returns the other job. That job may end while it is looked
// up: then the key is free, and the change is tried again.
func (b *Backend) revive(ctx context.Context, tx pgx.Tx, now *time.Time, ids []int64) (holders map[int64]int64, err error) {
	holders = map[int64]int64{}
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
		err = each(ctx, tx, []any{&id, &holder}, func() { holders[id] = holder }, b.q(findKeyHolders), ids)
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id int64) bool { return holders[id] != 0 })
	}
	return holders, nil
}

// repeat is a column of equal values.
func repeat[T any](v T, n int) []T { return slices.Repeat([]T{v}, n) }
