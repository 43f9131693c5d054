package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// lane is where jobs run one after the other if they ask to: those of a
// schedule, of which the backfilled ones have a lane of their own.
type lane struct {
	Schedule int64 `json:"schedule"`
	Backfill bool  `json:"backfill"`
}

func laneOf(schedule int64, origin store.Origin) lane {
	return lane{schedule, origin == store.OriginBackfill}
}

// lanes lists them without those of jobs that have no schedule.
func lanes(all []lane) (out []lane) {
	seen := map[lane]bool{}
	for _, one := range all {
		if one.Schedule != 0 && !seen[one] {
			seen[one] = true
			out = append(out, one)
		}
	}
	return out
}

// waitingIn returns those lanes in which a job waits.
func (s *session) waitingIn(ctx context.Context, all []lane) (map[lane]bool, error) {
	some := lanes(all)
	if len(some) == 0 {
		return nil, nil
	}
	waiting := map[lane]bool{}
	err := s.each(ctx, "waiting_lanes", args{"lanes": jsonOf(some)}, func(r row) error {
		var i int
		err := r.Scan(&i)
		waiting[some[i]] = true
		return err
	})
	return waiting, err
}

// release makes ready what waits in the lanes of jobs that came or went, and
// need not any more.
func (s *session) release(ctx context.Context, touched []lane) error {
	waiting, err := s.waitingIn(ctx, touched)
	if err != nil || len(waiting) == 0 {
		return err
	}
	var some []lane
	for one := range waiting {
		some = append(some, one)
	}
	return s.exec(ctx, "release_jobs", args{"lanes": jsonOf(some)})
}
