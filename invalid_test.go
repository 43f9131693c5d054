package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store/memory"
)

// TestOneErrorForInvalidInput gives calls of each kind wrong input, and finds the same type with all of the mistakes.
func TestOneErrorForInvalidInput(t *testing.T) {
	client := newCluster(t).client(nil)
	ctx := t.Context()
	schedule := hourbell.Schedule{Name: "s", Rule: recur.Cron("61 * * * *"), Job: Note{}, Priority: 11}
	put := func(_ any, err error) error { return err }
	for name, one := range map[string]struct {
		err  error
		want string
	}{
		"enqueue":          {put(client.Enqueue(ctx, Note{}, hourbell.Priority(11), hourbell.MaxAttempts(0))), "priority max_attempts"},
		"one mistake":      {put(client.Enqueue(ctx, Note{}, hourbell.Priority(11))), "priority"},
		"no args":          {put(client.Enqueue(ctx, nil)), "args"},
		"enqueue many":     {put(client.EnqueueMany(ctx, []hourbell.Request{{Args: Note{}, Options: []hourbell.Option{hourbell.Queue("")}}})), "queue"},
		"a graph":          {put(client.EnqueueGraph(ctx, hourbell.Graph{Jobs: map[string]hourbell.GraphJob{"a": {Args: Note{}, After: map[string]hourbell.GraphEdge{"b": {}}}}})), "after"},
		"put":              {put(client.Schedules.Put(ctx, schedule)), "cron priority"},
		"put of a rule":    {put(client.Schedules.Put(ctx, hourbell.Schedule{Name: "s", Rule: recur.Cron("x"), Job: Note{}})), "cron"},
		"sync":             {put(client.Schedules.Sync(ctx, "me", 0, []hourbell.Schedule{schedule, {Name: "t", Rule: recur.Every(time.Hour)}})), "cron priority job"},
		"validate":         {schedule.Validate(), "cron priority"},
		"get":              {put(client.Schedules.Get(ctx, "")), "name"},
		"calendar":         {put(client.Calendars.Put(ctx, hourbell.Calendar{Name: "c", CalendarSpec: recur.CalendarSpec{Dates: []string{"x"}}}, 0)), "dates"},
		"limit":            {put(client.Limits.Put(ctx, hourbell.Limit{Name: "l"}, 0)), "queue concurrency"},
		"list":             {put(client.Jobs.List(ctx, hourbell.JobFilter{Queue: "\x00"})), "queue"},
		"cancel":           {put(client.Jobs.Cancel(ctx, hourbell.JobFilter{})), "filter"},
		"a configuration":  {put(hourbell.New(memory.New(), hourbell.Config{Name: "\x00", Lease: time.Nanosecond})), "node name lease heartbeat"},
		"kept by a reader": {fmt.Errorf("sign up: %w", put(client.Enqueue(ctx, Note{}, hourbell.At(time.Time{})))), "at"},
	} {
		var invalid *hourbell.InvalidError
		if !errors.As(one.err, &invalid) {
			t.Errorf("%s: %v is no InvalidError", name, one.err)
			continue
		}
		var fields []string
		for _, f := range invalid.Fields {
			fields = append(fields, f.Field)
			if f.Problem == "" || f.Remedy == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if got := strings.Join(fields, " "); got != one.want {
			t.Errorf("%s: %s, want %s: %v", name, got, one.want, one.err)
		}
		var field *check.FieldError
		if !errors.As(one.err, &field) && !strings.Contains(one.want, "cron") && !strings.Contains(one.want, "dates") {
			t.Errorf("%s: no FieldError", name)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for name, err := range map[string]error{
		"not found":            put(client.Jobs.Get(ctx, 7)),
		"the end of a context": put(client.Enqueue(ended, Note{})),
		"mixed":                check.Join(put(client.Schedules.Get(ctx, "s"))),
	} {
		var invalid *hourbell.InvalidError
		if err == nil || errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
