package hourbell_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// counted is a store that counts what nodes write of statistics, and refuses it while it is away.
type counted struct {
	store.Backend
	away  atomic.Bool
	calls atomic.Int64
}

func (c *counted) AddStats(ctx context.Context, req store.AddStatsRequest) (bool, error) {
	if c.away.Load() {
		return false, errors.New("the store is away")
	}
	c.calls.Add(1)
	return c.Backend.AddStats(ctx, req)
}

// countedNode returns a client whose jobs good and bad take half a second each.
func countedNode(t *testing.T, b store.Backend, noStats bool) (c *hourbell.Client, good, bad hourbell.Args) {
	t.Helper()
	workers := hourbell.NewWorkers()
	work := func(err error) func(context.Context) error {
		return func(context.Context) error { time.Sleep(500 * time.Millisecond); return err }
	}
	good, bad = hourbell.Func(workers, "good", work(nil)), hourbell.Func(workers, "bad", work(errors.New("no")))
	c, err := hourbell.New(b, hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler), NoStats: noStats})
	if err != nil {
		t.Fatal(err)
	}
	return c, good, bad
}

// TestStats counts the jobs of two nodes for an hour, during which the store refuses statistics for a while.
func TestStats(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		b := &counted{Backend: memory.New()}
		time.Sleep(time.Until(time.Now().Truncate(6 * time.Hour).Add(6 * time.Hour)))
		begin := time.Now()
		var nodes []*hourbell.Client
		var good, bad hourbell.Args
		for range 2 {
			var c *hourbell.Client
			c, good, bad = countedNode(t, b, false)
			nodes = append(nodes, c)
			go c.Run(context.Background())
		}
		if _, err := nodes[0].Schedules.Put(t.Context(), hourbell.Schedule{Name: "s", Rule: recur.Every(time.Minute), Job: good}); err != nil {
			t.Fatal(err)
		}
		for minute := range 60 {
			b.away.Store(minute >= 20 && minute < 25)
			if _, err := nodes[0].Enqueue(t.Context(), bad, hourbell.MaxAttempts(1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		time.Sleep(10 * time.Second) // for the writes of the last minute
		read := func(f hourbell.StatsFilter) hourbell.Stats {
			t.Helper()
			s, err := nodes[0].Stats.Read(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		whole := read(hourbell.StatsFilter{Since: begin})
		row := whole.Rows[0]
		if len(whole.Rows) != 1 || whole.Span != time.Minute ||
			row.Jobs["completed"] < 58 || row.Jobs["failed"] != 60 || row.Slots["fired"] < 58 {
			t.Errorf("whole: %+v", whole)
		}
		if p := row.RunTime.P50; row.RunTime.Count != row.Jobs["completed"]+60 || row.RunTime.Mean != 500*time.Millisecond ||
			p < 250*time.Millisecond || p > time.Second {
			t.Errorf("run times: %+v", row.RunTime)
		}
		running := row.StartDelay.Count - row.RunTime.Count // jobs that ran when the last minute was written
		if running < 0 || running > 1 || row.StartDelay.P99 > 100*time.Millisecond || !row.Sampled || row.Nodes != 2 {
			t.Errorf("start delays: %+v, sampled %v, %v nodes", row.StartDelay, row.Sampled, row.Nodes)
		}
		if minutes := read(hourbell.StatsFilter{Since: begin, Series: true}); len(minutes.Rows) < 60 {
			t.Errorf("%d minutes; those during which the store refused statistics are missing", len(minutes.Rows))
		}
		schedules := read(hourbell.StatsFilter{Since: begin, By: hourbell.StatsBySchedule})
		if len(schedules.Rows) != 1 || schedules.Rows[0].Name != "s" || schedules.Rows[0].Jobs["failed"] != 0 ||
			schedules.Rows[0].Slots["fired"] != row.Slots["fired"] {
			t.Errorf("schedules: %+v", schedules)
		}
		day := read(hourbell.StatsFilter{Since: begin.Add(-20 * time.Hour)})
		month := read(hourbell.StatsFilter{Since: begin.AddDate(0, 0, -20)})
		if day.Span != 15*time.Minute || month.Span != 6*time.Hour || day.Rows[0].Jobs["failed"] != 60 ||
			month.Rows[0].Jobs["failed"] != 60 {
			t.Errorf("a day: %+v\n20 days: %+v", day, month)
		}

		if _, err := nodes[0].Enqueue(t.Context(), bad, hourbell.MaxAttempts(1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for _, c := range nodes {
			if err := c.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if last := read(hourbell.StatsFilter{Since: begin}); last.Rows[0].Jobs["failed"] != 61 {
			t.Errorf("a node that stops does not write what it has counted: %+v", last.Rows[0])
		}
	})
}

// TestIdleNodesWriteFewStats bounds what a node writes that does nothing, and that it writes nothing with NoStats.
func TestIdleNodesWriteFewStats(t *testing.T) {
	for _, none := range []bool{false, true} {
		clienttest.Bubble(t, func(t *testing.T) {
			b := &counted{Backend: memory.New()}
			c, _, _ := countedNode(t, b, none)
			go c.Run(context.Background())
			time.Sleep(time.Hour)
			if err := c.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if b.calls.Load() > 16 || none != (b.calls.Load() == 0) {
				t.Errorf("%d writes in an hour, NoStats %v", b.calls.Load(), none)
			}
		})
	}
}

func TestStatsFilters(t *testing.T) {
	c, err := hourbell.New(memory.New(), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]hourbell.StatsFilter{
		"by":                             {By: "owner"},
		"queue":                          {Queue: "\x00"},
		"kind":                           {Kind: strings.Repeat("k", 300)},
		"in the future, or too long ago": {Since: time.Now().AddDate(0, 0, -32)},
		"use at most 31 days":            {Since: time.Now().Add(time.Hour)},
	} {
		if _, err := c.Stats.Read(t.Context(), f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", f, err, want)
		}
	}
	if s, err := c.Stats.Read(t.Context(), hourbell.StatsFilter{}); err != nil || len(s.Rows) != 0 || s.Span != time.Minute {
		t.Errorf("an empty store: %+v, %v", s, err)
	}
}
