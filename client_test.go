package hourbell_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
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
	"github.com/hourbell/hourbell/store/memory"
)

// Note is the type of the arguments in these tests.
type Note struct {
	Text string `json:"text"`
}

func (Note) Kind() string { return "note" }

// encodedNote is a Note that encodes itself, without text nothing.
type encodedNote Note

func (encodedNote) Kind() string { return "note" }

func (n encodedNote) Validate() error {
	if n.Text == "" {
		return errors.New("the note is empty")
	}
	return nil
}

func (n encodedNote) Encode() ([]byte, error) { return []byte(`{"text": "` + n.Text + `"}`), nil }

// cluster is a memory store with clients on it.
type cluster struct {
	t     *testing.T
	store *memory.Store
}

func newCluster(t *testing.T) *cluster { return &cluster{t: t, store: memory.New()} }

// client makes a client with a short lease; change may alter its configuration.
func (c *cluster) client(workers *hourbell.Workers, change ...func(*hourbell.Config)) *hourbell.Client {
	c.t.Helper()
	cfg := hourbell.Config{
		Workers: workers,
		Logger:  slog.New(slog.DiscardHandler),
		Lease:   500 * time.Millisecond,
		Drain:   2 * time.Second,
		Grace:   200 * time.Millisecond,
	}
	for _, f := range change {
		f(&cfg)
	}
	client, err := hourbell.New(c.store, cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	return client
}

// TestTheLogOfManyJobs checks that by default a node logs no line for a job
// that completes, but a line for each job that fails, and that with
// LogCompleted the lines and the counts together cover all jobs.
func TestTheLogOfManyJobs(t *testing.T) {
	const jobs, failures = 400, 3
	for _, rationed := range []int{0, 50} {
		c := newCluster(t)
		var log syncBuffer
		workers := hourbell.NewWorkers()
		workers.Handle("note", func(_ context.Context, job *hourbell.JobRow) error {
			if job.ID <= failures {
				return errors.New("broken")
			}
			return nil
		})
		client := c.client(workers, func(cfg *hourbell.Config) {
			cfg.Logger, cfg.LogCompleted = slog.New(slog.NewJSONHandler(&log, nil)), rationed
		})
		notes := make([]hourbell.Request, jobs+failures)
		for i := range notes {
			notes[i].Args = Note{}
		}
		if _, err := client.EnqueueMany(t.Context(), notes, hourbell.MaxAttempts(1)); err != nil {
			t.Fatal(err)
		}
		stop := c.run(client)
		eventually(t, "all jobs have ended", func() bool {
			counts := client.Events.Counts()
			return counts[event.JobCompleted] == jobs && counts[event.JobFailed] == failures
		})
		stop()
		completed, failed, nodes := 0, 0, 0
		for line := range strings.Lines(log.String()) {
			var told struct {
				Msg   string
				Count int
			}
			if err := json.Unmarshal([]byte(line), &told); err != nil {
				t.Fatal(err)
			}
			switch told.Msg {
			case "job completed":
				completed++
			case "more jobs completed":
				completed += told.Count
			case "job failed":
				failed++
			case "node started", "node stopped":
				nodes++
			}
		}
		want := 0
		if rationed > 0 {
			want = jobs
		}
		if completed != want || failed != failures || nodes != 2 {
			t.Errorf("rationed to %d: the log has %d completed jobs, want %d; of %d failures, want %d; of %d ends of a node, want 2", rationed, completed, want, failed, failures, nodes)
		}
	}
}

// syncBuffer is a log to which several goroutines write.
type syncBuffer struct {
	mu  sync.Mutex
	log strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// run starts the client and stops it at the end of the test.
func (c *cluster) run(client *hourbell.Client) (stop func()) {
	c.t.Helper()
	done := make(chan error, 1)
	go func() { done <- client.Run(context.Background()) }()
	stop = sync.OnceFunc(func() {
		c.t.Helper()
		if err := client.Stop(context.Background()); err != nil {
			c.t.Error(err)
		}
		if err := <-done; err != nil {
			c.t.Errorf("Run returned %v after Stop", err)
		}
	})
	c.t.Cleanup(stop)
	return stop
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain for: %s", what)
}

func noteWorkers(work func(ctx context.Context, job *hourbell.Job[Note]) error) *hourbell.Workers {
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, work)
	return workers
}

func state(t *testing.T, client *hourbell.Client, id int64) store.State {
	t.Helper()
	job, err := client.Jobs.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job.State
}

func TestJobRunsWithItsArguments(t *testing.T) {
	c := newCluster(t)
	got := make(chan *hourbell.Job[Note], 1)
	client := c.client(noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error {
		job.SetOutput([]byte("done"))
		got <- job
		return nil
	}))
	c.run(client)
	added, err := client.Enqueue(t.Context(), Note{Text: "hello"}, hourbell.Priority(2))
	if err != nil {
		t.Fatal(err)
	}
	job := <-got
	if job.Args.Text != "hello" || job.ID != added.ID || job.Attempt != 1 || job.Token == 0 || job.Priority != 2 || job.Origin != "enqueue" {
		t.Fatalf("worker saw %+v", job)
	}
	eventually(t, "completed", func() bool { return state(t, client, added.ID) == store.StateCompleted })
	info, err := client.Jobs.Get(t.Context(), added.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Attempts) != 1 || string(info.Attempts[0].Output) != "done" || string(info.Args) != `{"text":"hello"}` {
		t.Fatalf("record of the job: %+v", info)
	}
}

