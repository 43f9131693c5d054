package mysql

import (
	"context"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// FindWaitingGroups implements sqlrows.Dialect. Whether a group is busy is read by a second statement, which
// sees what was committed while the first waited for locks.
func (s *session) FindWaitingGroups(ctx context.Context, groups string) (map[int]store.GroupState, error) {
	states := map[int]store.GroupState{}
	a := args{"groups": groups}
	var heads []int64
	err := s.Each(ctx, lockWaitingJobs, a, func(r row) error {
		var place int
		var first int64
		err := r.Scan(&place, &first)
		if first != 0 {
			states[place] = store.GroupState{First: first}
			heads = append(heads, first)
		}
		return err
	})
	if err != nil || len(states) == 0 {
		return states, err
	}
	if err := s.TouchJobs(ctx, heads); err != nil {
		return nil, err
	}
	err = s.Each(ctx, findBusyGroups, a, func(r row) error {
		var place int
		err := r.Scan(&place)
		if state, waits := states[place]; waits {
			state.Busy = true
			states[place] = state
		}
		return err
	})
	return states, err
}

// lockSerialGroups locks the live jobs of the schedules of new jobs that wait, so that none of them ends
// unnoticed.
func (s *session) lockSerialGroups(ctx context.Context, jobs []store.NewJob) error {
	var schedules []int64
	for i := range jobs {
		if jobs[i].Waiting && jobs[i].Schedule != 0 {
			schedules = append(schedules, jobs[i].Schedule)
		}
	}
	if len(schedules) == 0 {
		return nil
	}
	slices.Sort(schedules)
	live, err := s.Numbers(ctx, lockSerialGroupJobs, args{"schedules": slices.Compact(schedules)})
	if err != nil {
		return err
	}
	return s.TouchJobs(ctx, live)
}

// TouchJobs implements sqlrows.Dialect: it changes jobs on whose rows, which are locked, the transaction depends, where locks exclude only the
// transactions of one server of a cluster. Of two transactions that change a row the cluster lets one commit.
func (s *session) TouchJobs(ctx context.Context, ids []int64) error {
	return s.touch(ctx, touchJobs, ids)
}

// touch changes locked rows by number; see TouchJobs.
func (s *session) touch(ctx context.Context, name statement, ids []int64) error {
	if !s.cluster {
		return nil
	}
	return s.OnIDs(ctx, ids, name)
}
