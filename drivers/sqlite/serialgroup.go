package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// serialGroup identifies jobs that run one after the other if they request it:
// the backfilled jobs of a schedule, or its other jobs.
type serialGroup struct {
	Schedule int64 `json:"schedule"`
	Backfill bool  `json:"backfill"`
}

func serialGroupOf(schedule int64, origin store.Origin) serialGroup {
	return serialGroup{schedule, origin == store.OriginBackfill}
}

// serialGroups returns the distinct serial groups, without the zero group of
// jobs that have no schedule.
func serialGroups(all []serialGroup) (out []serialGroup) {
	seen := map[serialGroup]bool{}
	for _, one := range all {
		if one.Schedule != 0 && !seen[one] {
			seen[one] = true
			out = append(out, one)
		}
	}
	return out
}

// waitingIn returns the serial groups in which a job waits.
func (s *session) waitingIn(ctx context.Context, all []serialGroup) (map[serialGroup]bool, error) {
	some := serialGroups(all)
	if len(some) == 0 {
		return nil, nil
	}
	waiting := map[serialGroup]bool{}
	err := s.each(ctx, lockWaitingJobs, args{"groups": jsonOf(some)}, func(r row) error {
		var i int
		err := r.Scan(&i)
		waiting[some[i]] = true
		return err
	})
	return waiting, err
}

// release makes waiting jobs ready, in the serial groups of jobs that were added
// or removed, if they need not wait any more.
func (s *session) release(ctx context.Context, touched []serialGroup) error {
	waiting, err := s.waitingIn(ctx, touched)
	if err != nil || len(waiting) == 0 {
		return err
	}
	var some []serialGroup
	for one := range waiting {
		some = append(some, one)
	}
	return s.exec(ctx, releaseJobs, args{"groups": jsonOf(some)})
}
