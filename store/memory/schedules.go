package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// PutSchedules creates or changes schedules; see store.Schedules. It first
// checks everything and then writes, so that a refused request changes nothing.
func (s *Store) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (store.PutSchedulesResult, error) {
	if err := store.CheckAfter(req); err != nil {
		return store.PutSchedulesResult{}, fmt.Errorf("put schedules: %w", err)
	}
	s, err := s.within(ctx, &req.Tx, "put schedules")
	if err != nil {
		return store.PutSchedulesResult{}, err
	}
	now, err := s.beginWrite(ctx, "put schedules", req.Now)
	if err != nil {
		return store.PutSchedulesResult{}, err
	}
	defer s.mu.Unlock()
	owner, known := s.owners[req.Owner]
	if req.Ordered() && isStale(req, owner) {
		return store.PutSchedulesResult{}, fmt.Errorf("put schedules of owner %q, revision %d after %d: %w", req.Owner,
			req.SyncRevision, owner.Revision, store.ErrStale)
	}
	if req.Host != "" && (known || req.Gone) && !takes(owner, req) {
		owner = s.storeCopy(req, now)
		return store.PutSchedulesResult{Kept: &store.Owner{Name: owner.Name, Revision: owner.Revision, Version: owner.Version}}, nil
	}
	gone := s.notIn(req)
	if err := s.checkSchedules(req, gone, now); err != nil {
		return store.PutSchedulesResult{}, err
	}
	return s.put(req, gone, now), nil
}

// isStale reports whether a newer request than this request without a host was stored for its owner.
func isStale(req store.PutSchedulesRequest, owner store.Owner) bool {
	return req.Host == "" && req.SyncRevision < owner.Revision
}

// checkSchedules returns why a put must be refused, or nil. gone are the schedules that the put deletes.
func (s *Store) checkSchedules(req store.PutSchedulesRequest, gone []*store.Schedule, now time.Time) error {
	if missing, found := s.missingCalendar(req.Schedules); found {
		return fmt.Errorf("put schedules: calendar %q: %w", missing, store.ErrNotFound)
	}
	if err := s.checkLimits(req.PutLimits(), s.limitsNotIn(req)); err != nil {
		return fmt.Errorf("put schedules: %w", err)
	}
	if err := s.checkCycle(req.Schedules); err != nil {
		return fmt.Errorf("put schedules: %w", err)
	}
	for _, put := range req.Schedules {
		if err := s.checkPut(put, req.Owner, now); err != nil {
			return fmt.Errorf("put schedule %q: %w", put.Name, err)
		}
	}
	for _, row := range gone {
		if unsettled(row, now) {
			return fmt.Errorf("delete schedule %q: %w", row.Name, store.ErrUnsettled)
		}
	}
	return nil
}

// put writes a request that has been checked.
func (s *Store) put(req store.PutSchedulesRequest, gone []*store.Schedule, now time.Time) store.PutSchedulesResult {
	var out store.PutSchedulesResult
	var edits []store.ScheduleEdit
	for _, put := range req.Schedules {
		row := s.byName(put.Name)
		if row == nil || !same(row, put, req.Owner) {
			edit := row.Edit(put)
			row = s.putOne(row, put, req.Owner, now)
			edit.To = row.Revision
			edits = append(edits, edit)
			out.Changed++
			out.Edited = append(out.Edited, row.Name)
		}
		out.Revisions = append(out.Revisions, row.Revision)
	}
	for _, row := range gone {
		s.bury(row, now)
		edits = append(edits, store.ScheduleEdit{Name: row.Name})
		out.Deleted++
		out.Edited = append(out.Edited, row.Name)
	}
	s.syncOwner(req, now)
	limits := s.putLimits(req.PutLimits(), s.limitsNotIn(req), now)
	out.LimitsChanged, out.LimitsDeleted = len(limits.Write), len(limits.End)
	s.record(req.LimitsEntry(limits), 0, now)
	if len(out.Edited) > 0 {
		s.wake(store.Wake{Kind: store.WakeSchedules})
	}
	s.record(req.Entry(edits), 0, now)
	return out
}

