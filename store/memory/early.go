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

// startAfterFired returns when a job may start that is made due at an instant by
// hand: not before a slot of its schedule that has fired early.
func (s *Store) startAfterFired(schedule int64, at, now time.Time) time.Time {
	if row := s.schedules[schedule]; row != nil {
		return laterOf(at, row.FiredTo(now))
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
	if row.FiredTo(now).IsZero() {
		row.Mark = now
	}
}
