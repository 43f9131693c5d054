package hourbell_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// hooked returns a schedule whose hooks make jobs of kind "hook".
func hooked(name string, attempts int) hourbell.Schedule {
	tell := hourbell.RawArgs{Name: "hook", JSON: []byte(`{"to":"ops"}`)}
	return hourbell.Schedule{
		Name: name, Rule: recur.Spec{Cron: "0 0 1 1 *"}, Job: hourbell.RawArgs{Name: "note", JSON: []byte(`{"text":"a"}`)}, MaxAttempts: attempts,
		Hooks: hourbell.Hooks{OnFailure: tell, OnMissed: tell, OnRecovery: tell},
	}
}

// hookWorkers runs notes with work and sends the causes of hooks to events.
func hookWorkers(t *testing.T, work func(ctx context.Context, job *hourbell.Job[Note]) error) (*hourbell.Workers, chan store.HookEvent) {
	workers, events := noteWorkers(work), make(chan store.HookEvent, 10)
	workers.Handle("hook", func(_ context.Context, job *hourbell.JobRow) error {
		var e store.HookEvent
		if err := json.Unmarshal([]byte(job.Headers[hourbell.HookHeader]), &e); err != nil {
			t.Errorf("headers %q: %v", job.Headers, err)
		}
		if string(job.RawArgs) != `{"to":"ops"}` || job.Origin != "hook" || job.Schedule != "" {
			t.Errorf("the hook's job: %+v", job)
		}
		events <- e
		return nil
	})
	return workers, events
}

