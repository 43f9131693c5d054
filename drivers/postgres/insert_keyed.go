package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// insertKeyed inserts jobs, some with keys. For a key that a live job has, it finds that
// job, and changes it if asked to. A job may end, or be rolled back, before it is found:
// then the insert of the job with its key is tried again.
//
// An insertion that commits each statement is still all or none: without the jobs that
// are left, an insert is done as if these jobs had been found.
func (i insertion) insertKeyed(ctx context.Context, jobs []store.NewJob) ([]store.Inserted, error) {
	out := make([]store.Inserted, len(jobs))
	if severalInserts(jobs) {
		var err error
		if i.numbers, err = i.takeNumbers(ctx, len(jobs)); err != nil {
			return nil, err
		}
	}
	same := store.SameKeys(jobs)
	first, later := splitByKeys(len(jobs), same)
	if err := i.insertDistinct(ctx, jobs, first, out); err != nil {
		return nil, err
	}
	for _, n := range later {
		if !jobs[n].MayTake() { // nor does it change a job
			out[n] = out[same[n]].Again()
			continue
		}
		if err := i.insertDistinct(ctx, jobs, []int{n}, out); err != nil {
			return nil, err
		}
		for other, first := range same { // the jobs behind it meet what this one has stored or met
			if first == same[n] && other > n {
				same[other] = n
			}
		}
	}
	return out, store.Duplicate(jobs, out)
}

// splitByKeys returns the indexes of the jobs of a request whose keys are new in the request, and of the others; see store.SameKeys.
func splitByKeys(jobs int, same map[int]int) (first, later []int) {
	for n := range jobs {
		if _, found := same[n]; !found {
			first = append(first, n)
		} else {
			later = append(later, n)
		}
	}
	return first, later
}

