package hourbell_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

type tenantKey struct{}

// seal is enqueue middleware that encodes args, and does not encode them twice.
func seal(ctx context.Context, drafts []*hourbell.Draft, next func(context.Context) error) error {
	for _, d := range drafts {
		if d.Headers["sealed"] == "" && !bytes.HasPrefix(d.Args, []byte(`"sealed:`)) {
			d.Args, _ = json.Marshal("sealed:" + base64.StdEncoding.EncodeToString(d.Args))
		}
		if d.Headers == nil {
			d.Headers = map[string]string{}
		}
		d.Headers["sealed"] = "yes"
		if tenant, ok := ctx.Value(tenantKey{}).(string); ok {
			d.Queue, d.Headers["tenant"] = "of-"+tenant, tenant
		}
	}
	return next(ctx)
}

// open is work middleware that decodes what seal encoded.
func open(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
	if job.Headers["sealed"] == "" {
		return hourbell.Fail(errors.New("not sealed"))
	}
	var text string
	if err := json.Unmarshal(job.RawArgs, &text); err != nil {
		return err
	}
	var err error
	if job.RawArgs, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "sealed:")); err != nil {
		return err
	}
	return next(context.WithValue(ctx, tenantKey{}, job.Headers["tenant"]), job)
}

// TestEveryJobPassesTheMiddleware checks that the args of jobs are sealed in the
// store and open for workers, however the jobs are made.
func TestEveryJobPassesTheMiddleware(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		var mu sync.Mutex
		var got []string
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Note]) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(job.Args.Text, "/", ctx.Value(tenantKey{})))
			if strings.HasPrefix(job.Args.Text, "fails") {
				return hourbell.Fail(errors.New("broken"))
			}
			return nil
		})
		workers.Handle("raw", func(ctx context.Context, job *hourbell.JobRow) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(string(job.RawArgs), "/", ctx.Value(tenantKey{})))
			if _, hook := job.Headers[hourbell.HookHeader]; !hook {
				return errors.New("no hook")
			}
			return nil
		})
		client := c.client(workers, func(cfg *hourbell.Config) {
			cfg.Queues = map[string]int{"default": 1, "of-a": 1}
			cfg.EnqueueMiddleware = []hourbell.EnqueueMiddleware{seal}
			cfg.WorkMiddleware = []hourbell.WorkMiddleware{open}
		})
		ctx := context.WithValue(t.Context(), tenantKey{}, "a")
		must := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(client.Enqueue(ctx, Note{Text: "one"}))
		must(client.Enqueue(t.Context(), Note{Text: "plain"}, hourbell.Unique("key")))
		must(client.EnqueueMany(ctx, []hourbell.Request{{Args: Note{Text: "many1"}}, {Args: Note{Text: "many2"}}}))
		hook := hourbell.Hooks{OnFailure: hourbell.RawArgs{Name: "raw", JSON: []byte(`"hook"`)}}
		once := hourbell.Schedule{Name: "once", Job: Note{Text: "fails once"}, MaxAttempts: 1, Hooks: hook}
		must(client.Schedules.RunOnce(ctx, once))
		schedule := hourbell.Schedule{
			Name: "s", Rule: recur.Spec{At: time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)},
			Job: Note{Text: "fails"}, MaxAttempts: 1, Hooks: hook,
		}
		must(client.Schedules.Put(ctx, schedule))
		must(client.Schedules.Trigger(t.Context(), "s"))
		c.run(client)
		eventually(t, "all jobs ran", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(got) >= 10
		})
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(got)
		want := []string{`"hook"/a`, `"hook"/a`, `"hook"/a`, "fails once/a", "fails/a", "fails/a", "many1/a", "many2/a", "one/a", "plain/"}
		if !slices.Equal(got, want) {
			t.Errorf("the workers got %q, want %q", got, want)
		}
		jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range jobs {
			full, err := client.Jobs.Get(t.Context(), job.ID)
			if err != nil || !bytes.HasPrefix(full.Args, []byte(`"sealed:`)) {
				t.Errorf("job %d of origin %s is stored with the args %s, %v", job.ID, job.Origin, full.Args, err)
			}
		}
	})
}

