package sqlrows

import (
	"context"

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
	return s.Exec(ctx, InsertChain, Args{"edges": JSON(edges)})
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
	return s.OnIDs(ctx, ids, TakeKeys)
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
