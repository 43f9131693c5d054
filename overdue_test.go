package hourbell_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestOverdueSchedules checks which schedules are overdue, by how many slots, and why: without a node, with a node that ended in
// order or died, and with nodes that do not take the jobs.
func TestOverdueSchedules(t *testing.T) {
	now := time.Date(2027, 3, 5, 23, 0, 0, 0, time.UTC) // a Friday
	backend := memory.New(memory.WithClock(func() time.Time { return now }))
	client, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	put := func(name string, change func(*hourbell.Schedule)) {
		t.Helper()
		s := hourbell.Schedule{Name: name, Rule: recur.Every(time.Minute), Job: hourbell.RawArgs{Name: "mail"}}
		change(&s)
		if _, err := client.Schedules.Put(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	put("tick", func(*hourbell.Schedule) {})
	put("paused", func(s *hourbell.Schedule) { s.Paused = true })
	put("later", func(s *hourbell.Schedule) { s.Rule = recur.Every(48 * time.Hour) })
	put("weekdays", func(s *hourbell.Schedule) {
		s.Rule = recur.Every(time.Hour)
		s.Exclude = []hourbell.Calendar{{Name: "weekend", CalendarSpec: recur.CalendarSpec{Weekdays: []string{"sat", "sun"}}}}
	})
	register := func(n store.RegisterRequest) int64 {
		t.Helper()
		n.Name, n.Lease = "n", 15*time.Second
		res, err := backend.Register(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		return res.Node
	}
	expect := func(what string, want ...string) {
		t.Helper()
		found, err := client.Schedules.ListOverdue(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range found {
			got = append(got, fmt.Sprintf("%s %d since %s: %s", s.Name, s.Overdue.Slots, s.Overdue.Since.Format("15:04"), s.Waits))
		}
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	expect("nothing has passed")
	now = now.Add(time.Minute + 4*time.Second)
	expect("a slot that nodes may still fire")
	now = now.Add(time.Second)
	expect("a slot has passed", "tick 1 since 23:01: no node is alive")
	now = now.Add(4 * time.Hour) // it is Saturday: the slot at 00:00 and later slots are excluded
	expect("many slots", "tick 241 since 23:01: no node is alive")

	node := register(store.RegisterRequest{Queues: []string{"other"}, Kinds: []string{"mail"}})
	expect("a queue that no node serves", `tick 241 since 23:01: no living node serves queue "default"`)
	if _, err := backend.Leave(ctx, store.LeaveRequest{Node: node}); err != nil {
		t.Fatal(err)
	}
	expect("the node left in order", "tick 241 since 23:01: no node is alive")
	node = register(store.RegisterRequest{Queues: []string{"default"}, Kinds: []string{"copy"}})
	expect("a kind that no node has", `tick 241 since 23:01: no living node of queue "default" has code for kind "mail"`)
	if _, err := backend.Leave(ctx, store.LeaveRequest{Node: node}); err != nil {
		t.Fatal(err)
	}
	register(store.RegisterRequest{Queues: []string{"default"}, Kinds: []string{"mail" + store.Restricted}})
	expect("a kind that is restricted", "tick 241 since 23:01: no living node allows stored jobs of kind \"mail\"")
	now = now.Add(16 * time.Second)
	expect("the node died, and no other node declared it dead", "tick 241 since 23:01: no node is alive")
	register(store.RegisterRequest{Queues: []string{"default"}, Kinds: []string{"mail"}})
	expect("a node that could fire them", "tick 241 since 23:01: ")

	runner, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	go runner.Run(ctx)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if found, err := client.Schedules.ListOverdue(ctx, 0); err == nil && len(found) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the schedules stay overdue although a node lives")
		}
	}
	if err := runner.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}
