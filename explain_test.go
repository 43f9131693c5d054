package hourbell_test

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store/memory"
)

// lived runs a schedule on real nodes, with a clock that jumps from one event
// to the next, and returns its slots as Explain would return them.
func lived(t *testing.T, s hourbell.Schedule, req hourbell.ExplainRequest) (told []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(req.From) - time.Microsecond)
		backend := memory.New()
		workers := hourbell.NewWorkers()
		workers.Handle("k", func(ctx context.Context, job *hourbell.JobRow) error {
			select {
			case <-time.After(req.RunTime):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		client := func() *hourbell.Client {
			c, err := hourbell.New(backend, hourbell.Config{
				Workers: workers, Logger: slog.New(slog.DiscardHandler), Drain: -1,
				Keep: hourbell.Keep{Completed: -1}, Lease: time.Hour, PollIdle: time.Minute, // long intervals, because the test simulates days
			})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		if _, err := client().Schedules.Put(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for up := req.From; up.Before(req.To); {
			down, back := req.To, req.To
			for _, span := range req.Down {
				if !span.From.Before(up) && span.From.Before(down) {
					down, back = span.From, span.To
				}
			}
			time.Sleep(time.Until(up))
			ctx, stop := context.WithDeadline(t.Context(), down.Add(-time.Microsecond))
			if err := client().Run(ctx); err != nil {
				t.Error(err)
			}
			stop()
			up = back
		}
		told = toldBy(t, client(), req.To)
	})
	return told
}

// toldBy reads the outcomes of all slots before an instant, oldest first.
func toldBy(t *testing.T, c *hourbell.Client, to time.Time) (told []string) {
	slots, err := c.Slots.List(t.Context(), hourbell.SlotFilter{To: to, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(slots)
	for _, slot := range slots {
		line := fmt.Sprint(slot.Slot.Format(time.RFC3339), " ×", slot.Count, " ", slot.Outcome, " ", slot.Reason)
		if slot.Job != 0 {
			job, err := c.Jobs.Get(t.Context(), slot.Job)
			if err != nil {
				t.Fatal(err)
			}
			line += fmt.Sprint(" job ", slot.Job, " started ", job.StartedAt.Format(time.RFC3339))
		}
		told = append(told, line)
	}
	return told
}

func explainedLines(e hourbell.Explanation) (lines []string) {
	for _, slot := range e.Slots {
		line := fmt.Sprint(slot.Slot.UTC().Format(time.RFC3339), " ×", slot.Count, " ", slot.Outcome, " ")
		if slot.Outcome == "fired" {
			line += fmt.Sprint(" job ", slot.Job, " started ", slot.Started.UTC().Format(time.RFC3339))
		} else {
			line += slot.Reason
		}
		lines = append(lines, line)
	}
	return lines
}

// TestExplainIsWhatHappens compares Explain with real nodes: each slot, with
// its reason.
func TestExplainIsWhatHappens(t *testing.T) {
	at := func(text string) time.Time {
		instant, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return instant
	}
	nightly := recur.Spec{Cron: "30 2 * * *", Zone: "America/New_York"}
	skipping, both := nightly, recur.Spec{Cron: "30 1 * * *", Zone: "America/New_York", Fold: recur.FoldBoth}
	skipping.Gap = recur.GapSkip
	spring := hourbell.ExplainRequest{
		From: at("2000-04-02T00:00:00-05:00"), To: at("2000-04-03T03:00:00-04:00"), RunTime: time.Minute,
		Down: []hourbell.Span{{From: at("2000-04-02T05:00:00-04:00"), To: at("2000-04-03T01:00:00-04:00")}}, // no node need live where no slot is
	}
	autumn := hourbell.ExplainRequest{
		From: at("2000-10-29T00:00:00-04:00"), To: at("2000-10-30T03:00:00-05:00"), RunTime: time.Minute,
		Down: []hourbell.Span{{From: at("2000-10-29T05:00:00-05:00"), To: at("2000-10-30T01:00:00-05:00")}},
	}
	outage := hourbell.ExplainRequest{
		From: at("2000-03-04T02:00:00Z"), To: at("2000-03-04T10:00:00Z"), RunTime: 3 * time.Minute,
		Down: []hourbell.Span{{From: at("2000-03-04T04:05:00Z"), To: at("2000-03-04T07:30:00Z")}},
	}
	brink := func(before time.Duration) hourbell.ExplainRequest {
		req := outage
		req.To = at("2000-03-04T08:30:00Z")
		req.Down = []hourbell.Span{{From: at("2000-03-04T04:00:00Z").Add(-before), To: at("2000-03-04T07:30:00Z")}}
		return req
	}
	brinkBusy := brink(500 * time.Millisecond)
	brinkBusy.RunTime = 150 * time.Minute
	busy := hourbell.ExplainRequest{From: at("2000-03-04T02:00:00Z"), To: at("2000-03-04T08:00:00Z"), RunTime: 97 * time.Minute}
	weekend := []hourbell.Calendar{{Name: "weekend", CalendarSpec: recur.CalendarSpec{Weekdays: []string{"sat", "sun"}}}}
	hourly := recur.Spec{Every: "1 hour", Start: "2000-03-01T01:00:00Z"}
	for _, test := range []struct {
		name string
		s    hourbell.Schedule
		req  hourbell.ExplainRequest
		want string // outcomes, for a first look
	}{
		{"spring forward", hourbell.Schedule{Rule: nightly}, spring, "fired fired"},
		{"spring forward, gap skip", hourbell.Schedule{Rule: skipping}, spring, "skipped fired"},
		{"fall back", hourbell.Schedule{Rule: nightly}, autumn, "fired fired"},
		{"fall back, fold both", hourbell.Schedule{Rule: both}, autumn, "fired fired fired"},
		{"an outage", hourbell.Schedule{Rule: hourly}, outage, "fired fired fired missed missed missed fired fired"},
		{"an outage, made up once", hourbell.Schedule{Rule: hourly, Misfire: hourbell.MisfireOnce}, outage, "fired fired fired missed missed fired fired fired"},
		{"an outage, all made up", hourbell.Schedule{Rule: hourly, Misfire: hourbell.MisfireAll, Overlap: hourbell.OverlapQueue}, outage, "fired fired fired fired fired fired fired fired"},
		{"an outage, all made up side by side", hourbell.Schedule{Rule: hourly, Misfire: hourbell.MisfireAll, Overlap: hourbell.OverlapAllow}, outage, "fired fired fired fired fired fired fired fired"},
		{"an outage, two within two hours", hourbell.Schedule{Rule: hourly, Misfire: hourbell.MisfireAll, MisfireCap: 2, Window: 2 * time.Hour}, outage, "fired fired fired missed fired fired fired fired"},
		{"long jobs, skip", hourbell.Schedule{Rule: hourly}, busy, "fired skipped fired skipped fired skipped"},
		{"long jobs, queue", hourbell.Schedule{Rule: hourly, Overlap: hourbell.OverlapQueue}, busy, "fired fired fired skipped fired fired"},
		{"long jobs, replace", hourbell.Schedule{Rule: hourly, Overlap: hourbell.OverlapReplace}, busy, "fired fired fired fired fired fired"},
		{"long jobs, allow", hourbell.Schedule{Rule: hourly, Overlap: hourbell.OverlapAllow}, busy, "fired fired fired fired fired fired"},
		{"weekends off", hourbell.Schedule{Rule: nightly, Exclude: weekend}, spring, "skipped fired"},
		{"three times", hourbell.Schedule{Rule: hourly, Count: 3}, busy, "fired skipped fired skipped fired"},
		{"jitter", hourbell.Schedule{Rule: hourly, Jitter: 30 * time.Minute, Overlap: hourbell.OverlapAllow}, busy, "fired fired fired fired fired fired"},
		{"an outage that begins just before a slot", hourbell.Schedule{Rule: hourly}, brink(500 * time.Millisecond), "fired fired fired missed missed missed fired"},
		{"an outage that begins a second before a slot", hourbell.Schedule{Rule: hourly}, brink(time.Second), "fired fired missed missed missed missed fired"},
		{"an outage that begins just before a slot, with a job", hourbell.Schedule{Rule: hourly}, brinkBusy, "fired skipped missed missed missed missed skipped"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.s.Name, test.s.Job = "s", hourbell.RawArgs{Name: "k"}
			explained, err := test.s.Explain(test.req)
			if err != nil {
				t.Fatal(err)
			}
			want, got := lived(t, test.s, test.req), explainedLines(explained)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("explained\n\t%s\nlived\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
			}
			var outcomes []string
			for _, slot := range explained.Slots {
				outcomes = append(outcomes, slot.Outcome)
			}
			if text := strings.Join(outcomes, " "); text != test.want {
				t.Errorf("%s, want %s\n\t%s", text, test.want, strings.Join(got, "\n\t"))
			}
		})
	}
}