// TestScheduleThatPassesMiddlewareStaysUnchanged checks that a schedule that is
// put again keeps its revision if the middleware is deterministic, and that a
// schedule that was read can be put again.
func TestScheduleThatPassesMiddlewareStaysUnchanged(t *testing.T) {
	c := newCluster(t)
	random := false
	n := 0
	client := c.client(nil, func(cfg *hourbell.Config) {
		cfg.EnqueueMiddleware = []hourbell.EnqueueMiddleware{seal, func(ctx context.Context, drafts []*hourbell.Draft, next func(context.Context) error) error {
			for _, d := range drafts {
				if n++; random {
					d.Headers["n"] = fmt.Sprint(n)
				}
			}
			return next(ctx)
		}}
	})
	schedules := []hourbell.Schedule{{
		Name: "s", Rule: recur.Cron("@daily"), Job: Note{Text: "x"},
		Hooks: hourbell.Hooks{OnMissed: hourbell.RawArgs{Name: "raw"}, OnRecovery: Note{Text: "well"}},
	}}
	sync := func(want int) {
		t.Helper()
		done, err := client.Schedules.Sync(t.Context(), "me", 0, schedules)
		if err != nil || done.Changed != want {
			t.Errorf("%+v, %v: want %d changed", done, err, want)
		}
	}
	sync(1)
	sync(0)
	info, err := client.Schedules.Get(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	schedules[0] = info.Schedule
	schedules[0].Revision = 0
	sync(0)
	random = true
	sync(1)
	sync(1)
}

// TestMiddlewareThatChangesNothing checks that a definition has the same bytes
// with and without middleware.
func TestMiddlewareThatChangesNothing(t *testing.T) {
	c := newCluster(t)
	schedules := []hourbell.Schedule{{
		Name: "s", Rule: recur.Cron("@daily"), Job: hourbell.RawArgs{Name: "raw"}, Queue: "q", Timeout: time.Minute,
		Hooks: hourbell.Hooks{OnMissed: hourbell.RawArgs{Name: "raw"}, OnRecovery: Note{Text: "well"}},
	}}
	if _, err := c.client(nil).Schedules.Sync(t.Context(), "me", 0, schedules); err != nil {
		t.Fatal(err)
	}
	client := c.client(nil, func(cfg *hourbell.Config) {
		cfg.EnqueueMiddleware = []hourbell.EnqueueMiddleware{func(ctx context.Context, _ []*hourbell.Draft, next func(context.Context) error) error {
			return next(ctx)
		}}
	})
	if done, err := client.Schedules.Sync(t.Context(), "me", 0, schedules); err != nil || done.Changed != 0 {
		t.Errorf("%+v, %v: want no change", done, err)
	}
}

// TestHookKeepsItsOptions checks that options that middleware gives to a hook
// and to the job of a schedule are stored with the jobs.
func TestHookKeepsItsOptions(t *testing.T) {
	c := newCluster(t)
	workers := noteWorkers(func(context.Context, *hourbell.Job[Note]) error { return hourbell.Fail(errors.New("broken")) })
	client := c.client(workers, func(cfg *hourbell.Config) {
		cfg.EnqueueMiddleware = []hourbell.EnqueueMiddleware{func(ctx context.Context, drafts []*hourbell.Draft, next func(context.Context) error) error {
			for _, d := range drafts {
				if d.Hook != "" {
					d.Queue, d.Priority, d.MaxAttempts, d.OnLoss, d.Timeout = "hooks", 7, 3, hourbell.FailOnLoss, time.Hour
				} else {
					d.Priority, d.Timeout = 2, 2*time.Hour
				}
				d.Schedule, d.Hook = "other", "other" // has no effect
			}
			return next(ctx)
		}}
	})
	if _, err := client.Schedules.Put(t.Context(), hourbell.Schedule{
		Name: "s", Rule: recur.Cron("@yearly"), Job: Note{}, MaxAttempts: 1, Hooks: hourbell.Hooks{OnFailure: hourbell.RawArgs{Name: "tell"}},
	}); err != nil {
		t.Fatal(err)
	}
	id, err := client.Schedules.Trigger(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	c.run(client)
	eventually(t, "the job failed", func() bool { return state(t, client, id) == store.StateFailed })
	jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{})
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	hook, job := jobs[0], jobs[1]
	if hook.Kind != "tell" || hook.Queue != "hooks" || hook.Priority != 7 || hook.MaxAttempts != 3 || hook.OnLoss != hourbell.FailOnLoss || hook.Timeout != time.Hour {
		t.Errorf("the hook's job is %+v", hook)
	}
	if job.Priority != 2 || job.Timeout != 2*time.Hour || job.Queue != "default" {
		t.Errorf("the job is %+v", job)
	}
}

// TestEnqueueMiddlewareIsChecked checks that jobs are validated after the
// middleware, and that nothing is stored if it refuses, forgets to call next or
// makes a mistake.
func TestEnqueueMiddlewareIsChecked(t *testing.T) {
	refused := errors.New("this tenant may not")
	big := strings.Repeat("x", 70<<10)
	for name, test := range map[string]struct {
		change func(d *hourbell.Draft)
		field  string
	}{
		"kind":          {func(d *hourbell.Draft) { d.Kind = "" }, "kind"},
		"args":          {func(d *hourbell.Draft) { d.Args = []byte("{") }, "args"},
		"args in place": {func(d *hourbell.Draft) { d.Args[0] = 'x' }, "args"},
		"queue":         {func(d *hourbell.Draft) { d.Queue = "a\x00" }, "queue"},
		"priority":      {func(d *hourbell.Draft) { d.Priority = 10 }, "priority"},
		"attempts":      {func(d *hourbell.Draft) { d.MaxAttempts = 0 }, "max_attempts"},
		"timeout":       {func(d *hourbell.Draft) { d.Timeout = -1 }, "timeout"},
		"key":           {func(d *hourbell.Draft) { d.Unique = strings.Repeat("x", 201) }, "unique"},
		"header":        {func(d *hourbell.Draft) { d.Headers = map[string]string{"": "x"} }, "headers"},
		"own header":    {func(d *hourbell.Draft) { d.Headers = map[string]string{hourbell.HookHeader: "{}"} }, "headers"},
		"great header":  {func(d *hourbell.Draft) { d.Headers = map[string]string{"a": big} }, "headers"},
	} {
		c := newCluster(t)
		client := c.client(nil, func(cfg *hourbell.Config) {
			cfg.EnqueueMiddleware = []hourbell.EnqueueMiddleware{func(ctx context.Context, drafts []*hourbell.Draft, next func(context.Context) error) error {
				test.change(drafts[0])
				return next(ctx)
			}}
		})
		_, err := client.Enqueue(t.Context(), Note{})
		var field *check.FieldError
		if !errors.As(err, &field) || field.Field != test.field || strings.Contains(err.Error(), big) {
			t.Errorf("%s: %.200v, want a mistake of the field %s", name, err, test.field)
		}
		noJobs(t, client)
	}
	for name, test := range map[string]struct {
		middleware hourbell.EnqueueMiddleware
		want       string
	}{
		"refuses": {func(context.Context, []*hourbell.Draft, func(context.Context) error) error { return refused }, refused.Error()},
		"forgets": {func(context.Context, []*hourbell.Draft, func(context.Context) error) error { return nil }, "nor called next"},
	} {
		c := newCluster(t)
		client := c.client(nil, func(cfg *hourbell.Config) { cfg.EnqueueMiddleware = []hourbell.EnqueueMiddleware{test.middleware} })
		if _, err := client.EnqueueMany(t.Context(), []hourbell.Request{{Args: Note{}}, {Args: Note{}}}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "s", Rule: recur.Cron("@daily"), Job: Note{}}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: put: %v", name, err)
		}
		if found, err := client.Schedules.List(t.Context(), hourbell.ScheduleFilter{}); err != nil || len(found) > 0 {
			t.Errorf("%s: %d schedules, %v", name, len(found), err)
		}
		noJobs(t, client)
	}
	c := newCluster(t)
	client := c.client(nil, func(cfg *hourbell.Config) {
		cfg.EnqueueMiddleware = []hourbell.EnqueueMiddleware{func(ctx context.Context, _ []*hourbell.Draft, next func(context.Context) error) error {
			return errors.Join(next(ctx), next(ctx))
		}}
	})
	if _, err := client.Enqueue(t.Context(), Note{}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("next was called twice: %v", err)
	}
	if jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{}); err != nil || len(jobs) != 1 {
		t.Errorf("next was called twice: %d jobs, %v", len(jobs), err)
	}
}

