package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// severalSteps reports whether an insert of jobs with keys needs several statements in one
// transaction. One job that may change another job does not: it is either inserted by one
// statement, or changes the other job by one statement.
func severalSteps(jobs []store.NewJob) bool {
	return slices.ContainsFunc(jobs, func(job store.NewJob) bool {
		return job.HoldsKey() || job.Unique != "" && job.OnConflict != store.OnConflictKeep && len(jobs) > 1
	})
}

// refuses reports whether one of several jobs may be refused, so that the jobs that were
// inserted before it are taken back.
func refuses(jobs []store.NewJob) bool {
	return len(jobs) > 1 && slices.ContainsFunc(jobs, func(job store.NewJob) bool {
		return job.Unique != "" && job.OnConflict == store.OnConflictError
	})
}

// insertOrNone inserts jobs in a caller's transaction, all of them or, with a
// store.DuplicateError, none. The transaction goes on after that error.
func (b *Backend) insertOrNone(ctx context.Context, q querier, req store.InsertRequest) ([]store.Inserted, error) {
	in := b.insertionOf(q, req)
	if !refuses(req.Jobs) {
		return in.insert(ctx, req.Jobs)
	}
	if _, err := q.Exec(ctx, "savepoint hourbell_insert"); err != nil {
		return nil, err
	}
	jobs, err := in.insert(ctx, req.Jobs)
	if errors.Is(err, store.ErrDuplicate) {
		if _, failed := q.Exec(ctx, "rollback to savepoint hourbell_insert"); failed != nil {
			return nil, failed
		}
	} else if err != nil {
		return nil, err
	}
	_, failed := q.Exec(ctx, "release savepoint hourbell_insert")
	return jobs, cmp.Or(err, failed)
}

// changeHolders changes the jobs that have the keys of new jobs, as OnConflict of the new
// jobs selects, and sets the answers. It returns the indexes of the new jobs without an
// answer, and for each of them the live job that has its key and did not change.
func (i insertion) changeHolders(ctx context.Context, jobs []store.NewJob, held []int, out []store.Inserted) (left []int, met map[int]int64, err error) {
	var indexes []int
	for _, n := range held {
		switch jobs[n].OnConflict {
		case store.OnConflictReplace, store.OnConflictReschedule:
			indexes = append(indexes, n)
		default:
			left = append(left, n)
		}
	}
	if len(indexes) == 0 {
		return left, nil, nil
	}
	met = map[int]int64{}
	for len(indexes) > 0 {
		chosen := pickJobs(jobs, indexes)
		size := chunk(chosen)
		choices, most := make([]int16, size), make([]*int64, size)
		for n, job := range chosen[:size] {
			if choices[n] = int16(job.OnConflict); job.PushAtMost > 0 {
				limit := job.PushAtMost.Microseconds()
				most[n] = &limit
			}
		}
		texts, err := i.send(ctx, chosen[:size], i.b.q(updateUniqueJobs), append(columns(chosen[:size]), choices, most), 2)
		if err != nil {
			return nil, nil, err
		}
		ids, err := parseIDs(texts[0], size)
		if err != nil {
			return nil, nil, err
		}
		did, err := parseIDs(texts[1], size)
		if err != nil {
			return nil, nil, err
		}
		slices.Sort(did)
		for n, index := range indexes[:size] {
			if _, found := slices.BinarySearch(did, ids[n]); !found {
				left, met[index] = append(left, index), ids[n]
				continue
			}
			out[index] = store.Inserted{ID: ids[n], Existed: true, Conflict: store.ConflictRescheduled}
			if jobs[index].OnConflict == store.OnConflictReplace {
				out[index].Conflict = store.ConflictReplaced
			}
		}
		indexes = indexes[size:]
	}
	return left, met, nil
}
