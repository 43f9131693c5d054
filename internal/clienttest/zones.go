package clienttest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Zones is the acceptance test of time-zone data that have changed while no node ran: stored next slots that were computed with other
// data move in either direction when a node starts, no slot fires, and the node registers its data.
func Zones(t *testing.T, open Open) {
	t.Parallel() // it waits most of the time
	with(t, open, zones)
}

func zones(e *env) {
	const zone = "Europe/Prague"
	workers := hourbell.NewWorkers()
	workers.Handle(kind, func(context.Context, *hourbell.JobRow) error { e.Error("a slot fired"); return nil })
	client, ctx := e.newClient(e.backend, hourbell.Config{Workers: workers}), context.Background()
	e.must(client.Migrate(ctx))
	now, err := client.Now(ctx)
	e.must(err)
	stored := map[string]time.Duration{"earlier": -2 * time.Minute, "later": time.Hour, "right": 0} // by how much it is wrong
	right := map[string]time.Time{}
	far := now.Add(12 * time.Hour).UTC()
	for name, wrong := range stored {
		_, err := client.Schedules.Put(ctx, hourbell.Schedule{
			Name: name, Rule: recur.Cron(far.Format("4 15 * * *")).In(zone), Job: hourbell.RawArgs{Name: kind},
		})
		e.must(err)
		info, err := client.Schedules.Get(ctx, name)
		e.must(err)
		right[name] = info.NextAt
		rows, err := store.List[store.Schedule](ctx, e.backend, store.ListRequest{Names: []string{name}, Limit: 1})
		e.must(err)
		row := rows[0]
		res, err := e.backend.Fire(ctx, store.FireRequest{Firings: []store.Firing{{
			Schedule: row.ID, Revision: row.Revision, Mark: row.Mark, NextAt: row.NextAt, NewMark: row.Mark, NewNextAt: info.NextAt.Add(wrong),
		}}})
		e.must(err)
		if len(res.Lost) > 0 {
			e.Fatal("the schedule is not planned with other data")
		}
	}
	e.start(client)
	e.eventually("next slots move to where the present data have them", func() bool {
		rows, err := store.List[store.Schedule](ctx, e.backend, store.ListRequest{Limit: 10})
		e.must(err)
		for _, row := range rows {
			if !row.NextAt.Equal(right[row.Name]) {
				return false
			}
		}
		return len(rows) == len(stored)
	})
	e.eventually("the node registers its data", func() bool {
		nodes, err := store.List[store.NodeInfo](ctx, e.backend, store.ListRequest{})
		e.must(err)
		return len(nodes) == 1 && len(nodes[0].Zones) == 1 && strings.HasPrefix(nodes[0].Zones[0], zone+"=")
	})
}
