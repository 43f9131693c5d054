package mysql

import (
	"context"
	"slices"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// serialGroup is a serial group in the JSON of a parameter.
type serialGroup struct {
	Schedule int64 `json:"schedule"`
	Backfill bool  `json:"backfill"`
}

// LockGroups implements rowwise.Groups. Whether a group is busy is read by a second statement, which
// sees what was committed while the first waited for locks.
func (s *session) LockGroups(ctx context.Context, groups []store.SerialGroup) (map[store.SerialGroup]store.GroupState, error) {
	rows := make([]serialGroup, len(groups))
	for i, group := range groups {
		rows[i] = serialGroup(group)
	}
	states := map[store.SerialGroup]store.GroupState{}
	a := args{"groups": sqlrows.JSON(rows)}
	var heads []int64
	err := s.Each(ctx, lockWaitingJobs, a, func(r row) error {
		var i int
		var first int64
		err := r.Scan(&i, &first)
		if first != 0 {
			states[groups[i]] = store.GroupState{First: first}
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
		var i int
		err := r.Scan(&i)
		if state, waits := states[groups[i]]; waits {
			state.Busy = true
			states[groups[i]] = state
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
