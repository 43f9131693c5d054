package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
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
	return orNone(ctx, q, func() ([]store.Inserted, error) { return in.insert(ctx, req.Jobs) })
}

// orNone inserts jobs in a savepoint of a caller's transaction. If the insert is refused, because of a key or of a
// predecessor, the transaction is as before and goes on.
func orNone[T any](ctx context.Context, q querier, insert func() (T, error)) (out T, err error) {
	if _, err := q.Exec(ctx, "savepoint hourbell_insert"); err != nil {
		return out, err
	}
	out, err = insert()
	if errors.Is(err, store.ErrDuplicate) || errors.Is(err, store.ErrNotFound) {
		if _, failed := q.Exec(ctx, "rollback to savepoint hourbell_insert"); failed != nil {
			return out, failed
		}
	} else if err != nil {
		return out, err
	}
	_, failed := q.Exec(ctx, "release savepoint hourbell_insert")
	return out, cmp.Or(err, failed)
}

// takeKeys inserts the jobs that get the keys of jobs which have begun, and returns the indexes of
// the others. Their keys pass in one transaction.
func (i insertion) takeKeys(ctx context.Context, jobs []store.NewJob, held []int, out []store.Inserted) (left []int, err error) {
	var indexes []int
	for _, n := range held {
		if jobs[n].MayTake() {
			indexes = append(indexes, n)
		} else {
			left = append(left, n)
		}
	}
	if len(indexes) == 0 {
		return held, nil
	}
	indexes = inOrderOfKeys(jobs, indexes)
	var passed map[int]store.Inserted
	if i.alone {
		passed, err = rowwise.InTx(i.b.work(ctx, programConns, insertWhat), func(tx pgx.Tx) (map[int]store.Inserted, error) {
			in := i.b.insertionIn(tx, i.now)
			in.numbers = i.numbers
			return in.passKeys(ctx, jobs, indexes)
		})
	} else {
		passed, err = i.passKeys(ctx, jobs, indexes)
	}
	if err != nil {
		return nil, err
	}
	for _, n := range indexes {
		if answer, is := passed[n]; is {
			out[n] = answer
		} else {
			left = append(left, n)
		}
	}
	slices.Sort(left)
	return left, nil
}

// errKeyPassed is the error of an insert whose job did not get the key that was taken for it.
var errKeyPassed = errors.New("the key of a running job passed to another job")

// passKeys is takeKeys in a transaction. It returns the answers for the jobs that were inserted, by their indexes.
func (i insertion) passKeys(ctx context.Context, jobs []store.NewJob, indexes []int) (map[int]store.Inserted, error) {
	kinds, keys := make([]string, len(indexes)), make([]string, len(indexes))
	untils, repeats, froms := make([]bool, len(indexes)), make([]bool, len(indexes)), make([]int64, len(indexes))
	for k, n := range indexes {
		kinds[k], keys[k], untils[k], froms[k] = jobs[n].Kind, jobs[n].Unique, jobs[n].UntilStart, jobs[n].TakesFrom
		repeats[k] = jobs[n].Changes() && !jobs[n].UntilStart
	}
	taken, err := rowwise.InTx(i.run(ctx), func(q querier) (map[int]int64, error) { // the jobs that had the keys
		taken := map[int]int64{}
		var place int
		var id int64
		err := each(ctx, q, []any{&place, &id}, func() { taken[indexes[place-1]] = id }, i.b.q(takeKeys), when(i.now), kinds, keys, untils, repeats, froms)
		return taken, err
	})
	if err != nil {
		return nil, err
	}
	passed := map[int]store.Inserted{}
	var edges []rowwise.JobEdge
	for _, n := range indexes {
		from, is := taken[n]
		if !is {
			continue
		}
		in := i
		if i.numbers != nil {
			in.numbers = i.numbers[n : n+1]
		}
		answer, err := in.insertInto(ctx, jobs[n], from)
		if err != nil {
			return nil, err
		}
		if passed[n] = answer; answer.Conflict == store.ConflictAgain {
			edges = append(edges, rowwise.JobEdge{ID: answer.ID, JobEdge: store.JobEdge{Edge: store.Edge{Job: from, On: store.OnEnd}}})
		}
	}
	if len(edges) == 0 {
		return passed, nil
	}
	return passed, i.run(ctx)(func(q querier) error { return edgesTx{i.b, q}.InsertEdges(ctx, edges) })
}

// insertInto inserts a job that gets the key of another job, for whose end it waits if it is to run again.
func (i insertion) insertInto(ctx context.Context, job store.NewJob, from int64) (store.Inserted, error) {
	again := job.Awaits(from)
	if again {
		job.Waiting, job.OpenEdges = true, 1
	}
	one, answer := []store.NewJob{job}, make([]store.Inserted, 1)
	held, err := i.tryKeyed(ctx, one, []int{0}, answer)
	if err == nil && len(held) == 0 {
		held, err = i.holdKeys(ctx, one, []int{0}, held, answer)
	}
	if err == nil && len(held) > 0 {
		err = errKeyPassed
	}
	if again {
		answer[0].Conflict = store.ConflictAgain
	}
	return answer[0], err
}

// changeHolders changes the jobs that have the keys of new jobs, as OnConflict of the new
// jobs selects, and sets the answers. It returns the indexes of the new jobs without an
// answer, and for each of them the live job that has its key and did not change; below 0: takeKeys takes its key
// while it runs.
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
		ids, did, err := i.updateHolders(ctx, chosen[:size])
		if err != nil {
			return nil, nil, err
		}
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

// updateHolders changes the jobs that have the keys of new jobs. ids are these jobs, one for each new job, and did, sorted, the jobs that changed.
func (i insertion) updateHolders(ctx context.Context, jobs []store.NewJob) (ids, did []int64, err error) {
	texts, err := i.send(ctx, jobs, i.b.q(updateUniqueJobs), append(columns(jobs), conflictColumns(jobs)...), 2)
	if err != nil {
		return nil, nil, err
	}
	if ids, err = parseIDs(texts[0], len(jobs)); err != nil {
		return nil, nil, err
	}
	if did, err = parseIDs(texts[1], len(jobs)); err != nil {
		return nil, nil, err
	}
	slices.Sort(did)
	return ids, did, nil
}

// conflictColumns returns the columns of jobs about other jobs with their keys: OnConflict, PushAtMost in microseconds and UntilStart.
func conflictColumns(jobs []store.NewJob) []any {
	choices, most, untils := make([]int16, len(jobs)), make([]*int64, len(jobs)), make([]bool, len(jobs))
	for n, job := range jobs {
		if choices[n], untils[n] = int16(job.OnConflict), job.UntilStart; job.PushAtMost > 0 {
			limit := job.PushAtMost.Microseconds()
			most[n] = &limit
		}
	}
	return []any{choices, most, untils}
}
