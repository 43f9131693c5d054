package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// PauseSubject pauses a group; see store.Pauses.
func (s *Store) PauseSubject(ctx context.Context, req store.PauseRequest) error {
	now, err := s.beginWrite(ctx, "pause", req.Now)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.groupSettled(req.Name, now); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	p := store.Pause{Subject: req.Subject, Name: req.Name, At: now, Until: instant(req.Until), Reason: req.Reason, Actor: req.Actor}
	if s.groupPaused(req.Name, now) {
		p.At = s.pauses[req.Name].At
	}
	s.setPause(p, now)
	s.record(req.Entry(), 0, now)
	return nil
}

// ResumeSubject ends the pause of a group; see store.Pauses.
func (s *Store) ResumeSubject(ctx context.Context, req store.ResumeRequest) (store.ResumeResult, error) {
	now, err := s.beginWrite(ctx, "resume", req.Now)
	if err != nil {
		return store.ResumeResult{}, err
	}
	defer s.mu.Unlock()
	if !s.groupPaused(req.Name, now) {
		return store.ResumeResult{}, nil
	}
	if err := s.groupSettled(req.Name, now); err != nil {
		return store.ResumeResult{}, fmt.Errorf("resume: %w", err)
	}
	s.setPause(store.Pause{Name: req.Name}, now)
	s.record(req.Entry(), 0, now)
	return store.ResumeResult{Resumed: true}, nil
}

// setPause stores a pause, or the end of a pause, for a group and its schedules.
func (s *Store) setPause(p store.Pause, now time.Time) {
	s.pauses[p.Name] = p
	for _, row := range s.schedules {
		if row.Group == p.Name && row.DeletedAt.IsZero() {
			s.followPause(row, now)
		}
	}
	s.wake(store.Wake{Kind: store.WakeJobs})
	s.wake(store.Wake{Kind: store.WakeSchedules})
}

// followPause gives a schedule the pause of its group.
func (s *Store) followPause(row *store.Schedule, now time.Time) {
	row.GroupPausedAt, row.GroupPausedUntil = time.Time{}, time.Time{}
	if s.groupPaused(row.Group, now) {
		row.GroupPausedAt, row.GroupPausedUntil = s.pauses[row.Group].At, s.pauses[row.Group].Until
	}
}

// groupPaused reports whether a group is paused.
func (s *Store) groupPaused(group string, now time.Time) bool {
	p, found := s.pauses[group]
	return found && !p.At.IsZero() && (p.Until.IsZero() || now.Before(p.Until))
}

// deleteEndedPauses deletes pauses that have ended, so that they do not come back if the clock
// is set back.
func (s *Store) deleteEndedPauses(now time.Time) {
	maps.DeleteFunc(s.pauses, func(_ string, p store.Pause) bool { return p.At.IsZero() || !p.Until.IsZero() && !now.Before(p.Until) })
}

// groupSettled returns store.ErrUnsettled if a schedule of a group is unsettled.
func (s *Store) groupSettled(group string, now time.Time) error {
	for _, row := range s.schedules {
		if row.Group == group && row.DeletedAt.IsZero() && unsettled(row, now) {
			return fmt.Errorf("schedule %q: %w", row.Name, store.ErrUnsettled)
		}
	}
	return nil
}

// ListPauses lists pauses; see store.Pauses.
func (s *Store) ListPauses(ctx context.Context, req store.ListPausesRequest) ([]store.Pause, error) {
	now, err := s.begin(ctx, "list pauses", req.Now)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Pause
	for _, p := range s.pauses {
		if s.groupPaused(p.Name, now) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b store.Pause) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