// checkPut returns why one schedule cannot be put, or nil.
func (s *Store) checkPut(put store.PutSchedule, owner string, now time.Time) error {
	row := s.byName(put.Name)
	if row == nil || !row.DeletedAt.IsZero() {
		if revisionDiffers(put.IfRevision, 0, false) {
			return store.ErrConflict
		}
		return nil
	}
	switch {
	case put.IfRevision == store.OnlyNew:
		return store.ErrExists
	case revisionDiffers(put.IfRevision, row.Revision, true):
		return store.ErrConflict
	case row.Owner != owner:
		return fmt.Errorf("%w: it belongs to owner %q", store.ErrConflict, row.Owner)
	case !same(row, put, owner) && unsettled(row, now):
		return store.ErrUnsettled
	}
	return nil
}

// notIn returns the owner's schedules that a Sync deletes.
func (s *Store) notIn(req store.PutSchedulesRequest) []*store.Schedule {
	var gone []*store.Schedule
	for _, row := range s.schedules {
		if req.Sync && row.Owner == req.Owner && row.DeletedAt.IsZero() &&
			!slices.ContainsFunc(req.Schedules, func(p store.PutSchedule) bool { return p.Name == row.Name }) {
			gone = append(gone, row)
		}
	}
	return gone
}

// same reports whether a put changes nothing.
func same(row *store.Schedule, put store.PutSchedule, owner string) bool {
	return row.DeletedAt.IsZero() && row.Owner == owner && bytes.Equal(row.Definition, put.Definition)
}

// unsettled reports whether slots may be due since the row's mark that are not
// accounted for.
func unsettled(row *store.Schedule, now time.Time) bool {
	return !row.NextAt.IsZero() && !row.NextAt.After(now) && now.After(row.Mark)
}

// putOne writes a new, changed or returning schedule; row is nil for a new one.
func (s *Store) putOne(row *store.Schedule, put store.PutSchedule, owner string, now time.Time) *store.Schedule {
	if row == nil {
		s.lastSchedule++
		row = &store.Schedule{ID: s.lastSchedule, Name: put.Name, Anchor: now, CreatedAt: now}
		s.schedules[row.ID] = row
	}
	if !row.DeletedAt.IsZero() {
		row.Anchor = now
		row.DeletedAt = time.Time{}
		delete(s.failing, row.ID)
		row.PausedAt, row.PausedUntil, row.PausedDeclared = time.Time{}, time.Time{}, false
	}
	row.Revision++
	row.Owner = owner
	row.Definition = copyOf(put.Definition)
	row.Group = put.Group
	s.followPause(row, now)
	s.named[row.ID], s.follows[row.ID] = slices.Clone(put.Calendars), slices.Clone(put.After)
	row.Mark = laterOf(row.Mark, now)
	row.NextAt = now
	row.UpdatedAt = now
	declare(row, put.Paused, now)
	return row
}

// declare pauses or resumes a schedule if its definition declares another state
// than before; otherwise a manual pause or resume stays.
func declare(row *store.Schedule, paused bool, now time.Time) {
	switch {
	case paused == row.PausedDeclared:
	case !paused:
		row.PausedAt, row.PausedUntil = time.Time{}, time.Time{}
	default:
		pause(row, time.Time{}, now)
	}
	row.PausedDeclared = paused
}

// pause pauses a schedule until the given time (zero: without end).
func pause(row *store.Schedule, until, now time.Time) {
	if row.PausedAt.IsZero() || !row.PausedUntil.IsZero() && !now.Before(row.PausedUntil) {
		row.PausedAt = now
	}
	row.PausedUntil = until
}

// bury turns a schedule into a tombstone.
func (s *Store) bury(row *store.Schedule, now time.Time) {
	delete(s.failing, row.ID)
	row.DeletedAt = now
	row.NextAt = time.Time{}
}

// ChangeSchedules pauses, resumes, deletes or resets; see store.Schedules.
func (s *Store) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	s, err := s.within(ctx, &req.Tx, "change schedules")
	if err != nil {
		return err
	}
	now, err := s.beginWrite(ctx, "change schedules", req.Now)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	rows, err := s.toChange(req, now)
	if err != nil {
		return err
	}
	var changed []string
	for _, row := range rows {
		if s.changes(row, req) && !slices.Contains(changed, row.Name) {
			s.change(row, req, now)
			s.wake(store.Wake{Kind: store.WakeSchedules})
			changed = append(changed, row.Name)
		}
	}
	s.record(req.Entry(changed), 0, now)
	return nil
}