func noJobs(t *testing.T, client *hourbell.Client) {
	t.Helper()
	if jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{}); err != nil || len(jobs) > 0 {
		t.Errorf("%d jobs are stored, %v", len(jobs), err)
	}
}

// TestOrderOfMiddleware checks that the first middleware is the outermost, that
// each sees the error of the inner ones, and that a skipped job completes.
func TestOrderOfMiddleware(t *testing.T) {
	c := newCluster(t)
	var mu sync.Mutex
	var steps []string
	step := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		steps = append(steps, fmt.Sprintf(format, args...))
	}
	work := func(name string) hourbell.WorkMiddleware {
		return func(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
			step("%s begins %s", name, job.RawArgs)
			if name == "inner" && string(job.RawArgs) == `{"text":"skip"}` {
				return nil
			}
			err := next(ctx, job)
			step("%s ends: %v", name, err)
			return err
		}
	}
	enqueue := func(name string) hourbell.EnqueueMiddleware {
		return func(ctx context.Context, drafts []*hourbell.Draft, next func(context.Context) error) error {
			step("%s enqueues %d", name, len(drafts))
			defer step("%s has enqueued", name)
			return next(ctx)
		}
	}
	workers := noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error {
		step("works")
		return hourbell.Fail(errors.New("broken"))
	})
	client := c.client(workers, func(cfg *hourbell.Config) {
		cfg.Queues = map[string]int{"default": 1}
		cfg.WorkMiddleware = []hourbell.WorkMiddleware{work("outer"), work("inner")}
		cfg.EnqueueMiddleware = []hourbell.EnqueueMiddleware{enqueue("outer"), enqueue("inner")}
	})
	fails, err := client.Enqueue(t.Context(), Note{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	skipped, err := client.Enqueue(t.Context(), Note{Text: "skip"})
	if err != nil {
		t.Fatal(err)
	}
	c.run(client)
	eventually(t, "both ended", func() bool {
		return state(t, client, fails.ID) == store.StateFailed && state(t, client, skipped.ID) == store.StateCompleted
	})
	enqueued := []string{"outer enqueues 1", "inner enqueues 1", "inner has enqueued", "outer has enqueued"}
	want := slices.Concat(enqueued, enqueued, []string{
		`outer begins {"text":"x"}`, `inner begins {"text":"x"}`, "works", "inner ends: broken", "outer ends: broken",
		`outer begins {"text":"skip"}`, `inner begins {"text":"skip"}`, "outer ends: <nil>",
	})
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(steps, want) {
		t.Errorf("got %q, want %q", steps, want)
	}
}

// TestWorkMiddlewareMayPassACopy checks that a worker gets a changed copy of its
// job, that its output is kept, and that a panic passes the middleware.
func TestWorkMiddlewareMayPassACopy(t *testing.T) {
	c := newCluster(t)
	workers := noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error {
		job.SetOutput([]byte(job.Args.Text + " " + job.Headers["by"]))
		if job.Attempt == 1 {
			panic("broken")
		}
		return nil
	})
	var panics atomic.Int32
	client := c.client(workers, func(cfg *hourbell.Config) {
		cfg.WorkMiddleware = []hourbell.WorkMiddleware{
			func(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
				defer func() {
					if value := recover(); value != nil {
						panics.Add(1)
						panic(value)
					}
				}()
				return next(ctx, job)
			},
			func(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
				changed := *job
				changed.RawArgs, changed.Headers = []byte(`{"text":"changed"}`), map[string]string{"by": "copy"}
				if err := next(ctx, &changed); err != nil {
					return hourbell.RetryIn(0, err)
				}
				return nil
			},
			func(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
				if job.Attempt == 2 {
					return next(ctx, &hourbell.JobRow{}) // a mistake
				}
				return next(ctx, job)
			},
		}
	})
	added, err := client.Enqueue(t.Context(), Note{Text: "x"}, hourbell.MaxAttempts(3))
	if err != nil {
		t.Fatal(err)
	}
	c.run(client)
	eventually(t, "the panic", func() bool { return panics.Load() == 1 })
	eventually(t, "the first attempt", func() bool {
		job, err := client.Jobs.Get(t.Context(), added.ID)
		return err == nil && len(job.Attempts) == 1
	})
	if _, err := client.Jobs.Retry(t.Context(), hourbell.JobFilter{IDs: []int64{added.ID}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "completed", func() bool { return state(t, client, added.ID) == store.StateCompleted })
	job, err := client.Jobs.Get(t.Context(), added.ID)
	if err != nil || len(job.Attempts) != 3 {
		t.Fatalf("%+v, %v", job, err)
	}
	for i, want := range []struct{ output, problem string }{{"changed copy", "broken"}, {"", "did not receive"}, {"changed copy", ""}} {
		if got := job.Attempts[i]; string(got.Output) != want.output || !strings.Contains(got.Error, want.problem) {
			t.Errorf("attempt %d: output %q, error %q", i+1, got.Output, got.Error)
		}
	}
}

// TestNilInListsIsAnError checks the lists of middleware and observers.
func TestNilInListsIsAnError(t *testing.T) {
	err := hourbell.Config{
		WorkMiddleware: []hourbell.WorkMiddleware{nil}, EnqueueMiddleware: []hourbell.EnqueueMiddleware{seal, nil}, Observers: []event.Observer{nil},
	}.Validate()
	for _, want := range []string{"work middleware 1", "enqueue middleware 2", "observer 1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

// TestObserversGetEverything checks that an observer gets the same events as the
// counts, the last included, although another observer is stuck and a third one
// panics.
func TestObserversGetEverything(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		seen := map[event.Kind]int64{}
		stuck := make(chan struct{})
		defer close(stuck)
		workers := noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error { return nil })
		client := c.client(workers, func(cfg *hourbell.Config) {
			cfg.Observers = []event.Observer{
				event.Sink(func(event.Event) { <-stuck }),
				event.Sink(func(event.Event) { panic("broken") }),
				event.Sink(func(e event.Event) { seen[e.Kind]++ }),
			}
		})
		const jobs = 100
		for range jobs {
			if _, err := client.Enqueue(t.Context(), Note{}); err != nil {
				t.Fatal(err)
			}
		}
		stop := c.run(client)
		eventually(t, "all jobs completed", func() bool { return client.Events.Counts()[event.JobCompleted] == jobs })
		stop()
		for kind, want := range client.Events.Counts() {
			if seen[kind] != want {
				t.Errorf("%s: the observer got %d, want %d", kind, seen[kind], want)
			}
		}
		if seen[event.JobCompleted] != jobs || seen[event.NodeStopped] != 1 || seen[event.ObserverPanicked] != 1 {
			t.Errorf("the observer got %v", seen)
		}
	})
}

// TestMiddlewareMayRemoveAKey checks that a job whose key middleware removes is
// stored although an equal job holds the key.
func TestMiddlewareMayRemoveAKey(t *testing.T) {
	c := newCluster(t)
	remove := false
	client := c.client(nil, func(cfg *hourbell.Config) {
		cfg.EnqueueMiddleware = []hourbell.EnqueueMiddleware{func(ctx context.Context, drafts []*hourbell.Draft, next func(context.Context) error) error {
			if remove {
				drafts[0].Unique = ""
			}
			return next(ctx)
		}}
	})
	for _, remove = range []bool{false, true} {
		added, err := client.Enqueue(t.Context(), Note{}, hourbell.Unique("key"), hourbell.UniqueFor(time.Hour))
		if err != nil || added.Existed {
			t.Errorf("removed %v: %+v, %v", remove, added, err)
		}
	}
	remove = false
	if added, err := client.Enqueue(t.Context(), Note{}, hourbell.Unique("key")); err != nil || !added.Existed {
		t.Errorf("the key is free: %+v, %v", added, err)
	}
}