// TestRetryInHasAFloor checks that a handler that returns a zero or negative
// delay does not cause attempts without a pause.
func TestRetryInHasAFloor(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		client := c.client(noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error {
			return hourbell.RetryIn(time.Duration(1-job.Attempt)*time.Second, errors.New("at once"))
		}))
		c.run(client)
		added, err := client.Enqueue(t.Context(), Note{}, hourbell.MaxAttempts(4))
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "failed", func() bool { return state(t, client, added.ID) == store.StateFailed })
		job, err := client.Jobs.Get(t.Context(), added.ID)
		if err != nil || len(job.Attempts) != 4 {
			t.Fatalf("got %d attempts, %v", len(job.Attempts), err)
		}
		for i, attempt := range job.Attempts[1:] {
			if wait := attempt.StartedAt.Sub(job.Attempts[i].FinishedAt); wait < 100*time.Millisecond {
				t.Errorf("attempt %d began %v after the one before, want 100 ms at least", i+2, wait)
			}
		}
	})
}

func TestFailureRetriesWithBackoffThenFails(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		var runs atomic.Int32
		client := c.client(noteWorkers(func(context.Context, *hourbell.Job[Note]) error {
			if runs.Add(1) == 1 {
				panic("out of paper")
			}
			return hourbell.RetryIn(time.Millisecond, errors.New("still no paper"))
		}))
		c.run(client)
		added, err := client.Enqueue(t.Context(), Note{}, hourbell.MaxAttempts(3))
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the first failure on record", func() bool {
			job, err := client.Jobs.Get(t.Context(), added.ID)
			return err == nil && len(job.Attempts) == 1
		})
		job, err := client.Jobs.Get(t.Context(), added.ID)
		if err != nil {
			t.Fatal(err)
		}
		first := job.Attempts[0]
		if !strings.Contains(first.Error, "out of paper") || !strings.Contains(first.Trace, "client_test.go") {
			t.Fatalf("the panic's record: %q, trace %q", first.Error, first.Trace)
		}
		if wait := job.RunAt.Sub(first.FinishedAt); wait < 850*time.Millisecond || wait > 1200*time.Millisecond {
			t.Fatalf("back-off after attempt 1 is %v, want 1 s ± 10 %%", wait)
		}
		eventually(t, "failed", func() bool { return state(t, client, added.ID) == store.StateFailed })
		if job, _ = client.Jobs.Get(t.Context(), added.ID); job.Attempt != 3 || len(job.Attempts) != 3 || job.Reason != "still no paper" {
			t.Fatalf("after the last attempt: %+v", job)
		}
	})
}