// toChange returns the schedules that a request names, or why the request must be refused.
func (s *Store) toChange(req store.ChangeSchedulesRequest, now time.Time) (rows []*store.Schedule, err error) {
	for _, name := range req.Names {
		row := s.byName(name)
		if row == nil || !row.DeletedAt.IsZero() {
			return nil, fmt.Errorf("change schedule %q: %w", name, store.ErrNotFound)
		}
		if err := store.CheckRevision(req.IfRevision, row.Revision); err != nil {
			return nil, fmt.Errorf("change schedule %q: %w", name, err)
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		if s.changes(row, req) && unsettled(row, now) {
			return nil, fmt.Errorf("change schedule %q: %w", row.Name, store.ErrUnsettled)
		}
	}
	return rows, nil
}

// changes reports whether a request changes a living schedule.
func (s *Store) changes(row *store.Schedule, req store.ChangeSchedulesRequest) bool {
	switch req.Action {
	case store.PauseSchedules:
		return row.PausedAt.IsZero() || !row.PausedUntil.Equal(instant(req.Until))
	case store.ResumeSchedules:
		return !row.PausedAt.IsZero() || s.failing[row.ID].jobs > 0
	}
	return true
}

func (s *Store) change(row *store.Schedule, req store.ChangeSchedulesRequest, now time.Time) {
	switch req.Action {
	case store.PauseSchedules:
		pause(row, instant(req.Until), now)
	case store.ResumeSchedules:
		row.PausedAt, row.PausedUntil = time.Time{}, time.Time{}
		if f, fails := s.failing[row.ID]; fails {
			s.failing[row.ID] = failure{since: f.since}
		}
	case store.DeleteSchedules:
		s.bury(row, now)
	case store.ResetSchedules:
		s.resetMark(row, now)
		row.NextAt = now
	}
}

func (s *Store) listSchedules(req store.ListRequest) (out []store.Schedule) {
	failed := map[int64]bool{}
	if req.Failed {
		failed = s.withFailedJobs()
	}
	for _, row := range s.schedules {
		if (!req.Failed || failed[row.ID]) && s.scheduleSelected(row, req) {
			info := s.copySchedule(row)
			info.FailingSince = s.failing[row.ID].since
			out = append(out, info)
		}
	}
	slices.SortFunc(out, func(a, b store.Schedule) int { return cmp.Compare(a.Name, b.Name) })
	return out[:min(len(out), req.Limit)]
}

// scheduleSelected reports whether the conditions of a request hold for a schedule, apart from Failed.
func (s *Store) scheduleSelected(row *store.Schedule, req store.ListRequest) bool {
	return named(row, req) && row.Mark.After(req.MarkAfter) && (req.Owner == nil || *req.Owner == row.Owner) && asked(req.Group, row.Group) &&
		(req.Calendar == "" || slices.Contains(s.named[row.ID], req.Calendar)) && (req.Deleted || row.DeletedAt.IsZero())
}

// named reports whether a schedule is among the names and numbers of a request, and comes after the page before.
func named(row *store.Schedule, req store.ListRequest) bool {
	return (len(req.Names) == 0 || slices.Contains(req.Names, row.Name)) && (len(req.IDs) == 0 || slices.Contains(req.IDs, row.ID)) &&
		row.Name > req.After
}

// withFailedJobs returns the schedules with a failed job among the newest jobs that did not complete.
func (s *Store) withFailedJobs() map[int64]bool {
	var ended []*job
	for _, j := range s.finished {
		if j.State >= store.StateFailed {
			ended = append(ended, j)
		}
	}
	slices.SortFunc(ended, func(a, b *job) int { return cmp.Compare(b.ID, a.ID) })
	found := map[int64]bool{}
	for _, j := range ended[:min(len(ended), store.FailedAmong)] {
		if j.State == store.StateFailed {
			found[j.Schedule] = true
		}
	}
	return found
}

func (s *Store) copySchedule(row *store.Schedule) store.Schedule {
	out := *row
	out.Definition = copyOf(row.Definition)
	out.Failures = s.failing[row.ID].jobs
	return out
}
