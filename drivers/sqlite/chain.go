package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// MarkPredecessors implements rowwise.Schedules.
func (s *session) MarkPredecessors(ctx context.Context, schedules []string) error {
	a := args{"names": sqlrows.JSONList(schedules)}
	marked, err := s.Count(ctx, sqlrows.MarkPredecessors, a)
	if err != nil || marked == 0 {
		return err
	}
	return s.Exec(ctx, sqlrows.MarkScheduleJobs, a)
}

// LockFollowers implements rowwise.Chains.
func (s *session) LockFollowers(ctx context.Context, predecessors []int64) (followers []rowwise.Follower, err error) {
	err = s.Each(ctx, lockFollowers, args{"ids": sqlrows.JSONList(predecessors)}, func(r row) error {
		var f rowwise.Follower
		d, p := &f.Dependent, &f.Predecessor
		err := r.Scan(&d.ID, sqlrows.IntoTime(&d.Mark), sqlrows.IntoTime(&d.NextAt), sqlrows.IntoTime(&f.Last), &p.ID,
			&p.Name, sqlrows.IntoTime(&p.PausedAt), sqlrows.IntoTime(&p.PausedUntil), sqlrows.IntoTime(&p.GroupPausedAt),
			sqlrows.IntoTime(&p.GroupPausedUntil))
		followers = append(followers, f)
		return err
	})
	return followers, err
}

// chainEnd is an end on its way to insert_chain_ends.sql.
type chainEnd struct {
	Schedule int64       `json:"schedule"`
	Slot     *int64      `json:"slot"`
	Job      int64       `json:"job"`
	At       *int64      `json:"at"`
	State    store.State `json:"state"`
	Paused   bool        `json:"paused"`
	After    string      `json:"after"`
	Reason   string      `json:"reason"`
}

// InsertEnds implements rowwise.Chains.
func (s *session) InsertEnds(ctx context.Context, ends []store.ScheduleEnd) error {
	rows := make([]chainEnd, len(ends))
	for i, e := range ends {
		rows[i] = chainEnd{e.Schedule, sqlrows.Micros(e.Slot), e.ID, sqlrows.Micros(e.At), e.State, e.Paused, e.After, e.Reason}
	}
	return s.Exec(ctx, sqlrows.InsertChainEnds, args{"ends": sqlrows.JSON(rows)})
}

// scheduleNote is a note on its way to insert_schedule_releases.sql.
type scheduleNote struct {
	On       int64       `json:"on_id"`
	Schedule int64       `json:"schedule"`
	At       *int64      `json:"at"`
	State    store.State `json:"state"`
	Reason   string      `json:"reason"`
}

// InsertNotes implements rowwise.Slots.
func (s *session) InsertNotes(ctx context.Context, notes []rowwise.Note) error {
	rows := make([]scheduleNote, len(notes))
	for i, n := range notes {
		rows[i] = scheduleNote{n.Ended.ID, n.Schedule, sqlrows.Micros(n.At), n.State, n.Reason}
	}
	s.Noted = true
	return s.Exec(ctx, sqlrows.InsertScheduleReleases, args{"notes": sqlrows.JSON(rows)})
}
