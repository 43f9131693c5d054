package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Handlers tests handlers, and hooks of starts and of slots that are not started, while two nodes
// run.
func Handlers(t *testing.T, open Open) {
	t.Parallel() // it waits most of the time
	t.Run("handlers", func(t *testing.T) { with(t, open, func(e *env) { newHandled(e).handlers() }) })
	t.Run("every attempt begins after its start was recorded", func(t *testing.T) {
		with(t, open, func(e *env) { newHandled(e).starts() })
	})
	t.Run("hooks", func(t *testing.T) { with(t, open, func(e *env) { newHandled(e).hooks() }) })
}

// handled is a store with two running nodes, whose jobs fail if their args say so.
type handled struct {
	*env
	client *hourbell.Client

	mu   sync.Mutex
	runs map[int64]int // attempts that have run, by job
}

type handledArgs struct {
	Fails int `json:"fails"` // the first attempts
}

func (handledArgs) Kind() string { return kind }

func newHandled(e *env) *handled {
	h := &handled{env: e, runs: map[int64]int{}}
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[handledArgs]) error {
		h.mu.Lock()
		h.runs[job.ID]++
		h.mu.Unlock()
		if job.Attempt <= job.Args.Fails {
			return errors.New("broken")
		}
		return nil
	})
	h.client = h.runWorkers(e.backend, workers)
	h.runWorkers(e.other, workers)
	return h
}

// told returns the causes of the jobs that the given handler or, if it is empty, hooks have made,
// as "event job", in any order.
func (h *handled) told(handler string) (texts []string) {
	h.Helper()
	for _, about := range h.causes(handler) {
		texts = append(texts, fmt.Sprint(about.Event, " ", about.Job))
	}
	slices.Sort(texts)
	return texts
}

func (h *handled) causes(handler string) (all []store.HookEvent) {
	h.Helper()
	jobs, err := h.backend.ListJobs(h.Context(), store.ListJobsRequest{JobFilter: store.JobFilter{Kind: "tell"}, Attempts: true, Limit: 1000})
	h.must(err)
	for _, job := range jobs {
		var headers map[string]string
		var about store.HookEvent
		h.must(json.Unmarshal(job.Headers, &headers))
		h.must(json.Unmarshal([]byte(headers[hourbell.HookHeader]), &about))
		if about.Handler == handler {
			all = append(all, about)
		}
	}
	return all
}

func (h *handled) put(name string, on ...string) {
	h.Helper()
	saved, err := h.client.Handlers.Put(h.Context(), hourbell.EventHandler{Name: name, On: on, Kind: kind, Job: hourbell.RawArgs{Name: "tell"}})
	h.must(err)
	if !saved.Changed {
		h.Error("a new handler must change something")
	}
}

// enqueue enqueues a job and waits for its end.
func (h *handled) enqueue(fails int, options ...hourbell.Option) int64 {
	h.Helper()
	job, err := h.client.Enqueue(h.Context(), handledArgs{Fails: fails}, options...)
	h.must(err)
	h.eventually("the job ended", func() bool {
		row, err := h.client.Jobs.Get(h.Context(), job.ID)
		h.must(err)
		return row.State.Finished()
	})
	return job.ID
}

func (h *handled) handlers() {
	before := h.enqueue(0)
	h.put("all", hourbell.HookSuccess, hourbell.HookFailure, hourbell.HookRetry, hourbell.HookNotStarted)
	completed := h.enqueue(0)
	failed := h.enqueue(2, hourbell.MaxAttempts(1))
	late := h.enqueue(0, hourbell.After(failed, hourbell.OnSuccess, 0))
	retried, err := h.client.Enqueue(h.Context(), handledArgs{Fails: 1})
	h.must(err)
	want := []string{
		fmt.Sprint("success ", completed), fmt.Sprint("failure ", failed), fmt.Sprint("not_started ", late), fmt.Sprint("retry ", retried.ID),
	}
	slices.Sort(want)
	h.eventually("each event has made its job", func() bool { return slices.Equal(h.told("all"), want) })
	h.must(h.client.Handlers.Delete(h.Context(), "all"))
	after := h.enqueue(0)
	if got := h.told("all"); slices.Contains(got, fmt.Sprint("success ", before)) || slices.Contains(got, fmt.Sprint("success ", after)) {
		h.Errorf("a job that ended before the put or after the deletion of the handler has made a job: %v", got)
	}
	for _, about := range h.causes("all") {
		if about.Kind != kind || about.Schedule != "" || (about.Event == hourbell.HookNotStarted) != (about.Node == "") {
			h.Errorf("a cause: %+v", about)
		}
	}
}

func (h *handled) starts() {
	const size = 100
	h.put("begin", hourbell.HookStart)
	var requests []hourbell.Request
	for range size {
		requests = append(requests, hourbell.Request{Args: handledArgs{}})
	}
	_, err := h.client.EnqueueMany(h.Context(), requests)
	h.must(err)
	h.eventually("all jobs have run", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.runs) == size
	})
	told := map[int64]bool{}
	for _, about := range h.causes("begin") {
		told[about.Job] = true
	}
	if len(told) != size {
		h.Errorf("the starts of %d jobs have made jobs, want %d", len(told), size)
	}
}

func (h *handled) hooks() {
	tell := hourbell.RawArgs{Name: "tell"}
	_, err := h.client.Schedules.Put(h.Context(), hourbell.Schedule{
		Name: "first", Rule: recur.Spec{Cron: "0 0 1 1 *"}, Job: handledArgs{Fails: 9}, MaxAttempts: 1, Hooks: hourbell.Hooks{OnStart: tell},
	})
	h.must(err)
	_, err = h.client.Schedules.Put(h.Context(), hourbell.Schedule{
		Name: "second", After: []hourbell.ScheduleEdge{{Schedule: "first", On: hourbell.OnSuccess}}, Job: handledArgs{},
		Hooks: hourbell.Hooks{OnNotStarted: tell, OnStart: tell},
	})
	h.must(err)
	job, err := h.client.Schedules.Trigger(h.Context(), "first")
	h.must(err)
	h.eventually("the start and the slot that was not started have made jobs", func() bool { return len(h.told("")) == 2 })
	time.Sleep(50 * time.Millisecond)
	causes := map[string]store.HookEvent{}
	for _, about := range h.causes("") {
		causes[about.Event] = about
	}
	begun, skipped := causes[hourbell.HookStart], causes[hourbell.HookNotStarted]
	if begun.Schedule != "first" || begun.Job != job || begun.Attempt != 1 || skipped.Schedule != "second" || skipped.Slot.IsZero() || skipped.Reason == "" {
		h.Errorf("causes: %+v", causes)
	}
}
