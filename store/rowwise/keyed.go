package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// keyedPlan is what an insert of jobs with keys has decided, and will write.
type keyedPlan struct {
	now     time.Time
	holders map[store.JobKey]*keyHolder
	out     []store.Inserted

	fresh  []store.NewJob
	places []int // of fresh, in the request

	held []*keyHolder // the holder of each job that is not stored, or nil

	taken []int64 // the jobs whose keys pass to new jobs
	again []again
}

// again is a new job that waits for the end of a job whose key it gets.
type again struct {
	fresh int // its place among the new jobs
	after int64
}

// keyHolder is the job that has a key.
type keyHolder struct {
	store.KeyHolder
	fresh       int           // 1 + its place among the new jobs; 0: it has a row
	replacement *store.NewJob // what the row becomes, or nil
	moved       bool          // the row gets RunAt
}

// insertKeyed inserts jobs, some with keys, except jobs whose key another job has.
// The jobs of a request count one after the other.
func insertKeyed(ctx context.Context, tx Tx, jobs []store.NewJob, now time.Time) ([]store.Inserted, error) {
	holders, err := lockKeys(ctx, tx, jobs, now)
	if err != nil {
		return nil, err
	}
	p := keyedPlan{now: now, holders: holders, out: make([]store.Inserted, len(jobs)), held: make([]*keyHolder, len(jobs))}
	for i := range jobs {
		if p.add(i, &jobs[i]); p.held[i] != nil && jobs[i].OnConflict == store.OnConflictError {
			return nil, store.Duplicate(jobs[:i+1], p.answers(nil)[:i+1])
		}
	}
	return p.write(ctx, tx)
}

// lockKeys returns the jobs that have keys of new jobs.
func lockKeys(ctx context.Context, tx Tx, jobs []store.NewJob, now time.Time) (map[store.JobKey]*keyHolder, error) {
	var keys []store.JobKey
	holders := map[store.JobKey]*keyHolder{}
	for i := range jobs {
		key := store.JobKey{Kind: jobs[i].Kind, Unique: jobs[i].Unique}
		if key.Unique != "" && holders[key] == nil {
			keys, holders[key] = append(keys, key), &keyHolder{}
		}
	}
	found, err := tx.LockKeys(ctx, keys, now)
	for key, holder := range found {
		holders[key].KeyHolder = holder
	}
	return holders, err
}

// add decides on one job of the request.
func (p *keyedPlan) add(place int, job *store.NewJob) {
	holder := p.holders[store.JobKey{Kind: job.Kind, Unique: job.Unique}]
	if holder == nil || holder.ID == 0 && holder.fresh == 0 {
		p.fresh, p.places = append(p.fresh, *job), append(p.places, place)
		if holder != nil {
			*holder = keyHolder{KeyHolder: job.Holder(p.now), fresh: len(p.fresh)}
		}
		return
	}
	if job.Takes(holder.KeyHolder) {
		p.take(place, *job, holder.ID)
		return
	}
	conflict, runAt := job.Meet(holder.KeyHolder, p.now)
	p.out[place], p.held[place] = store.Inserted{Existed: true, Conflict: conflict}, holder
	if conflict == store.ConflictReplaced || conflict == store.ConflictRescheduled {
		p.change(holder, job, conflict, runAt)
	}
}

// take stores a new job that gets the key of a row.
func (p *keyedPlan) take(place int, job store.NewJob, from int64) {
	p.taken = append(p.taken, from)
	if job.Awaits(from) {
		p.again = append(p.again, again{len(p.fresh), from})
		p.out[place].Conflict = store.ConflictAgain
		job.Waiting, job.OpenEdges = true, 1
	}
	p.fresh, p.places = append(p.fresh, job), append(p.places, place)
	p.holders[store.JobKey{Kind: job.Kind, Unique: job.Unique}] = &keyHolder{KeyHolder: job.Holder(p.now), fresh: len(p.fresh)}
}