func TestWorkersErrorsWithMeaning(t *testing.T) {
	c := newCluster(t)
	boom := errors.New("boom")
	client := c.client(noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error {
		switch job.Args.Text {
		case "fail":
			return hourbell.Fail(boom)
		case "cancel":
			return fmt.Errorf("wrapped: %w", hourbell.Cancel(boom))
		case "exit":
			runtime.Goexit()
		}
		return nil
	}), func(cfg *hourbell.Config) { cfg.Queues = map[string]int{"default": 1} })
	c.run(client)
	want := map[string]store.State{"fail": store.StateFailed, "cancel": store.StateCancelled, "exit": store.StateFailed, "fine": store.StateCompleted}
	for _, text := range []string{"fail", "cancel", "exit", "fine"} {
		added, err := client.Enqueue(t.Context(), Note{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if text == "exit" {
			eventually(t, "the attempt of a worker that ended its goroutine on record", func() bool {
				job, err := client.Jobs.Get(t.Context(), added.ID)
				return err == nil && len(job.Attempts) == 1
			})
			continue
		}
		eventually(t, text, func() bool { return state(t, client, added.ID) == want[text] })
	}
}

func TestTimeoutEndsTheContext(t *testing.T) {
	c := newCluster(t)
	causes := make(chan error, 2)
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(ctx context.Context, _ *hourbell.Job[Note]) error {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return ctx.Err()
	}, hourbell.DefaultTimeout(20*time.Millisecond))
	client := c.client(workers)
	c.run(client)
	if _, err := client.Enqueue(t.Context(), Note{}, hourbell.MaxAttempts(1)); err != nil {
		t.Fatal(err)
	}
	if cause := <-causes; !errors.Is(cause, hourbell.ErrTimeout) {
		t.Fatalf("cause %v", cause)
	}
}

func TestCancelReachesARunningJob(t *testing.T) {
	c := newCluster(t)
	started := make(chan struct{})
	runner := c.client(noteWorkers(func(ctx context.Context, _ *hourbell.Job[Note]) error {
		close(started)
		<-ctx.Done()
		return context.Cause(ctx)
	}))
	c.run(runner)
	elsewhere := c.client(nil)
	added, err := elsewhere.Enqueue(t.Context(), Note{})
	if err != nil {
		t.Fatal(err)
	}
	<-started
	changes, err := elsewhere.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{added.ID}})
	if err != nil || changes.Requested != 1 || len(changes.Jobs) != 1 {
		t.Fatalf("cancel: %v, %v", changes, err)
	}
	eventually(t, "cancelled", func() bool { return state(t, elsewhere, added.ID) == store.StateCancelled })
}

