package clienttest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Ahead is the acceptance test of the remedy for a store whose clock was ahead for a while: schedules that fired then stand still,
// ResetAhead finds and resets these schedules and no others, and they fire again.
func Ahead(t *testing.T, open Open) {
	t.Parallel() // it waits most of the time
	with(t, open, ahead)
}

func ahead(e *env) {
	var ran atomic.Int64
	workers := hourbell.NewWorkers()
	workers.Handle(kind, func(context.Context, *hourbell.JobRow) error { ran.Add(1); return nil })
	client, ctx := e.newClient(e.backend, hourbell.Config{Workers: workers}), context.Background()
	e.must(client.Migrate(ctx))
	for _, name := range []string{"a", "b", "right"} {
		_, err := client.Schedules.Put(ctx, hourbell.Schedule{Name: name, Rule: recur.Every(200 * time.Millisecond), Job: hourbell.RawArgs{Name: kind}})
		e.must(err)
	}
	now, err := client.Now(ctx)
	e.must(err)
	wrong := now.Add(time.Hour)
	rows, err := store.List[store.Schedule](ctx, e.backend, store.ListRequest{Names: []string{"a", "b"}, Limit: 10})
	e.must(err)
	for _, row := range rows {
		res, err := e.backend.Fire(ctx, store.FireRequest{Now: wrong, Firings: []store.Firing{{
			Schedule: row.ID, Revision: row.Revision, Mark: row.Mark, NextAt: row.NextAt, NewMark: wrong, NewNextAt: wrong.Add(200 * time.Millisecond),
		}}})
		e.must(err)
		if len(res.Lost) > 0 {
			e.Fatal("the schedule is not accounted for by the wrong clock")
		}
	}
	found := func(what string, want string, reset []hourbell.ScheduleInfo, err error) {
		e.Helper()
		e.must(err)
		names := ""
		for _, s := range reset {
			names += s.Name
		}
		if names != want {
			e.Errorf("%s: %q, want %q", what, names, want)
		}
	}
	for range 2 {
		reset, err := client.Schedules.ResetAhead(ctx, hourbell.DryRun())
		found("a dry run", "ab", reset, err)
	}
	reset, err := client.Schedules.ResetAhead(ctx)
	found("a reset", "ab", reset, err)
	reset, err = client.Schedules.ResetAhead(ctx)
	found("a second reset", "", reset, err)
	e.start(client)
	e.eventually("the schedules fire again", func() bool {
		for _, name := range []string{"a", "b", "right"} {
			slots, err := client.Slots.List(ctx, hourbell.SlotFilter{Schedule: name})
			e.must(err)
			if len(slots) < 3 || slots[0].Slot.After(wrong) {
				return false
			}
		}
		return ran.Load() > 5
	})
}
