package rowwise

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Follow applies follow-ups, one after the other; nil follow-ups are ignored.
func Follow(ctx context.Context, tx Tx, followUps []*store.FollowUp, now time.Time) error {
	var ids []int64
	for _, a := range followUps {
		if a != nil {
			ids = append(ids, a.Schedule)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	failing, err := tx.LockFailing(ctx, ids)
	if err != nil {
		return err
	}
	c := store.Follow(followUps, failing)
	if begun := failingOf(slices.Concat(c.Begun, c.Again), c.Failures); len(begun) > 0 {
		if err := tx.BeginFailing(ctx, begun, now); err != nil {
			return err
		}
	}
	if counted := failingOf(c.Counted, c.Failures); len(counted) > 0 {
		if err := tx.CountFailing(ctx, counted); err != nil {
			return err
		}
	}
	if len(c.Ended) > 0 {
		if err := tx.EndFailing(ctx, c.Ended); err != nil {
			return err
		}
	}
	var events store.EventRows
	events.AddRecoveries(c.Recovered)
	if err := insertEvents(ctx, tx, events, now); err != nil || len(c.Jobs) == 0 {
		return err
	}
	_, err = tx.InsertJobs(ctx, c.Jobs, now)
	return err
}

func failingOf(ids []int64, failures map[int64]int64) []Failing {
	rows := make([]Failing, len(ids))
	for i, id := range ids {
		rows[i] = Failing{id, failures[id]}
	}
	return rows
}