// TestStopHandsBackWithTheAttemptRefunded checks that a stop ends in time and hands the jobs back whose workers return, and that
// the node keeps the jobs of workers that do not, until they return: one of them with a result, and one with an error.
func TestStopHandsBackWithTheAttemptRefunded(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		started := make(chan struct{}, 6)
		deaf := make(chan struct{})
		client := c.client(noteWorkers(func(ctx context.Context, job *hourbell.Job[Note]) error {
			started <- struct{}{}
			if job.Args.Text == "deaf" {
				<-deaf
				return nil
			}
			if job.Args.Text == "deaf, fails" {
				<-deaf
				return errors.New("late")
			}
			<-ctx.Done()
			return ctx.Err()
		}), func(cfg *hourbell.Config) { cfg.Drain = 50 * time.Millisecond })
		stop := c.run(client)
		var ids []int64
		for _, options := range [][]hourbell.Option{{}, {hourbell.OnLoss(hourbell.FailOnLoss)}} {
			for _, text := range []string{"good", "deaf, fails", "deaf"} {
				added, err := client.Enqueue(t.Context(), Note{Text: text}, options...)
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, added.ID)
			}
		}
		for range ids {
			<-started
		}
		begun := time.Now()
		stop()
		if took := time.Since(begun); took > 2*time.Second {
			t.Fatalf("the stop took %v", took)
		}
		check := func(deafEnded bool) {
			t.Helper()
			for i, id := range ids {
				job, err := client.Jobs.Get(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				switch deaf := i%3 > 0; {
				case deaf && !deafEnded:
					if job.State != store.StateRunning || job.Attempt != 1 {
						t.Errorf("job %d, whose worker runs, is %v", i, job.State)
					}
				case i%3 == 2:
					if job.State != store.StateCompleted {
						t.Errorf("job %d, whose worker returned late, is %v", i, job.State)
					}
				case i < 3 && (job.State != store.StateReady || job.Attempt != 0):
					t.Errorf("job %d: %v with attempt %d, want it ready with the attempt refunded", i, job.State, job.Attempt)
				case i >= 3 && (job.State != store.StateFailed || !strings.Contains(job.Reason, "lost")):
					t.Errorf("job %d must not start twice: %v, reason %q", i, job.State, job.Reason)
				}
			}
		}
		check(false)
		if n := client.Events.Counts()[event.WorkersRemain]; n != 1 {
			t.Errorf("%d events of workers that remain", n)
		}
		close(deaf)
		<-client.Done()
		check(true)
		nodes, err := client.Nodes.List(t.Context())
		if err != nil || len(nodes) != 1 || nodes[0].EndedAt.IsZero() || nodes[0].Died {
			t.Fatalf("nodes after the stop: %+v, %v", nodes, err)
		}
	})
}