func TestHooksTellOfFailureAndRecovery(t *testing.T) {
	c := newCluster(t)
	var broken atomic.Bool
	workers, events := hookWorkers(t, func(_ context.Context, job *hourbell.Job[Note]) error {
		if job.Headers[hourbell.HookHeader] != "" || len(job.Headers) != 0 {
			t.Errorf("a schedule's job must not see its hooks: %v", job.Headers)
		}
		job.SetOutput([]byte("half\xff"))
		if broken.Load() {
			return errors.New("no disk")
		}
		return nil
	})
	client := c.client(workers)
	c.run(client)
	if _, err := client.Schedules.Put(t.Context(), hooked("s", 1)); err != nil {
		t.Fatal(err)
	}
	trigger := func() int64 {
		t.Helper()
		id, err := client.Schedules.Trigger(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the job's end", func() bool { return state(t, client, id).Finished() })
		return id
	}
	failing := func(want bool) {
		t.Helper()
		info, err := client.Schedules.Get(t.Context(), "s")
		if err != nil || info.FailingSince.IsZero() == want {
			t.Errorf("failing since %v, %v", info.FailingSince, err)
		}
	}
	trigger() // the schedule was not failing: no hook runs
	failing(false)
	broken.Store(true)
	for range 2 {
		id := trigger()
		e := <-events
		if e.Event != hourbell.HookFailure || e.Schedule != "s" || e.Job != id || e.Attempt != 1 || e.Reason != "no disk" || e.Output != "half\uFFFD" || e.Node != client.Name() {
			t.Errorf("a failure: %+v", e)
		}
		failing(true)
	}
	broken.Store(false)
	id := trigger()
	if e := <-events; e.Event != hourbell.HookRecovery || e.Job != id || e.Reason != "" {
		t.Errorf("a recovery: %+v", e)
	}
	failing(false)
	trigger()
	if len(events) != 0 {
		t.Errorf("a second recovery was told: %+v", <-events)
	}
}

// TestRunOnceReportsItsFailure checks that a job for a schedule that is not
// stored makes a hook's job with the given name, and that its failures are not
// counted.
func TestRunOnceReportsItsFailure(t *testing.T) {
	c := newCluster(t)
	workers, events := hookWorkers(t, func(context.Context, *hourbell.Job[Note]) error { return errors.New("no disk") })
	client := c.client(workers)
	c.run(client)
	s := hooked("@reboot", 1)
	s.Rule = recur.Spec{}
	key := []hourbell.Option{hourbell.Unique("boot 1"), hourbell.UniqueFor(time.Hour)}
	job, err := client.Schedules.RunOnce(t.Context(), s, key...)
	if err != nil || job.Existed {
		t.Fatal(job, err)
	}
	if e := <-events; e.Event != hourbell.HookFailure || e.Schedule != "@reboot" || e.Job != job.ID {
		t.Errorf("got %+v", e)
	}
	if again, err := client.Schedules.RunOnce(t.Context(), s, key...); err != nil || !again.Existed || again.ID != job.ID {
		t.Errorf("again with the same key: %+v, %v", again, err)
	}
	for _, option := range []hourbell.Option{hourbell.UniqueFor(time.Hour), hourbell.Queue("q"), hourbell.InBatch(1)} {
		if _, err := client.Schedules.RunOnce(t.Context(), s, option); err == nil {
			t.Error("an option without meaning was accepted")
		}
	}
	if _, err := client.Schedules.RunOnce(t.Context(), hourbell.Schedule{Name: "s"}); err == nil || !strings.Contains(err.Error(), "job is nil") {
		t.Errorf("without a job: %v", err)
	}
}

// TestHooksTellOfTheLastAttemptOnly checks that only the last attempt is a
// failure, and that a cancelled job is not a failure.
func TestHooksTellOfTheLastAttemptOnly(t *testing.T) {
	c := newCluster(t)
	workers, events := hookWorkers(t, func(ctx context.Context, job *hourbell.Job[Note]) error {
		if job.Attempt < 2 {
			return hourbell.RetryIn(0, errors.New("not yet"))
		}
		return hourbell.Cancel(errors.New("no longer wanted"))
	})
	client := c.client(workers)
	c.run(client)
	if _, err := client.Schedules.Put(t.Context(), hooked("s", 3)); err != nil {
		t.Fatal(err)
	}
	id, err := client.Schedules.Trigger(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job's end", func() bool { return state(t, client, id) == store.StateCancelled })
	jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{Kind: "hook"})
	if err != nil || len(jobs) != 0 || len(events) != 0 {
		t.Errorf("hooks were made: %v, %v", jobs, err)
	}
}

func TestBadHooksAreRefused(t *testing.T) {
	s := hooked("s", 1)
	s.Hooks.OnMissed = hourbell.RawArgs{Name: " ", JSON: []byte("{")}
	err := s.Validate()
	for _, want := range []string{"on_missed kind", "on_missed args"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestRestrictedKindsRunWhatWasAdmitted checks that a node runs only the jobs
// of a restricted kind that its allow-list has, and that the other jobs have
// the reason why they wait.
func TestRestrictedKindsRunWhatWasAdmitted(t *testing.T) {
	c := newCluster(t)
	ran := make(chan string, 10)
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[Note]) error {
		ran <- job.Args.Text
		return nil
	}, hourbell.Restricted())
	client := c.client(workers)
	mine := hourbell.Schedule{Name: "mine", Job: hourbell.RawArgs{Name: "note", JSON: []byte(`{"text":"mine"}`)}}
	allow := func(s hourbell.Schedule) {
		if err := client.Allow(s); err != nil {
			t.Fatal(err)
		}
	}
	allow(mine)
	c.run(client)

	enqueue := func(text string) store.JobInfo {
		t.Helper()
		added, err := client.Enqueue(t.Context(), Note{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		job, err := client.Jobs.Get(t.Context(), added.ID)
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	foreign := enqueue("foreign")
	enqueue("mine")
	if got := <-ran; got != "mine" {
		t.Fatalf("it ran %q", got)
	}
	reasons, err := client.Jobs.Waits(t.Context(), foreign)
	if err != nil || !strings.Contains(reasons[foreign.ID], "no living node allows stored jobs of kind \"note\"") {
		t.Errorf("why the other waits: %q, %v", reasons[foreign.ID], err)
	}
	if state(t, client, foreign.ID) != store.StateReady {
		t.Error("the other must wait untouched")
	}

	hook := hourbell.Schedule{Hooks: hourbell.Hooks{OnFailure: hourbell.RawArgs{Name: "note", JSON: []byte(`{"text":"foreign"}`)}}}
	if err := client.Allow(hourbell.Schedule{Job: hourbell.RawArgs{Name: "note", JSON: []byte("{")}}); err == nil {
		t.Error("a job that is not valid was allowed")
	}
	allow(hook) // replaces the first list, at once
	if got := <-ran; got != "foreign" {
		t.Errorf("it ran %q", got)
	}
	waiting := enqueue("mine")
	anyNode := c.client(noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error {
		ran <- "any: " + job.Args.Text
		return nil
	}))
	c.run(anyNode)
	if got := <-ran; got != "any: mine" {
		t.Errorf("a node without restriction ran %q", got)
	}
	eventually(t, "its end", func() bool { return state(t, client, waiting.ID) == store.StateCompleted })
}

func TestWhyJobsWait(t *testing.T) {
	c := newCluster(t)
	client := c.client(nil)
	waits := func(options ...hourbell.Option) string {
		t.Helper()
		added, err := client.Enqueue(t.Context(), Note{}, options...)
		if err != nil {
			t.Fatal(err)
		}
		job, err := client.Jobs.Get(t.Context(), added.ID)
		if err != nil {
			t.Fatal(err)
		}
		reasons, err := client.Jobs.Waits(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		return reasons[added.ID]
	}
	if got := waits(); !strings.Contains(got, "no node is alive") {
		t.Errorf("without a node: %q", got)
	}
	workers := hourbell.NewWorkers()
	workers.Handle("other", func(context.Context, *hourbell.JobRow) error { return nil })
	node := c.client(workers)
	c.run(node)
	eventually(t, "the node", func() bool { return strings.Contains(waits(), "has code for kind") })
	if got := waits(hourbell.Queue("q")); !strings.Contains(got, `serves queue "q"`) {
		t.Errorf("in a queue that no node serves: %q", got)
	}
	if got := waits(hourbell.In(1e12)); got != "" {
		t.Errorf("one that is not due: %q", got)
	}
	lost := func(id int64, losses int16) store.JobInfo {
		job := store.JobInfo{ID: id, Losses: losses}
		job.Kind, job.Queue = "other", "default"
		return job
	}
	reasons, err := client.Jobs.Waits(t.Context(), lost(1, 1), lost(2, 2))
	if err != nil || reasons[1] != "" || !strings.Contains(reasons[2], "2 nodes in a row died") {
		t.Errorf("after losses: %v, %v", reasons, err)
	}
}

// TestHooksOfEveryAttempt checks the hooks for retries and successes, several for an event, and that
// a schedule reads back as it was put.
func TestHooksOfEveryAttempt(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		workers, events := hookWorkers(t, func(_ context.Context, job *hourbell.Job[Note]) error {
			if job.Attempt == 1 {
				job.Log("printed")
				return errors.New("busy")
			}
			return nil
		})
		client := c.client(workers)
		c.run(client)
		schedule := hooked("s", 3)
		tell := schedule.Hooks.OnFailure
		schedule.Group = "g"
		schedule.Hooks = hourbell.Hooks{OnSuccess: hourbell.Several{tell, tell}, OnRetry: tell, OnOutput: tell}
		if _, err := client.Schedules.Put(t.Context(), schedule); err != nil {
			t.Fatal(err)
		}
		info, err := client.Schedules.Get(t.Context(), "s")
		if err != nil || len(info.Hooks.Field("on_success")) != 2 || len(info.Hooks.Field("on_retry")) != 1 || info.Hooks.OnFailure != nil {
			t.Errorf("hooks %+v, %v", info.Hooks, err)
		}
		id, err := client.Schedules.Trigger(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for range 4 {
			e := <-events
			counts[e.Event]++
			if e.Job != id || e.Kind != "note" || e.Group != "g" || e.Schedule != "s" || e.Attempt != map[string]int{"retry": 1, "output": 1, "success": 2}[e.Event] ||
				(e.Reason == "busy") != (e.Attempt == 1) || (e.Output == "printed\n") != (e.Attempt == 1) {
				t.Errorf("event %+v", e)
			}
		}
		if counts[hourbell.HookRetry] != 1 || counts[hourbell.HookOutput] != 1 || counts[hourbell.HookSuccess] != 2 {
			t.Errorf("events %v", counts)
		}
		for _, jobs := range []hourbell.Several{{hourbell.Several{tell}}, {hourbell.RawArgs{}}} {
			schedule.Hooks.OnSuccess = jobs
			if err := schedule.Validate(); err == nil || !strings.Contains(err.Error(), "on_success ") {
				t.Errorf("%v: %v", jobs, err)
			}
		}
		if _, err := client.Enqueue(t.Context(), hourbell.Several{tell}); err == nil || !strings.Contains(err.Error(), "Hooks") {
			t.Errorf("an enqueue of several: %v", err)
		}
	})
}

// TestStartsAreMadeOnce lets a node claim jobs in advance that no worker takes in time: they are
// released, and begin later, once.
func TestStartsAreMadeOnce(t *testing.T) {
	const all, slow = 400, 300 // how many jobs; which of them is slow
	for _, by := range []string{"handler", "hook"} {
		t.Run(by, func(t *testing.T) {
			c := newCluster(t)
			var mu sync.Mutex
			starts := map[int64]int{}
			release := make(chan struct{})
			workers := noteWorkers(func(ctx context.Context, job *hourbell.Job[Note]) error {
				if job.ID == slow {
					select {
					case <-release:
					case <-ctx.Done():
					}
				}
				return nil
			})
			workers.Handle("hook", func(_ context.Context, job *hourbell.JobRow) error {
				var e store.HookEvent
				if err := json.Unmarshal([]byte(job.Headers[hourbell.HookHeader]), &e); err != nil || e.Event != hourbell.HookStart || e.Attempt != 1 {
					t.Errorf("event %+v, %v", e, err)
				}
				mu.Lock()
				defer mu.Unlock()
				starts[e.Job]++
				return nil
			})
			client := c.client(workers, func(cfg *hourbell.Config) { cfg.Queues = map[string]int{"default": 1, "hooks": 4} })
			tell := hourbell.RawArgs{Name: "hook", JSON: []byte(`{"to":"ops"}`)}
			var jobs []int64
			schedule := hooked("s", 1)
			schedule.Hooks = hourbell.Hooks{}
			if by == "hook" {
				schedule.Hooks.OnStart = tell
			} else if _, err := client.Handlers.Put(t.Context(), hourbell.EventHandler{Name: "h", On: []string{hourbell.HookStart}, Job: tell, Queue: "hooks"}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Schedules.Put(t.Context(), schedule); err != nil {
				t.Fatal(err)
			}
			for range all {
				id, err := client.Schedules.Trigger(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				jobs = append(jobs, id)
			}
			events, stop := client.Events.Subscribe(10_000)
			defer stop()
			c.run(client)
			for e := range events {
				if e.Kind == event.JobReleased {
					break
				}
			}
			close(release)
			eventually(t, "all jobs and their starts have ended", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(starts) == len(jobs) && client.Events.Counts()[event.JobCompleted] >= int64(2*len(jobs))
			})
			mu.Lock()
			defer mu.Unlock()
			for id, n := range starts {
				if n != 1 {
					t.Errorf("the attempt at job %d made %d starts", id, n)
				}
			}
		})
	}
}
