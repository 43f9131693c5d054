package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// insertKeyed inserts jobs, some with keys, except jobs whose key another job has.
func insertKeyed(ctx context.Context, tx Tx, jobs []store.NewJob, now time.Time) ([]store.Inserted, error) {
	holders, err := lockKeys(ctx, tx, jobs, now)
	if err != nil {
		return nil, err
	}
	out := make([]store.Inserted, len(jobs))
	same := store.SameKeys(jobs)
	var fresh []store.NewJob
	var places []int
	for i := range jobs {
		if _, found := same[i]; found {
			continue
		}
		if holder := holders[store.JobKey{Kind: jobs[i].Kind, Unique: jobs[i].Unique}]; holder.ID != 0 {
			out[i] = store.Inserted{ID: holder.ID, Existed: true, Conflict: holder.Conflict()}
			continue
		}
		fresh, places = append(fresh, jobs[i]), append(places, i)
	}
	if len(fresh) > 0 {
		inserted, err := tx.InsertJobs(ctx, fresh, now)
		if err != nil {
			return nil, err
		}
		for i, one := range inserted {
			out[places[i]] = one
		}
		if holds := store.KeyHolds(fresh, inserted, now); len(holds) > 0 {
			if err := tx.SaveKeyHolds(ctx, holds); err != nil {
				return nil, err
			}
		}
	}
	for i, first := range same {
		out[i] = out[first].Again()
	}
	return out, nil
}

// lockKeys returns the jobs that have keys of new jobs.
func lockKeys(ctx context.Context, tx Tx, jobs []store.NewJob, now time.Time) (map[store.JobKey]store.KeyHolder, error) {
	keys := make([]store.JobKey, 0, len(jobs))
	seen := map[store.JobKey]bool{}
	for i := range jobs {
		key := store.JobKey{Kind: jobs[i].Kind, Unique: jobs[i].Unique}
		if key.Unique != "" && !seen[key] {
			keys, seen[key] = append(keys, key), true
		}
	}
	return tx.LockKeys(ctx, keys, now)
}
