package memory

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// FireEarly accounts for slots, some before their instant; see store.EarlyFirer.
func (s *Store) FireEarly(ctx context.Context, req store.FireEarlyRequest) (out store.FireEarlyResult, err error) {
	out.FireResult, err = s.fireIf(ctx, req.FireRequest, func(row *store.Schedule, f store.Firing, now time.Time) decision {
		switch {
		case row.NextAt.After(now.Add(req.Ahead)):
			return lost
		case row.NextAt.After(now) && f.Overlap != store.OverlapAllow && s.anyLives(row.ID):
			out.Busy = append(out.Busy, row.ID)
			return left
		}
		return accepted
	})
	return out, err
}

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

// FiredTo returns up to when schedules have fired early; see store.EarlyFirer.
func (s *Store) FiredTo(ctx context.Context, req store.FiredToRequest) (time.Time, error) {
	now, err := s.begin(ctx, "read early firings", req.Now)
	if err != nil {
		return time.Time{}, err
	}
	defer s.mu.Unlock()
	var latest time.Time
	for _, name := range req.Names {
		if row := s.byName(name); row != nil {
			latest = laterOf(latest, s.firedTo(row, now))
		}
	}
	return latest, nil
}

// WithoutEarlyFiring makes a store that does not follow the rules of early firing,
// as a store without the ability. FireEarly must not be called; see storetest.Plain.
func WithoutEarlyFiring() Option {
	return func(s *Store) { s.neverEarly = true }
}

// firedTo returns a row's mark if it is later than now, so that later slots may
// have fired already.
func (s *Store) firedTo(row *store.Schedule, now time.Time) time.Time {
	if ahead := row.Mark.Sub(now); ahead > 0 && ahead <= store.MostAhead && !s.neverEarly {
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
	if slot.Sub(now) <= store.MostAhead && !s.neverEarly {
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
