package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// follow makes aftermaths happen, one after the other; nil ones are nothing.
func (s *session) follow(ctx context.Context, aftermaths []*store.Aftermath, now time.Time) error {
	var ids []int64
	for _, a := range aftermaths {
		if a != nil {
			ids = append(ids, a.Schedule)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	failing := map[int64]bool{}
	err := s.each(ctx, "failing", args{"ids": jsonList(ids)}, func(r row) error {
		var id int64
		err := r.Scan(&id)
		failing[id] = true
		return err
	})
	if err != nil {
		return err
	}
	c := store.Follow(aftermaths, failing)
	if err := s.onIDs(ctx, slices.Concat(c.Begun, c.Again), args{"now": micros(now)}, "failing_begin"); err != nil {
		return err
	}
	if err := s.onIDs(ctx, c.Ended, nil, "failing_end"); err != nil {
		return err
	}
	_, err = s.insertJobs(ctx, c.Jobs, now)
	return err
}