// awaitEnds lets new jobs wait for the ends of the jobs whose keys they have.
func (p *keyedPlan) awaitEnds(ctx context.Context, tx Tx, inserted []store.Inserted) error {
	if len(p.again) == 0 {
		return nil
	}
	edges, ids := make([]JobEdge, len(p.again)), make([]int64, len(p.again))
	for i, a := range p.again {
		edges[i] = JobEdge{ID: inserted[a.fresh].ID, JobEdge: store.JobEdge{Edge: store.Edge{Job: a.after, On: store.OnEnd}}}
		ids[i] = a.after
	}
	if err := tx.MarkReleases(ctx, ids); err != nil {
		return err
	}
	return tx.InsertEdges(ctx, edges)
}

// change changes a job that has a key: a row, or a job that is still to be inserted.
func (p *keyedPlan) change(holder *keyHolder, job *store.NewJob, conflict store.Conflict, runAt time.Time) {
	holder.moved = holder.moved || !runAt.Equal(holder.RunAt)
	holder.RunAt = runAt
	if conflict == store.ConflictReplaced {
		holder.Queue, holder.Priority, holder.replacement = job.Queue, job.Priority, job
	}
	if holder.fresh > 0 {
		row := &p.fresh[holder.fresh-1]
		if conflict == store.ConflictReplaced {
			row.JobSpec = job.JobSpec
		}
		if holder.moved {
			row.RunAt = runAt
		}
	}
}

// write writes what was decided, and answers.
func (p *keyedPlan) write(ctx context.Context, tx Tx) ([]store.Inserted, error) {
	if err := p.changeHolders(ctx, tx); err != nil { // before a key passes, because a job with the key may be replaced first
		return nil, err
	}
	var inserted []store.Inserted
	if len(p.taken) > 0 {
		if err := tx.TakeKeys(ctx, p.taken); err != nil {
			return nil, err
		}
	}
	if len(p.fresh) > 0 {
		var err error
		if inserted, err = tx.InsertJobs(ctx, p.fresh, p.now); err != nil {
			return nil, err
		}
		if holds := store.KeyHolds(p.fresh, inserted, p.now); len(holds) > 0 {
			if err := tx.SaveKeyHolds(ctx, holds, p.now); err != nil {
				return nil, err
			}
		}
		if err := p.awaitEnds(ctx, tx, inserted); err != nil {
			return nil, err
		}
	}
	return p.answers(inserted), nil
}

// changeHolders writes what becomes of rows that have keys.
func (p *keyedPlan) changeHolders(ctx context.Context, tx Tx) error {
	var replaced []Replaced
	var moved []Altered
	seen := map[*keyHolder]bool{}
	for _, holder := range p.held {
		if holder == nil || holder.fresh > 0 || seen[holder] {
			continue
		}
		seen[holder] = true
		if holder.replacement != nil {
			replaced = append(replaced, Replaced{ID: holder.ID, JobSpec: holder.replacement.JobSpec})
		}
		if holder.moved {
			moved = append(moved, Altered{ID: holder.ID, RunAt: holder.RunAt.UnixMicro()})
		}
	}
	if len(replaced) > 0 {
		if err := tx.ReplaceJobs(ctx, replaced); err != nil {
			return err
		}
	}
	if len(moved) == 0 {
		return nil
	}
	return tx.AlterJobs(ctx, moved)
}

// answers returns the answers, with the numbers of the inserted jobs.
func (p *keyedPlan) answers(inserted []store.Inserted) []store.Inserted {
	for i, one := range inserted {
		one.Conflict = p.out[p.places[i]].Conflict
		p.out[p.places[i]] = one
	}
	for i, holder := range p.held {
		switch {
		case holder == nil:
		case holder.fresh == 0:
			p.out[i].ID = holder.ID
		case len(inserted) > 0:
			p.out[i].ID = inserted[holder.fresh-1].ID
		}
	}
	return p.out
}