func TestLifecycle(t *testing.T) {
	c := newCluster(t)
	early := c.client(nil)
	if err := early.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := early.Run(t.Context()); !errors.Is(err, hourbell.ErrStopped) {
		t.Fatalf("Run after an early Stop: %v", err)
	}

	client := c.client(nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	eventually(t, "the node registered", func() bool {
		nodes, err := client.Nodes.List(t.Context())
		return err == nil && len(nodes) == 1
	})
	if err := client.Run(t.Context()); !errors.Is(err, hourbell.ErrRunning) {
		t.Fatalf("second Run: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatalf("Run after its context ended: %v", err)
	}
	for range 2 {
		if err := client.Stop(t.Context()); err != nil {
			t.Fatalf("Stop of a stopped client: %v", err)
		}
	}
	if err := client.Run(t.Context()); !errors.Is(err, hourbell.ErrStopped) {
		t.Fatalf("Run of a stopped client: %v", err)
	}
}

func TestStopCutShort(t *testing.T) {
	c := newCluster(t)
	started := make(chan struct{})
	client := c.client(noteWorkers(func(ctx context.Context, _ *hourbell.Job[Note]) error {
		close(started)
		<-ctx.Done()
		return ctx.Err()
	}), func(cfg *hourbell.Config) { cfg.Drain = time.Hour })
	done := make(chan error, 1)
	go func() { done <- client.Run(context.Background()) }()
	if _, err := client.Enqueue(t.Context(), Note{}); err != nil {
		t.Fatal(err)
	}
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := client.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Stop returned %v", err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestSubscribe(t *testing.T) {
	c := newCluster(t)
	client := c.client(noteWorkers(func(context.Context, *hourbell.Job[Note]) error { return nil }))
	events, stop := client.Events.Subscribe(100)
	claimed, stopClaimed := client.Events.Subscribe(100, event.Selection{Kinds: []event.Kind{event.JobsClaimed}}, event.Selection{JobKinds: []string{"other"}})
	c.run(client)
	added, err := client.Enqueue(t.Context(), Note{})
	if err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if e.Kind == event.Step {
			t.Errorf("a step: %+v", e)
		}
		if e.Kind == event.JobCompleted {
			if n := client.Events.Counts()[event.JobCompleted]; n != 1 {
				t.Errorf("%d completed jobs are counted", n)
			}
			if e.Job != added.ID || e.JobKind != "note" || e.Queue != "default" {
				t.Fatalf("event: %+v", e)
			}
			break
		}
	}
	stop()
	stop()
	for range events { // closed
	}
	if e := <-claimed; e.Kind != event.JobsClaimed {
		t.Errorf("a reader of claims receives %+v", e)
	}
	stopClaimed()
	for e := range claimed {
		t.Errorf("a reader of claims receives %+v", e)
	}
}

// TestStepsOnlyOnRequest counts what two readers of the same node receive: without selections every event but the steps of
// the loops, which are most of the events of a node, and with a selection the steps alone.
func TestStepsOnlyOnRequest(t *testing.T) {
	c := newCluster(t)
	client := c.client(noteWorkers(func(context.Context, *hourbell.Job[Note]) error { return nil }))
	const enough = 100_000
	events, stop := client.Events.Subscribe(enough)
	steps, stopSteps := client.Events.Subscribe(enough, event.Selection{Kinds: []event.Kind{event.Step}})
	leave := c.run(client)
	for range 10 {
		if _, err := client.Enqueue(t.Context(), Note{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the jobs have ended, and the loops have made steps", func() bool {
		counts := client.Events.Counts()
		return counts[event.JobCompleted] == 10 && counts[event.Step] >= 20
	})
	leave()
	stop()
	stopSteps()
	received := map[event.Kind]int64{}
	for e := range events {
		received[e.Kind]++
	}
	if received[event.Step] != 0 {
		t.Errorf("a reader without selections receives %d steps", received[event.Step])
	}
	want := client.Events.Counts()
	n := int64(0)
	for e := range steps {
		if n++; e.Kind != event.Step {
			t.Errorf("a reader of steps receives %+v", e)
		}
	}
	if n != want[event.Step] {
		t.Errorf("a reader of steps receives %d of %d", n, want[event.Step])
	}
	delete(want, event.Step)
	if !maps.Equal(received, want) {
		t.Errorf("a reader without selections receives %v, want %v", received, want)
	}
}

// TestADoubtfulRuleIsAnEvent puts a rule that looks like a rule of Quartz.
func TestADoubtfulRuleIsAnEvent(t *testing.T) {
	client := newCluster(t).client(nil)
	events, stop := client.Events.Subscribe(10)
	defer stop()
	for _, rule := range []recur.Spec{recur.Cron("0 0 9 ? * MON-FRI"), recur.Cron("0 0 9 ? * 2-6"), {Cron: "0 0 9 ? * 2-6", Dialect: recur.Quartz}} {
		if _, err := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "morning", Rule: rule, Job: Note{}}); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	var found []event.Event
	for e := range events {
		found = append(found, e)
	}
	if len(found) != 1 || found[0].Kind != event.ScheduleDoubtful || found[0].Schedule != "morning" ||
		!strings.Contains(found[0].Detail, "in Quartz it is Monday to Friday; choose the dialect") {
		t.Errorf("events: %+v", found)
	}
}

func TestBadInputChangesNothing(t *testing.T) {
	c := newCluster(t)
	client := c.client(nil)
	good := hourbell.Schedule{Name: "n", Rule: recur.Spec{Every: "1h"}, Job: hourbell.RawArgs{Name: "k"}}
	for name, spoil := range map[string]func(*hourbell.Schedule){
		"empty name":  func(s *hourbell.Schedule) { s.Name = "" },
		"long name":   func(s *hourbell.Schedule) { s.Name = strings.Repeat("x", 201) },
		"NUL":         func(s *hourbell.Schedule) { s.Name = "a\x00b" },
		"not UTF-8":   func(s *hourbell.Schedule) { s.Name = "a\xff" },
		"outer space": func(s *hourbell.Schedule) { s.Name = "a " },
		"no rule":     func(s *hourbell.Schedule) { s.Rule = recur.Spec{} },
		"two rules":   func(s *hourbell.Schedule) { s.Rule.Cron = "* * * * *" },
		"zone":        func(s *hourbell.Schedule) { s.Rule.Zone = "Mars/Base" },
		"priority":    func(s *hourbell.Schedule) { s.Priority = 10 },
		"attempts":    func(s *hourbell.Schedule) { s.MaxAttempts = -1 },
		"args":        func(s *hourbell.Schedule) { s.Job = hourbell.RawArgs{Name: "k", JSON: []byte("{")} },
		"huge args": func(s *hourbell.Schedule) {
			s.Job = hourbell.RawArgs{Name: "k", JSON: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)}
		},
		"timeout":      func(s *hourbell.Schedule) { s.Timeout = -time.Second },
		"overlap":      func(s *hourbell.Schedule) { s.Overlap = "sometimes" },
		"empty kind":   func(s *hourbell.Schedule) { s.Job = hourbell.RawArgs{} },
		"no job":       func(s *hourbell.Schedule) { s.Job = nil },
		"invalid job":  func(s *hourbell.Schedule) { s.Job = encodedNote{} },
		"newline kind": func(s *hourbell.Schedule) { s.Job = hourbell.RawArgs{Name: "a\nb"} },
	} {
		bad := good
		spoil(&bad)
		if _, err := client.Schedules.Put(t.Context(), bad); err == nil {
			t.Errorf("%s: accepted", name)
		} else if len(err.Error()) > 500 {
			t.Errorf("%s: a message of %d bytes", name, len(err.Error()))
		}
	}
	for name, option := range map[string]hourbell.Option{
		"queue":    hourbell.Queue("\x01"),
		"priority": hourbell.Priority(0),
		"attempts": hourbell.MaxAttempts(1001),
		"in":       hourbell.In(-1),
		"at":       hourbell.At(time.Time{}),
		"timeout":  hourbell.Timeout(-1),
		"tx":       hourbell.InTx(nil),
		"unique":   hourbell.Unique(""),
	} {
		if _, err := client.Enqueue(t.Context(), Note{}, option); err == nil {
			t.Errorf("option %s: accepted", name)
		}
	}
	if _, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "x", JSON: []byte("nope")}); err == nil {
		t.Error("args that are no JSON: accepted")
	}
	if _, err := client.EnqueueMany(t.Context(), []hourbell.Request{{Args: Note{}}, {Args: Note{}}}, hourbell.Unique("key")); err == nil {
		t.Error("one key for two jobs: accepted")
	}
	if jobs, _ := client.Jobs.List(t.Context(), hourbell.JobFilter{}); len(jobs) != 0 {
		t.Errorf("bad input stored %d jobs", len(jobs))
	}
	if schedules, _ := client.Schedules.List(t.Context(), hourbell.ScheduleFilter{}); len(schedules) != 0 {
		t.Errorf("bad input stored %d schedules", len(schedules))
	}
	if _, err := hourbell.New(c.store, hourbell.Config{Lease: time.Second, Heartbeat: time.Second, Queues: map[string]int{"": 0}}); err == nil {
		t.Error("a heartbeat as long as the lease: accepted")
	}
}

// migrated is a memory store that reports a schema.
type migrated struct {
	*memory.Store
	ups atomic.Int32
	err error
}

func (m *migrated) MigrateUp(context.Context) ([]store.Migration, error) {
	m.ups.Add(1)
	return nil, m.err
}

func (m *migrated) MigrateStatus(context.Context) ([]store.MigrationStatus, error) { return nil, nil }
func (m *migrated) Migrations() []store.Migration                                  { return nil }

func TestRunCreatesTheSchemaUnlessToldNotTo(t *testing.T) {
	for _, not := range []bool{false, true} {
		backend := &migrated{Store: memory.New()}
		client, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler), NoMigrate: not})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = client.Run(ctx) // may fail to register: its context has ended
		if ran := backend.ups.Load() == 1; ran == not {
			t.Errorf("NoMigrate %v: %d migrations", not, backend.ups.Load())
		}
	}
	backend := &migrated{Store: memory.New(), err: errors.New("no rights")}
	client, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no rights") {
		t.Errorf("a schema that cannot be made: %v", err)
	}
}
