package memory

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// anyLives reports whether a schedule has a live job, not counting backfilled
// jobs.
func (s *Store) anyLives(schedule int64) bool {
	for _, j := range s.live {
		if j.Schedule == schedule && !j.Origin.Backfills() {
			return true
		}
	}
	return false
}

// firedTo returns a row's mark if it is later than now, so that later slots may
// have fired already.
func (s *Store) firedTo(row *store.Schedule, now time.Time) time.Time {
	if ahead := row.Mark.Sub(now); ahead > 0 && ahead <= store.MostAhead {
		return row.Mark
	}
	return time.Time{}
}

// startAfterFired returns when a job may start that is made due at an instant by
// hand: not before a slot of its schedule that has fired early.
func (s *Store) startAfterFired(schedule int64, at, now time.Time) time.Time {
	if row := s.schedules[schedule]; row != nil {
		return laterOf(at, s.firedTo(row, now))
	}
	return at
}

// pulledTo returns when a ready job may start that is made due now by hand: not
// before its own slot, if the slot is near.
func (s *Store) pulledTo(slot, now time.Time) time.Time {
	if slot.Sub(now) <= store.MostAhead {
		return laterOf(now, slot)
	}
	return now
}

// resetMark sets the mark to now, unless an early firing may have set it.
func (s *Store) resetMark(row *store.Schedule, now time.Time) {
	if s.firedTo(row, now).IsZero() {
		row.Mark = now
	}
}
