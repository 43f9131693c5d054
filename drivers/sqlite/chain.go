package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// DueEnds reads ends of predecessors; see store.Schedules.
func (b *Backend) DueEnds(ctx context.Context, req store.DueEndsRequest) (ends []store.ScheduleEnd, err error) {
	err = b.readIn(ctx, "read ends of jobs", req.Tx, func(s *session) error {
		return s.each(ctx, findDueEnds, args{"ids": jsonList(req.Schedules), "limit": req.Limit}, func(r row) error {
			var e store.ScheduleEnd
			err := r.Scan(&e.Schedule, into(&e.Slot), &e.After, &e.ID, &e.State, into(&e.At), &e.Reason, &e.Paused)
			ends = append(ends, e)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return ends, nil
}

// HasNotes implements rowwise.Schedules.
func (s *session) HasNotes(ctx context.Context, schedules []string) (found bool, err error) {
	err = s.one(ctx, findScheduleRelease, args{"names": jsonList(schedules)}, &found)
	return found, err
}

// FindPredecessors implements rowwise.Schedules.
func (s *session) FindPredecessors(ctx context.Context, schedules []string) (map[string][]string, error) {
	found := map[string][]string{}
	err := s.each(ctx, findChain, args{"names": jsonList(schedules)}, func(r row) error {
		var schedule, predecessor string
		err := r.Scan(&schedule, &predecessor)
		found[schedule] = append(found[schedule], predecessor)
		return err
	})
	return found, err
}

// SaveChain implements rowwise.Schedules.
func (s *session) SaveChain(ctx context.Context, schedules []string, edges []rowwise.ChainEdge) error {
	if err := s.exec(ctx, deleteChain, args{"names": jsonList(schedules)}); err != nil || len(edges) == 0 {
		return err
	}
	return s.exec(ctx, insertChain, args{"edges": jsonOf(edges)})
}

// MarkPredecessors implements rowwise.Schedules.
func (s *session) MarkPredecessors(ctx context.Context, schedules []string) error {
	a := args{"names": jsonList(schedules)}
	marked, err := s.count(ctx, markPredecessors, a)
	if err != nil || marked == 0 {
		return err
	}
	return s.exec(ctx, markScheduleJobs, a)
}

// MarkReleases implements rowwise.Slots.
func (s *session) MarkReleases(ctx context.Context, ids []int64) error {
	return s.onIDs(ctx, ids, nil, markReleases)
}

// LockFollowers implements rowwise.Chains.
func (s *session) LockFollowers(ctx context.Context, predecessors []int64) (followers []rowwise.Follower, err error) {
	err = s.each(ctx, lockFollowers, args{"ids": jsonList(predecessors)}, func(r row) error {
		var f rowwise.Follower
		d, p := &f.Dependent, &f.Predecessor
		err := r.Scan(&d.ID, into(&d.Mark), into(&d.NextAt), into(&f.Last), &p.ID, &p.Name, into(&p.PausedAt), into(&p.PausedUntil), into(&p.GroupPausedAt), into(&p.GroupPausedUntil))
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
		rows[i] = chainEnd{e.Schedule, micros(e.Slot), e.ID, micros(e.At), e.State, e.Paused, e.After, e.Reason}
	}
	return s.exec(ctx, insertChainEnds, args{"ends": jsonOf(rows)})
}

// SaveNext implements rowwise.Chains.
func (s *session) SaveNext(ctx context.Context, schedules []rowwise.Advance) error {
	rows := make([]movedMark, len(schedules))
	for i, a := range schedules {
		rows[i] = movedMark{ID: a.Schedule, NextAt: micros(a.NextAt)}
	}
	return s.exec(ctx, updateNext, args{"schedules": jsonOf(rows)})
}

// FollowedEnds implements rowwise.Slots.
func (s *session) FollowedEnds(ctx context.Context, keys []rowwise.FollowKey) (found []rowwise.FollowKey, err error) {
	err = s.each(ctx, findFollowedEnds, args{"ends": jsonList(keys)}, func(r row) error {
		var i int
		err := r.Scan(&i)
		found = append(found, keys[i])
		return err
	})
	return found, err
}

// CloseEnds implements rowwise.Slots.
func (s *session) CloseEnds(ctx context.Context, schedules []int64) error {
	return s.onIDs(ctx, schedules, nil, closeChainEnds, awaitChainEnds)
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
		rows[i] = scheduleNote{n.Ended.ID, n.Schedule, micros(n.At), n.State, n.Reason}
	}
	s.noted = true
	return s.exec(ctx, insertScheduleReleases, args{"notes": jsonOf(rows)})
}
