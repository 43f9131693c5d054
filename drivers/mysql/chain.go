package mysql

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// DueEnds reads ends of predecessors; see store.Schedules.
func (b *Backend) DueEnds(ctx context.Context, req store.DueEndsRequest) (ends []store.ScheduleEnd, err error) {
	err = b.readIn(ctx, "read ends of jobs", req.Tx, func(s *session) error {
		ends = nil
		return s.each(ctx, findDueEnds, args{"ids": req.Schedules, "limit": req.Limit}, func(r row) error {
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
	err = s.one(ctx, findScheduleRelease, args{"names": schedules}, &found)
	return found, err
}

// FindPredecessors implements rowwise.Schedules.
func (s *session) FindPredecessors(ctx context.Context, schedules []string) (map[string][]string, error) {
	found := map[string][]string{}
	err := s.each(ctx, findChain, args{"names": schedules}, func(r row) error {
		var schedule, predecessor string
		err := r.Scan(&schedule, &predecessor)
		found[schedule] = append(found[schedule], predecessor)
		return err
	})
	return found, err
}

// SaveChain implements rowwise.Schedules.
func (s *session) SaveChain(ctx context.Context, schedules []string, edges []rowwise.ChainEdge) error {
	if err := s.exec(ctx, deleteChain, args{"names": schedules}); err != nil || len(edges) == 0 {
		return err
	}
	return s.exec(ctx, insertChain, args{"edges": jsonOf(edges)})
}

// MarkPredecessors implements rowwise.Schedules.
func (s *session) MarkPredecessors(ctx context.Context, schedules []string) error {
	owners := make([]string, len(schedules))
	for i, name := range schedules {
		owners[i] = store.EveryOwner(name)
	}
	a := args{"names": schedules, "owners": owners}
	marked, err := s.count(ctx, markPredecessors, a)
	if err != nil || marked == 0 {
		return err
	}
	return s.exec(ctx, markScheduleJobs, a)
}

// MarkReleases implements rowwise.Slots.
func (s *session) MarkReleases(ctx context.Context, ids []int64) error {
	return s.onIDs(ctx, ids, markReleases)
}

// LockFollowers implements rowwise.Chains. What may change until the lock is granted is read
// by a second statement.
func (s *session) LockFollowers(ctx context.Context, predecessors []int64) ([]rowwise.Follower, error) {
	return s.lockFollowers(ctx, lockFollowers, predecessors)
}

func (s *session) lockFollowers(ctx context.Context, lock statement, predecessors []int64) (followers []rowwise.Follower, err error) {
	var ids []int64
	err = s.each(ctx, lock, args{"ids": predecessors}, func(r row) error {
		var f rowwise.Follower
		d, p := &f.Dependent, &f.Predecessor
		err := r.Scan(&d.ID, into(&d.Mark), into(&d.NextAt), &p.ID, &p.Name, into(&p.PausedAt), into(&p.PausedUntil), into(&p.GroupPausedAt), into(&p.GroupPausedUntil))
		followers, ids = append(followers, f), append(ids, d.ID)
		return err
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	last := map[int64]time.Time{}
	err = s.each(ctx, findLastEnds, args{"ids": slices.Compact(ids)}, func(r row) error {
		var id int64
		var slot time.Time
		err := r.Scan(&id, into(&slot))
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
			"schedule": e.Schedule, "slot": micros(e.Slot), "job": e.ID, "ended_at": micros(e.At), "state": int16(e.State),
			"paused": e.Paused, "after": e.After, "reason": e.Reason,
		}
	}
	_, err := s.insertRows(ctx, insertChainEnds, rows)
	return err
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
	return s.onIDs(ctx, schedules, closeChainEnds, awaitChainEnds)
}

// InsertNotes implements rowwise.Slots.
func (s *session) InsertNotes(ctx context.Context, notes []rowwise.Note) error {
	rows := make([]args, len(notes))
	for i, n := range notes {
		rows[i] = args{"on_id": n.Ended.ID, "schedule": n.Schedule, "ended_at": micros(n.At), "state": int16(n.State), "reason": n.Reason}
	}
	s.noted = true
	_, err := s.insertRows(ctx, insertScheduleReleases, rows)
	return err
}