// insertDistinct is insertKeyed for jobs of different keys, by their indexes in left.
func (i insertion) insertDistinct(ctx context.Context, jobs []store.NewJob, left []int, out []store.Inserted) error {
	stored := false
	for len(left) > 0 {
		held, err := i.tryKeyed(ctx, jobs, left, out)
		if err == nil && !i.alone {
			held, err = i.holdKeys(ctx, jobs, left, held, out)
		}
		var met map[int]int64
		if err == nil {
			stored = stored || len(held) < len(left)
			held, met, err = i.changeHolders(ctx, jobs, held, out)
		}
		if err == nil {
			before := len(held)
			held, err = i.takeKeys(ctx, jobs, held, out)
			stored = stored || len(held) < before
		}
		if err == nil {
			left, err = i.findHolders(ctx, jobs, held, met, out)
		}
		if err != nil && stored && i.alone {
			err = fmt.Errorf("%w: some of the jobs are stored: %w", store.ErrUnknown, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// severalInserts reports whether several statements may insert the jobs of a request. Then the jobs get their numbers before the first
// of these statements, because numbers grow in the order of the request.
func severalInserts(jobs []store.NewJob) bool {
	return chunk(jobs) < len(jobs) || len(jobs) > 1 && slices.ContainsFunc(jobs, func(job store.NewJob) bool { return job.MayTake() })
}

// takeNumbers takes numbers for jobs.
func (i insertion) takeNumbers(ctx context.Context, count int) ([]int64, error) {
	text, err := i.sendText(ctx, numberJobs, count)
	if err != nil {
		return nil, err
	}
	numbers, err := parseIDs(text, count)
	slices.Sort(numbers)
	return numbers, err
}

// tryKeyed inserts the jobs with the indexes in left and sets their answers. It
// returns the indexes of the jobs whose keys other jobs have.
func (i insertion) tryKeyed(ctx context.Context, jobs []store.NewJob, left []int, out []store.Inserted) (held []int, err error) {
	if len(left) == 1 && i.numbers == nil && !linked(jobs[left[0]:left[0]+1]) {
		return i.tryOne(ctx, jobs, left, out)
	}
	chosen := pickJobs(jobs, left)
	if chunk(chosen) < len(chosen) {
		left = inOrderOfKeys(jobs, left)
		chosen = pickJobs(jobs, left)
	}
	for len(chosen) > 0 {
		n := chunk(chosen)
		var given any
		if i.numbers != nil {
			numbers := make([]int64, n)
			for k, index := range left[:n] {
				numbers[k] = i.numbers[index]
			}
			given = numbers
		}
		some, err := i.tryChunk(ctx, chosen[:n], left[:n], given, out)
		if err != nil {
			return nil, err
		}
		held = append(held, some...)
		chosen, left = chosen[n:], left[n:]
	}
	return held, nil
}

func pickJobs(jobs []store.NewJob, indexes []int) []store.NewJob {
	if len(indexes) == len(jobs) && slices.IsSorted(indexes) {
		return jobs // all, in order
	}
	picked := make([]store.NewJob, len(indexes))
	for i, n := range indexes {
		picked[i] = jobs[n]
	}
	return picked
}

// tryOne is tryKeyed for one job.
func (i insertion) tryOne(ctx context.Context, jobs []store.NewJob, left []int, out []store.Inserted) (held []int, err error) {
	job := jobs[left[0] : left[0]+1]
	texts, err := i.send(ctx, job, i.b.q(insertUniqueJob), shared(&job[0], string(job[0].Args)), 1)
	if errors.Is(err, sql.ErrNoRows) {
		return left, nil
	}
	if err != nil {
		return nil, err
	}
	ids, err := parseIDs(texts[0], 1)
	if err == nil {
		out[left[0]].ID = ids[0]
	}
	return nil, err
}

// inOrderOfKeys returns indexes of jobs in the order of the keys of the jobs, in which several statements insert the jobs.
func inOrderOfKeys(jobs []store.NewJob, left []int) []int {
	ordered := slices.Clone(left)
	slices.SortStableFunc(ordered, func(a, b int) int {
		return cmp.Or(cmp.Compare(jobs[a].Kind, jobs[b].Kind), cmp.Compare(jobs[a].Unique, jobs[b].Unique))
	})
	return ordered
}

// tryChunk is tryKeyed for the jobs of one statement. given are their numbers; nil: the
// database gives the numbers.
func (i insertion) tryChunk(ctx context.Context, jobs []store.NewJob, indexes []int, given any, out []store.Inserted) (held []int, err error) {
	name, values := insertKeyedJobs, columns(jobs)
	if linked(jobs) {
		name, values = insertKeyedLinkedJobs, append(values, linkedColumns(jobs)...)
	}
	texts, err := i.send(ctx, jobs, i.b.q(name), append(values, given), 2)
	if err != nil {
		return nil, err
	}
	ids, err := parseIDs(texts[0], len(jobs))
	if err != nil {
		return nil, err
	}
	stored, err := parseIDs(texts[1], len(jobs))
	if err != nil {
		return nil, err
	}
	slices.Sort(stored)
	for n, id := range ids {
		if _, found := slices.BinarySearch(stored, id); found {
			out[indexes[n]].ID = id
		} else {
			held = append(held, indexes[n])
		}
	}
	return held, nil
}

// holdKeys lets the jobs that were inserted hold their keys. A job whose key another job
// holds by now is deleted again, and added to held.
func (i insertion) holdKeys(ctx context.Context, jobs []store.NewJob, left, held []int, out []store.Inserted) ([]int, error) {
	var indexes []int // of the jobs that are to hold their keys
	var ids, holds []int64
	var kinds, keys []string
	for _, n := range left {
		if jobs[n].HoldsKey() && out[n].ID != 0 {
			indexes, ids, holds = append(indexes, n), append(ids, out[n].ID), append(holds, jobs[n].UniqueFor.Microseconds())
			kinds, keys = append(kinds, jobs[n].Kind), append(keys, jobs[n].Unique)
		}
	}
	if len(indexes) == 0 {
		return held, nil
	}
	text, err := i.sendText(ctx, upsertKeyHolds, when(i.now), ids, holds, kinds, keys)
	if err != nil {
		return nil, err
	}
	did, err := parseIDs(text, len(ids))
	if err != nil || len(did) == len(ids) {
		return held, err
	}
	slices.Sort(did)
	var late []int64
	for _, n := range indexes {
		if _, found := slices.BinarySearch(did, out[n].ID); !found {
			late, held = append(late, out[n].ID), append(held, n)
			out[n] = store.Inserted{}
		}
	}
	_, err = rowwise.InTx(i.run(ctx), func(q querier) (gone int, err error) {
		err = q.QueryRow(ctx, i.b.q(deleteNewJobs), late).Scan(&gone)
		return gone, err
	})
	return held, err
}

// findHolders finds the jobs that have the keys of other jobs and sets the answers for
// these. It returns the indexes of the jobs that have to be tried again: no job has their key
// any more, or they are to change a live job, and another job than the one in met has the
// key now, or the job in met ran and does not run any more.
func (i insertion) findHolders(ctx context.Context, jobs []store.NewJob, held []int, met map[int]int64, out []store.Inserted) (left []int, err error) {
	if len(held) == 0 {
		return nil, nil
	}
	kinds, keys := make([]string, len(held)), make([]string, len(held))
	for n, index := range held {
		kinds[n], keys[n] = jobs[index].Kind, jobs[index].Unique
	}
	text, err := i.sendText(ctx, findUniqueJobs, when(i.now), kinds, keys)
	if err != nil {
		return nil, err
	}
	ids, err := parseIDs(text, len(held))
	if err != nil {
		return nil, err
	}
	for n, id := range ids {
		other, asked := met[held[n]]
		switch {
		case id < 0:
			out[held[n]] = store.Inserted{ID: -id, Existed: true, Conflict: store.ConflictHeld}
		case id == 0 || asked && other != id:
			left = append(left, held[n])
		default:
			out[held[n]] = store.Inserted{ID: id, Existed: true, Conflict: store.ConflictKept}
		}
	}
	return left, nil
}
