package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// follow applies follow-ups, one after the other; nil follow-ups are ignored.
func (s *session) follow(ctx context.Context, followUps []*store.FollowUp, now time.Time) error {
	var ids []int64
	for _, a := range followUps {
		if a != nil {
			ids = append(ids, a.Schedule)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	failing := map[int64]int64{}
	err := s.each(ctx, lockFailing, args{"ids": jsonList(ids)}, func(r row) error {
		var id, failures int64
		err := r.Scan(&id, &failures)
		failing[id] = failures
		return err
	})
	if err != nil {
		return err
	}
	c := store.Follow(followUps, failing)
	if err := s.fail(ctx, beginFailing, slices.Concat(c.Begun, c.Again), c.Failures, args{"now": micros(now)}); err != nil {
		return err
	}
	if err := s.fail(ctx, countFailing, c.Counted, c.Failures, args{}); err != nil {
		return err
	}
	if err := s.onIDs(ctx, c.Ended, nil, endFailing); err != nil {
		return err
	}
	_, err = s.insertJobs(ctx, c.Jobs, now)
	return err
}

// failingRow is a schedule that fails on its way to begin_failing.sql or
// count_failing.sql.
type failingRow struct {
	ID       int64 `json:"id"`
	Failures int64 `json:"failures"`
}

// fail writes how often in a row jobs of schedules failed, by a statement with the
// further parameters a.
func (s *session) fail(ctx context.Context, name statement, ids []int64, failures map[int64]int64, a args) error {
	if len(ids) == 0 {
		return nil
	}
	rows := make([]failingRow, len(ids))
	for i, id := range ids {
		rows[i] = failingRow{id, failures[id]}
	}
	a["failing"] = jsonOf(rows)
	return s.exec(ctx, name, a)
}
