package memory

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// follow makes an aftermath happen; nil: there is none.
func (s *Store) follow(a *store.Aftermath, now time.Time) {
	if a == nil {
		return
	}
	was, failing := s.failing[a.Schedule]
	switch {
	case !a.Failing && !failing:
		return
	case a.Schedule == 0: // nobody keeps count of no schedule
	case !a.Failing:
		delete(s.failing, a.Schedule)
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
		s.add([]*job{s.newJob(n, now)})
	}
}
