package mysql

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// MarkPredecessors implements rowwise.Schedules.
func (s *session) MarkPredecessors(ctx context.Context, schedules []string) error {
	owners := make([]string, len(schedules))
	for i, name := range schedules {
		owners[i] = store.EveryOwner(name)
	}
	a := args{"names": schedules, "owners": owners}
	marked, err := s.Count(ctx, sqlrows.MarkPredecessors, a)
	if err != nil || marked == 0 {
		return err
	}
	return s.Exec(ctx, sqlrows.MarkScheduleJobs, a)
}

// LockFollowers implements rowwise.Chains. What may change until the lock is granted is read
// by a second statement.
func (s *session) LockFollowers(ctx context.Context, predecessors []int64) ([]rowwise.Follower, error) {
	return s.lockFollowers(ctx, lockFollowers, predecessors)
}

func (s *session) lockFollowers(ctx context.Context, lock statement, predecessors []int64) (followers []rowwise.Follower, err error) {
	var ids []int64
	err = s.Each(ctx, lock, args{"ids": predecessors}, func(r row) error {
		var f rowwise.Follower
		d, p := &f.Dependent, &f.Predecessor
		err := r.Scan(&d.ID, sqlrows.IntoTime(&d.Mark), sqlrows.IntoTime(&d.NextAt), &p.ID, &p.Name,
			sqlrows.IntoTime(&p.PausedAt), sqlrows.IntoTime(&p.PausedUntil), sqlrows.IntoTime(&p.GroupPausedAt),
			sqlrows.IntoTime(&p.GroupPausedUntil))
		followers, ids = append(followers, f), append(ids, d.ID)
		return err
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	last := map[int64]time.Time{}
	err = s.Each(ctx, findLastEnds, args{"ids": slices.Compact(ids)}, func(r row) error {
		var id int64
		var slot time.Time
		err := r.Scan(&id, sqlrows.IntoTime(&slot))
		last[id] = slot
		return err
	})
	for i := range followers {
		followers[i].Last = last[followers[i].Dependent.ID]
	}
	return followers, err
}

// InsertEnds implements rowwise.Chains.
func (s *session) InsertEnds(ctx context.Context, ends []store.ScheduleEnd) error {
	rows := make([]args, len(ends))
	for i, e := range ends {
		rows[i] = args{
			"schedule": e.Schedule, "slot": sqlrows.Micros(e.Slot), "job": e.ID, "ended_at": sqlrows.Micros(e.At), "state": int16(e.State),
			"paused": e.Paused, "after": e.After, "reason": e.Reason,
		}
	}
	err := s.insertRows(ctx, sqlrows.InsertChainEnds, rows)
	return err
}

// InsertNotes implements rowwise.Slots.
func (s *session) InsertNotes(ctx context.Context, notes []rowwise.Note) error {
	rows := make([]args, len(notes))
	for i, n := range notes {
		rows[i] = args{"on_id": n.Ended.ID, "schedule": n.Schedule, "ended_at": sqlrows.Micros(n.At), "state": int16(n.State), "reason": n.Reason}
	}
	s.Noted = true
	err := s.insertRows(ctx, sqlrows.InsertScheduleReleases, rows)
	return err
}
