package rowwise

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// lockGroups is Tx.LockGroups for the distinct groups; jobs without a schedule
// are in none.
func lockGroups(ctx context.Context, tx Tx, groups []store.SerialGroup) (map[store.SerialGroup]store.GroupState, error) {
	seen := map[store.SerialGroup]bool{}
	var distinct []store.SerialGroup
	for _, group := range groups {
		if group.Schedule != 0 && !seen[group] {
			seen[group] = true
			distinct = append(distinct, group)
		}
	}
	if len(distinct) == 0 {
		return nil, nil
	}
	return tx.LockGroups(ctx, distinct)
}

// Release makes waiting jobs ready that need not wait any more, in the serial
// groups of jobs that were added or removed; see store.Jobs.
func Release(ctx context.Context, tx Tx, groups []store.SerialGroup) error {
	states, err := lockGroups(ctx, tx, groups)
	if err != nil {
		return err
	}
	var next []int64
	for _, state := range states {
		if id := state.Next(); id != 0 {
			next = append(next, id)
		}
	}
	if len(next) == 0 {
		return nil
	}
	return tx.ReleaseJobs(ctx, next)
}
