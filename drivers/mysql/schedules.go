package mysql

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// LockRevision implements rowwise.Schedules. The row of the counter is also what lets one transaction at
// a time change schedules, calendars and handlers; in a cluster the row is changed, as touchJobs changes jobs.
func (s *session) LockRevision(ctx context.Context) (last int64, err error) {
	err = s.One(ctx, lockCounter, args{"name": "revision"}, &last)
	if err != nil || !s.cluster {
		return last, err
	}
	return last + 1, s.RaiseRevision(ctx, last+1)
}

// SaveSchedules implements rowwise.Schedules. It finds rows by their names.
func (s *session) SaveSchedules(ctx context.Context, rows []*store.Schedule) error {
	saved := make([]args, len(rows))
	for i, r := range rows {
		saved[i] = args{
			"name": r.Name, "owner": r.Owner, "revision": r.Revision, "definition": sqlrows.NotNull(r.Definition), "group_name": sqlrows.TextOrNull(r.Group),
			"anchor": sqlrows.Micros(r.Anchor), "mark": sqlrows.Micros(r.Mark), "next_at": sqlrows.Micros(r.NextAt), "fired": r.Fired,
			"paused_at": sqlrows.Micros(r.PausedAt), "paused_until": sqlrows.Micros(r.PausedUntil),
			"group_paused_at": sqlrows.Micros(r.GroupPausedAt), "group_paused_until": sqlrows.Micros(r.GroupPausedUntil),
			"paused_declared": r.PausedDeclared, "created_at": sqlrows.Micros(r.CreatedAt),
			"updated_at": sqlrows.Micros(r.UpdatedAt), "deleted_at": sqlrows.Micros(r.DeletedAt),
		}
	}
	err := s.insertRows(ctx, sqlrows.UpsertSchedules, saved)
	return err
}

// scheduleSelect is what {schedule_columns} stands for in statements.
const scheduleSelect = "id, name, owner, revision, definition, group_name, {micros(anchor)} AS anchor, {micros(mark)} " +
	"AS mark, {micros(next_at)} AS next_at, fired, {micros(paused_at)} AS paused_at, {micros(paused_until)} AS " +
	"paused_until, {micros(group_paused_at)} AS group_paused_at, {micros(group_paused_until)} AS group_paused_until, " +
	"paused_declared, {micros(created_at)} AS created_at, {micros(updated_at)} AS updated_at, {micros(deleted_at)} AS deleted_at"
