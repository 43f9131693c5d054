package sqlrows

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// HasNotes implements rowwise.Schedules.
func (s *Session) HasNotes(ctx context.Context, schedules []string) (found bool, err error) {
	err = s.One(ctx, FindScheduleRelease, Args{"names": schedules}, &found)
	return found, err
}

// FindPredecessors implements rowwise.Schedules.
func (s *Session) FindPredecessors(ctx context.Context, schedules []string) (map[string][]string, error) {
	found := map[string][]string{}
	err := s.Each(ctx, FindChain, Args{"names": schedules}, func(r Row) error {
		var schedule, predecessor string
		err := r.Scan(&schedule, &predecessor)
		found[schedule] = append(found[schedule], predecessor)
		return err
	})
	return found, err
}

// SaveChain implements rowwise.Schedules.
func (s *Session) SaveChain(ctx context.Context, schedules []string, edges []rowwise.ChainEdge) error {
	if err := s.Exec(ctx, DeleteChain, Args{"names": schedules}); err != nil || len(edges) == 0 {
		return err
	}
	return s.Exec(ctx, insertChain, Args{"edges": JSON(edges)})
}

// MarkPredecessors implements rowwise.Schedules.
func (s *Session) MarkPredecessors(ctx context.Context, schedules []string) error {
	owners := make([]string, len(schedules))
	for i, name := range schedules {
		owners[i] = store.EveryOwner(name)
	}
	a := Args{"names": schedules, "owners": owners}
	marked, err := s.Count(ctx, MarkPredecessors, a)
	if err != nil || marked == 0 {
		return err
	}
	return s.Exec(ctx, MarkScheduleJobs, a)
}

// LockFollowers implements rowwise.Chains.
func (s *Session) LockFollowers(ctx context.Context, predecessors []int64) ([]rowwise.Follower, error) {
	return s.ReadFollowers(ctx, LockFollowers, predecessors)
}

// ReadFollowers returns the followers of schedules, which a statement locks. What may change until the lock is granted is read by
// a second statement.
func (s *Session) ReadFollowers(ctx context.Context, lock Statement, predecessors []int64) (followers []rowwise.Follower, err error) {
	var ids []int64
	err = s.Each(ctx, lock, Args{"ids": predecessors}, func(r Row) error {
		var f rowwise.Follower
		d, p := &f.Dependent, &f.Predecessor
		err := r.Scan(&d.ID, IntoTime(&d.Mark), IntoTime(&d.NextAt), &p.ID, &p.Name, IntoTime(&p.PausedAt), IntoTime(&p.PausedUntil),
			IntoTime(&p.GroupPausedAt), IntoTime(&p.GroupPausedUntil))
		followers, ids = append(followers, f), append(ids, d.ID)
		return err
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	last := map[int64]time.Time{}
	err = s.Each(ctx, FindLastEnds, Args{"ids": slices.Compact(ids)}, func(r Row) error {
		var id int64
		var slot time.Time
		err := r.Scan(&id, IntoTime(&slot))
		last[id] = slot
		return err
	})
	for i := range followers {
		followers[i].Last = last[followers[i].Dependent.ID]
	}
	return followers, err
}

// InsertEnds implements rowwise.Chains.
func (s *Session) InsertEnds(ctx context.Context, ends []store.ScheduleEnd) error {
	rows := make([]Args, len(ends))
	for i, e := range ends {
		rows[i] = Args{
			"schedule": e.Schedule, "slot": Micros(e.Slot), "job": e.ID, "ended_at": Micros(e.At), "state": int16(e.State),
			"paused": e.Paused, "after": e.After, "reason": e.Reason,
		}
	}
	return s.InsertRows(ctx, insertChainEnds, rows)
}

// InsertNotes implements rowwise.Slots.
func (s *Session) InsertNotes(ctx context.Context, notes []rowwise.Note) error {
	rows := make([]Args, len(notes))
	for i, n := range notes {
		rows[i] = Args{"on_id": n.Ended.ID, "schedule": n.Schedule, "ended_at": Micros(n.At), "state": int16(n.State), "reason": n.Reason}
	}
	s.Noted = true
	return s.InsertRows(ctx, InsertScheduleReleases, rows)
}

// SaveNext implements rowwise.Chains.
func (s *Session) SaveNext(ctx context.Context, schedules []rowwise.Advance) error {
	rows := make([]movedMark, len(schedules))
	for i, a := range schedules {
		rows[i] = movedMark{ID: a.Schedule, NextAt: Micros(a.NextAt)}
	}
	return s.Exec(ctx, UpdateNext, Args{"schedules": JSON(rows)})
}

// FollowedEnds implements rowwise.Slots.
func (s *Session) FollowedEnds(ctx context.Context, keys []rowwise.FollowKey) (found []rowwise.FollowKey, err error) {
	err = s.Each(ctx, FindFollowedEnds, Args{"ends": JSONList(keys)}, func(r Row) error {
		var i int
		err := r.Scan(&i)
		found = append(found, keys[i])
		return err
	})
	return found, err
}

// TakeKeys implements rowwise.Jobs.
func (s *Session) TakeKeys(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, takeKeys)
}

// MarkReleases implements rowwise.Slots.
func (s *Session) MarkReleases(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, MarkReleases)
}

// CloseEnds implements rowwise.Slots.
func (s *Session) CloseEnds(ctx context.Context, schedules []int64) error {
	return s.OnIDs(ctx, schedules, CloseChainEnds, AwaitChainEnds)
}

// EndFailing implements rowwise.FollowUps.
func (s *Session) EndFailing(ctx context.Context, schedules []int64) error {
	return s.OnIDs(ctx, schedules, EndFailing)
}
