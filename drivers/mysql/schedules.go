package mysql

import (
	"context"
)

// LockRevision implements rowwise.Schedules. In a cluster the row of the counter is changed, as TouchJobs changes jobs.
func (s *session) LockRevision(ctx context.Context) (int64, error) {
	last, err := s.Session.LockRevision(ctx)
	if err != nil || !s.cluster {
		return last, err
	}
	return last + 1, s.RaiseRevision(ctx, last+1)
}

// scheduleSelect is what {schedule_columns} stands for in statements.
const scheduleSelect = "id, name, owner, revision, definition, group_name, {micros(anchor)} AS anchor, {micros(mark)} " +
	"AS mark, {micros(next_at)} AS next_at, fired, {micros(paused_at)} AS paused_at, {micros(paused_until)} AS " +
	"paused_until, {micros(group_paused_at)} AS group_paused_at, {micros(group_paused_until)} AS group_paused_until, " +
	"paused_declared, {micros(created_at)} AS created_at, {micros(updated_at)} AS updated_at, {micros(deleted_at)} AS deleted_at"
