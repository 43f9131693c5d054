package memory

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// follow applies a follow-up; nil: there is none.
func (s *Store) follow(a *store.FollowUp, now time.Time) {
	if a == nil {
		return
	}
	for _, n := range a.Always {
		s.add(s.newJob(n, now))
	}
	was, failing := s.failing[a.Schedule]
	switch {
	case !a.Failing && !failing:
		return
	case a.Schedule == 0: // failures of jobs without a schedule are not counted
	case !a.Failing:
		delete(s.failing, a.Schedule)
		s.note(store.EventRecovery, a.Schedule, "", now)
	default:
		if !failing {
			was.since = now
		}
		if a.JobFailed {
			was.jobs++
		}
		s.failing[a.Schedule] = was
	}
	for _, n := range a.Jobs {
		s.add(s.newJob(n, now))
	}
}
