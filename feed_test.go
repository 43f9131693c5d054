package hourbell_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// flaky is a store whose feed cannot be read at times.
type flaky struct {
	store.Backend
	fail func() bool
}

func (f flaky) ListEvents(ctx context.Context, req store.ListEventsRequest) (store.ListEventsResult, error) {
	if f.fail() {
		return store.ListEventsResult{}, errors.New("the connection is lost")
	}
	return f.Backend.ListEvents(ctx, req)
}

type report struct{}

func (report) Kind() string { return "report" }

// TestFeed checks that a client reads the events of another client, with the details of their
// jobs, and that a reader that was away goes on after its cursor.
func TestFeed(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		backend := memory.New()
		reader, err := hourbell.New(backend, hourbell.Config{})
		must(t, err)
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(context.Context, *hourbell.Job[report]) error { return errors.New("no paper") })
		node, err := hourbell.New(backend, hourbell.Config{Workers: workers, Name: "printer"})
		must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- node.Run(ctx) }()
		defer func() { stop(); <-done }()

		before, err := reader.Events.List(ctx, hourbell.EventFilter{})
		must(t, err)
		job, err := reader.Enqueue(ctx, report{}, hourbell.MaxAttempts(1), hourbell.Group("monthly"))
		must(t, err)
		var first hourbell.FeedEvent
		for e, err := range reader.Events.Follow(ctx, before.Next) {
			must(t, err)
			first = e
			break
		}
		if first.Event != "failed" || first.Job != job.ID || first.Kind != "report" || first.Group != "monthly" || first.Node != node.Name() || first.Attempt != 1 || first.Reason != "no paper" || first.At.IsZero() {
			t.Errorf("the event of another client: %+v", first)
		}
		rest, err := reader.Events.List(ctx, hourbell.EventFilter{Since: first.Cursor})
		if err != nil || len(rest.Events) != 0 || rest.Next != first.Cursor {
			t.Errorf("a reader goes on after the cursor: %+v, %v", rest, err)
		}
		_, err = reader.Enqueue(ctx, report{}, hourbell.MaxAttempts(1))
		must(t, err)
		for _, err := range reader.Events.Follow(ctx, first.Cursor) {
			must(t, err)
			break
		}
		_, err = backend.Put(ctx, store.PutRequest{Feed: &store.PutFeed{Keep: time.Microsecond}})
		must(t, err)
		time.Sleep(time.Millisecond)
		_, err = backend.Prune(ctx, store.PruneRequest{Limit: 100})
		must(t, err)
		second, err := reader.Enqueue(ctx, report{}, hourbell.MaxAttempts(1))
		must(t, err)
		var seen []hourbell.FeedEvent
		for e, err := range reader.Events.Follow(ctx, first.Cursor) {
			must(t, err)
			if seen = append(seen, e); e.Job == second.ID {
				break
			}
		}
		if len(seen) != 2 || seen[0].Event != hourbell.FeedGap || !strings.Contains(seen[0].Reason, "missing") {
			t.Errorf("a reader that was away for too long is warned: %+v", seen)
		}
		rest, err = reader.Events.List(ctx, hourbell.EventFilter{Since: seen[0].Cursor})
		if err != nil || len(rest.Events) == 0 || rest.Events[0] != seen[1] {
			t.Errorf("a reader that continues after the warning is not warned again: %+v, %v", rest, err)
		}
	})
}

// TestFollowSurvivesTheStore checks that a reader goes on after errors, and misses nothing.
func TestFollowSurvivesTheStore(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		backend := memory.New()
		calls := 0
		client, err := hourbell.New(flaky{backend, func() bool { calls++; return calls%3 != 0 }}, hourbell.Config{})
		must(t, err)
		ctx := t.Context()
		errs, want := 0, int64(0)
		for e, err := range client.Events.Follow(ctx, "0-0-0") {
			if err != nil {
				errs++
				if errs == 1 {
					job, err := client.Enqueue(ctx, hourbell.RawArgs{Name: "x"})
					must(t, err)
					_, err = client.Jobs.Cancel(ctx, hourbell.JobFilter{IDs: []int64{job.ID}})
					must(t, err)
					want = job.ID
				}
				continue
			}
			if e.Event != "cancelled" || e.Job != want || errs != 2 {
				t.Errorf("after %d errors: %+v", errs, e)
			}
			break
		}
	})
}

// TestFeedRefuses checks the errors for bad input.
func TestFeedRefuses(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	must(t, err)
	for _, cursor := range []string{"x", "1-2", "1-2-3-4", "-1-2-3", "1-2-+3", "01-2-3", "99999999999999999999-1-1"} {
		var field *check.FieldError
		if _, err := client.Events.List(t.Context(), hourbell.EventFilter{Since: cursor}); !errors.As(err, &field) || field.Field != "cursor" {
			t.Errorf("cursor %q: %v", cursor, err)
		}
		for _, err := range client.Events.Follow(t.Context(), cursor) {
			if !errors.As(err, &field) {
				t.Errorf("cursor %q: %v", cursor, err)
			}
		}
	}
	for _, d := range []time.Duration{-time.Hour, time.Second, 200 * 365 * 24 * time.Hour} {
		if err := client.Events.Keep(t.Context(), d); err == nil || !strings.Contains(err.Error(), "0 to store no events") {
			t.Errorf("keep %v: %v", d, err)
		}
	}
	must(t, client.Events.Keep(t.Context(), 0))
	must(t, client.Events.Keep(t.Context(), time.Hour))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
