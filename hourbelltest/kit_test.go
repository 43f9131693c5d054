package hourbelltest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// fakeT is the testing.TB of a test within a test: it keeps the messages of the test.
type fakeT struct {
	testing.TB
	name     string
	ctx      context.Context
	cleanups []func()
	messages strings.Builder
	log      logged
}

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *logged) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (f *fakeT) Name() string             { return f.name }
func (f *fakeT) Helper()                  {}
func (f *fakeT) Context() context.Context { return f.ctx }
func (f *fakeT) Output() io.Writer        { return &f.log }
func (f *fakeT) Cleanup(do func())        { f.cleanups = append(f.cleanups, do) }

func (f *fakeT) Error(args ...any) { fmt.Fprintln(&f.messages, args...) }

func (f *fakeT) Errorf(format string, args ...any) { fmt.Fprintf(&f.messages, format+"\n", args...) }

func (f *fakeT) Fatal(args ...any) {
	f.Error(args...)
	runtime.Goexit()
}

func (f *fakeT) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// run runs a test in a goroutine of its own, as package testing does, and returns its messages.
func run(name string, test func(t testing.TB)) string {
	f := runFake(name, test)
	return f.messages.String()
}

// runFake is run. It returns the messages and the log.
func runFake(name string, test func(t testing.TB)) *fakeT {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := &fakeT{name: name, ctx: ctx}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			for len(f.cleanups) > 0 {
				last := len(f.cleanups) - 1
				do := f.cleanups[last]
				f.cleanups = f.cleanups[:last]
				do()
			}
		}()
		test(f)
	}()
	<-ended
	return f
}

type report struct {
	Year int `json:"year"`
}

func (report) Kind() string { return "report" }

// reports returns workers whose reports do what the function does.
func reports(do func(ctx context.Context, job *hourbell.Job[report]) error) *hourbell.Workers {
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, do)
	return workers
}

func enqueue(t testing.TB, kit *hourbelltest.Kit, args hourbell.Args, options ...hourbell.Option) int64 {
	t.Helper()
	job, err := kit.Client.Enqueue(t.Context(), args, options...)
	if err != nil {
		t.Fatal(err)
	}
	return job.ID
}

func nothing(context.Context, *hourbell.Job[report]) error { return nil }

// TestFailures checks what the messages of a kit say.
func TestFailures(t *testing.T) {
	cfg := hourbell.Config{Workers: reports(nothing)}
	start := hourbelltest.StartAt(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for name, test := range map[string]struct {
		test func(t testing.TB)
		want []string
	}{
		"well": {func(t testing.TB) {
			kit := hourbelltest.New(t, cfg)
			enqueue(t, kit, report{2026})
			kit.RunDue()
			kit.RequireEnqueued(report{2026})
		}, nil},
		"nothing enqueued": {func(t testing.TB) {
			hourbelltest.New(t, cfg).RequireEnqueued(report{2026}, hourbell.Queue("slow"), hourbell.In(time.Hour))
		}, []string{`a job of kind report (args {"year":2026}, queue slow, due 1h0m0s after it was made) was not enqueued; no job of the kind was`}},
		"others enqueued": {func(t testing.TB) {
			kit := hourbelltest.New(t, cfg)
			enqueue(t, kit, report{2025})
			enqueue(t, kit, report{2026}, hourbell.Priority(2), hourbell.In(time.Minute))
			kit.RequireEnqueued(report{2026}, hourbell.Priority(5), hourbell.In(time.Hour))
		}, []string{`2 jobs of the kind were:`, `job 1: args {"year":2025}`, `job 2: priority 2, due at`, `1m0s after it was made`}},
		"two enqueued": {func(t testing.TB) {
			kit := hourbelltest.New(t, cfg)
			enqueue(t, kit, report{2026})
			enqueue(t, kit, report{2026})
			kit.RequireEnqueued(report{2026})
		}, []string{"was enqueued 2 times, as the jobs [1 2]"}},
		"one too many": {func(t testing.TB) {
			kit := hourbelltest.New(t, cfg)
			enqueue(t, kit, report{2026})
			kit.RequireNotEnqueued(hourbelltest.Any("report"))
		}, []string{"a job of kind report (any args) was enqueued, as the jobs [1]"}},
		"wrong option": {func(t testing.TB) {
			hourbelltest.New(t, cfg).RequireEnqueued(report{2026}, hourbell.Priority(11))
		}, []string{"priority"}},
		"back in time": {func(t testing.TB) {
			hourbelltest.New(t, cfg, start).TravelTo(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
		}, []string{"the clock shows 2026-01-01 00:00:00 +0000 UTC and cannot go back"}},
		"work without a worker": {func(t testing.TB) {
			hourbelltest.New(t, hourbell.Config{}).Work(report{2026})
		}, []string{"job 1 of kind report did not run: no running client over Kit.Backend has a worker of the kind"}},
		"work too early": {func(t testing.TB) {
			hourbelltest.New(t, cfg, start).Work(report{2026}, hourbell.In(time.Hour))
		}, []string{"it is due at 2026-01-01 01:00:00 +0000 UTC"}},
		"a worker that waits": {func(t testing.TB) {
			kit := hourbelltest.New(t, hourbell.Config{Workers: reports(func(ctx context.Context, _ *hourbell.Job[report]) error {
				<-ctx.Done()
				return ctx.Err()
			})}, hourbelltest.Patience(50*time.Millisecond))
			enqueue(t, kit, report{2026})
			kit.RunDue()
		}, []string{"still running: job 1 (kind report, attempt 1)", "uses hourbelltest.Sleep"}},
		"jobs that Drain leaves": {func(t testing.TB) {
			kit := hourbelltest.New(t, hourbell.Config{Workers: reports(func(context.Context, *hourbell.Job[report]) error { return nil })})
			enqueue(t, kit, report{2026}, hourbell.Queue("mails"))
			enqueue(t, kit, report{2027}, hourbell.In(time.Hour))
			enqueue(t, kit, letter{}, hourbell.In(time.Hour))
			kit.Drain()
		}, []string{"drain: 2 jobs are left", `job 1 (report): no running client over Kit.Backend that has a worker of the kind serves the queue "mails"; add it to Config.Queues`, "job 3 (letter): no running client over Kit.Backend has a worker of the kind"}},
		"a job that Drain leaves": {func(t testing.TB) {
			kit := hourbelltest.New(t, cfg)
			enqueue(t, kit, letter{})
			kit.Drain()
		}, []string{"drain: 1 job is left:\n\tjob 1 (letter): no running client"}},
		"jobs that are due too late for Drain": {func(t testing.TB) {
			kit := hourbelltest.New(t, cfg, start)
			enqueue(t, kit, report{2026}, hourbell.In(400*24*time.Hour))
			first := enqueue(t, kit, letter{}, hourbell.Queue("mails"))
			enqueue(t, kit, report{2027}, hourbell.After(first, hourbell.OnSuccess, 0))
			kit.Drain()
		}, []string{
			"drain: 3 jobs are left after the clock has moved from 2026-01-01 00:00:00 +0000 UTC to ", "a job is due later than in a year", "use Advance",
			"job 1 (report): it is due at 2027-02-05 00:00:00 +0000 UTC, and the clock shows 2026", "job 2 (letter): no running client",
			"job 3 (report): it waits for job 2 (success)",
		}},
		"jobs of a paused queue": {func(t testing.TB) {
			kit := hourbelltest.New(t, cfg)
			if err := kit.Client.Queues.Pause(t.Context(), "default", hourbell.Pause{}); err != nil {
				t.Fatal(err)
			}
			enqueue(t, kit, report{2026})
			kit.Drain()
		}, []string{`drain: 1 job is left:`, `job 1 (report): the queue "default" is paused`}},
		"jobs that are parked": {func(t testing.TB) {
			kit := hourbelltest.New(t, hourbell.Config{Workers: reports(func(ctx context.Context, job *hourbell.Job[report]) error {
				if err := job.Sleep(ctx, 72*time.Hour); err != nil {
					return err
				}
				_, err := hourbell.Wait[string](ctx, job, "approval", time.Duration(job.Args.Year)*time.Hour)
				return err
			})}, start)
			enqueue(t, kit, report{0})
			enqueue(t, kit, report{24}, hourbell.In(time.Hour))
			kit.Drain()
		}, []string{
			"drain: 2 jobs are left:", `job 1 (report): it is parked: it waits for the signal "approval", without end; send the signal with kit.Signal`,
			`job 2 (report): it is parked: it waits for the signal "approval" until 2026-01-05 01:00:00 +0000 UTC; send the signal with kit.Signal, or let`,
		}},
		"children that are left": {func(t testing.TB) {
			kit := hourbelltest.New(t, hourbell.Config{Workers: reports(func(ctx context.Context, job *hourbell.Job[report]) error {
				if err := job.Spawn(ctx, welcome{To: "ada"}); err != nil {
					return err
				}
				return job.WaitChildren(ctx)
			})}, start)
			enqueue(t, kit, report{2026})
			kit.Drain()
		}, []string{"drain: 3 jobs are left:", `job 1 (report): it is parked: it waits for its children, the jobs of batch 1`}},
		"a job that sleeps": {func(t testing.TB) {
			kit := hourbelltest.New(t, hourbell.Config{Workers: reports(func(ctx context.Context, job *hourbell.Job[report]) error {
				return job.Sleep(ctx, 400*24*time.Hour)
			})}, start)
			enqueue(t, kit, report{2026})
			kit.Drain()
		}, []string{"a job is due later than in a year", `job 1 (report): it is parked: its step "sleep 1" sleeps until 2027-02-05 00:00:00 +0000 UTC; move the clock with Advance`}},
		"another enqueued": {func(t testing.TB) {
			kit := hourbelltest.New(t, cfg)
			enqueue(t, kit, report{2025})
			kit.RequireEnqueued(report{2026})
		}, []string{"was not enqueued; another job of the kind was:\n\tjob 1: args"}},
		"a job for ever": {func(t testing.TB) {
			kit := hourbelltest.New(t, hourbell.Config{Workers: reports(func(context.Context, *hourbell.Job[report]) error {
				return hourbell.Snooze(30 * 24 * time.Hour)
			})})
			enqueue(t, kit, report{2026})
			kit.Drain()
		}, []string{"drain: 1 job is left after the clock has moved from", "or snoozes or makes jobs for ever", "job 1 (report): it is due at "}},
		"goroutines": {func(t testing.TB) {
			kit := hourbelltest.New(t, hourbell.Config{Workers: reports(func(context.Context, *hourbell.Job[report]) error {
				go sleepForAWhile()
				return nil
			})})
			kit.Work(report{2026})
		}, []string{"goroutines outlive the test", "sleepForAWhile"}},
		"two kits": {func(t testing.TB) {
			one, other := hourbelltest.New(t, cfg, start), hourbelltest.New(t, hourbell.Config{Workers: sleepers()}, start)
			enqueue(t, one, report{2026})
			enqueue(t, other, report{2026})
			if got := len(one.RunDue()) + len(other.RunDue()); got != 1 {
				t.Errorf("%d attempts have ended, want that of the report that does not sleep", got)
			}
			one.Advance(time.Hour)
			if !other.Now().Equal(one.Now().Add(-time.Hour)) {
				t.Errorf("the clocks show %v and %v", one.Now(), other.Now())
			}
			other.KillNode(1)
			if got := other.Advance(3 * time.Hour); len(got) != 1 || got[0].Attempt != 2 {
				t.Errorf("attempts after a death: %v", got)
			}
			other.Drain()
			one.Drain()
		}, nil},
		"goroutines of the first of two kits": {func(t testing.TB) {
			one := hourbelltest.New(t, hourbell.Config{Workers: reports(func(context.Context, *hourbell.Job[report]) error {
				go sleepForAWhile()
				return nil
			})})
			hourbelltest.New(t, cfg)
			one.Work(report{2026})
		}, []string{"goroutines outlive the test", "sleepForAWhile"}},
		"goroutines that are ignored": {func(t testing.TB) {
			kit := hourbelltest.New(t, cfg, hourbelltest.IgnoreGoroutines("hourbelltest_test.sleepForAWhile"))
			go sleepForAWhile()
			kit.RunDue()
		}, nil},
		"goroutines of other tests": {func(t testing.TB) {
			started := make(chan struct{})
			go func() { close(started); sleepForAWhile() }()
			<-started
			hourbelltest.New(t, cfg)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(name, test.test)
			if test.want == nil && got != "" {
				t.Errorf("messages:\n%s", got)
			}
			for _, part := range test.want {
				if !strings.Contains(got, part) {
					t.Errorf("messages:\n%s\nwant %q", got, part)
				}
			}
		})
	}
}

// sleepers returns workers whose reports take an hour.
func sleepers() *hourbell.Workers {
	return reports(func(ctx context.Context, _ *hourbell.Job[report]) error { return hourbelltest.Sleep(ctx, time.Hour) })
}

// TestTheLogHasTheClockOfTheKit checks that the lines of a kit's log have the time of the kit.
func TestTheLogHasTheClockOfTheKit(t *testing.T) {
	f := runFake("TestLog", func(t testing.TB) {
		kit := hourbelltest.New(t, hourbell.Config{Workers: sleepers()}, hourbelltest.StartAt(time.Date(2031, 2, 3, 4, 0, 0, 0, time.UTC)))
		id := enqueue(t, kit, report{2031})
		kit.Advance(30 * time.Minute)
		kit.KillNode(id) // which is worth a warning
	})
	if got := f.messages.String(); got != "" {
		t.Error(got)
	}
	n := 0
	for line := range strings.Lines(f.log.text.String()) {
		if n++; !strings.HasPrefix(line, "time=2031-02-03T04:30:00.000Z level=") {
			t.Errorf("a line has another time: %s", line)
		}
	}
	if n == 0 {
		t.Error("the log is empty")
	}
}

// sleepForAWhile sleeps for longer than goroutines may outlive a test.
func sleepForAWhile() { time.Sleep(4 * time.Second) }

// TestEachOptionIsCompared checks that an option is compared also if its value is the default, and only
// if it is given.
func TestEachOptionIsCompared(t *testing.T) {
	kit := hourbelltest.New(t, hourbell.Config{})
	all := []hourbell.Option{
		hourbell.Queue("q"), hourbell.Group("g"), hourbell.Priority(2), hourbell.MaxAttempts(3), hourbell.OnLoss(hourbell.FailOnLoss),
		hourbell.Timeout(time.Hour), hourbell.Key("k"), hourbell.Unique("u"), hourbell.In(time.Minute),
	}
	defaults := []hourbell.Option{
		hourbell.Queue("default"), hourbell.Priority(5), hourbell.MaxAttempts(25), hourbell.OnLoss(hourbell.RetryOnLoss), hourbell.Timeout(0),
	}
	id := enqueue(t, kit, report{1}, all...)
	plain := enqueue(t, kit, report{2})
	for i, option := range all {
		if got := kit.RequireEnqueued(hourbelltest.Any("report"), option).ID; got != id {
			t.Errorf("option %d finds job %d", i, got)
		}
	}
	for i, option := range defaults {
		if got := kit.RequireEnqueued(hourbelltest.Any("report"), option).ID; got != plain {
			t.Errorf("default %d finds job %d", i, got)
		}
	}
	kit.RequireEnqueued(report{1}, all...)
	kit.RequireEnqueued(report{1})
	if job := hourbelltest.Jobs[report](kit, hourbell.UniqueArgs()); len(job) != 0 {
		t.Errorf("%+v", job)
	}
}

// TestNothingRunsByItself checks that jobs and slots wait for the test, and that time stands still.
func TestNothingRunsByItself(t *testing.T) {
	ran := make(chan string, 10)
	kit := hourbelltest.New(t, hourbell.Config{PollIdle: time.Millisecond, Workers: reports(func(_ context.Context, job *hourbell.Job[report]) error {
		ran <- job.Origin
		return nil
	})})
	now := kit.Now()
	enqueue(t, kit, report{2026})
	if _, err := kit.Client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "soon", Rule: recur.At(now.Add(time.Minute)), Job: report{2027}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // 50 polls
	if len(ran) > 0 {
		t.Fatalf("a job of origin %s ran by itself", <-ran)
	}
	if got, err := kit.Client.Now(t.Context()); err != nil || !got.Equal(now) {
		t.Errorf("the clock shows %v, %v; it showed %v", got, err, now)
	}
	if got := kit.Advance(time.Minute); len(got) != 2 || len(ran) != 2 {
		t.Errorf("%d jobs ran, want the enqueued job and the job of the slot", len(ran))
	}
}

// TestErrorsOfWorkers checks that attempts have the errors of their workers, or of the node.
func TestErrorsOfWorkers(t *testing.T) {
	errFull := errors.New("the disk is full")
	kit := hourbelltest.New(t, hourbell.Config{Workers: reports(func(_ context.Context, job *hourbell.Job[report]) error {
		switch job.Args.Year {
		case 1:
			return fmt.Errorf("write: %w", errFull)
		case 2:
			panic("no paper")
		case 3:
			return hourbell.Cancel(errFull)
		}
		return nil
	})})
	for year, want := range []store.Result{store.Completed, store.Retry, store.Retry, store.Cancelled} {
		a := kit.Work(report{year})
		if a.Result != want || (year == 1 || year == 3) != errors.Is(a.Err, errFull) || (a.Err == nil) != (year == 0) {
			t.Errorf("year %d: %v", year, a)
		}
	}
	text := kit.Work(report{2}).String()
	if !strings.HasPrefix(text, "job 5 (report), attempt 1: retry in ") || !strings.HasSuffix(text, ": panic: no paper") {
		t.Error(text)
	}
}

// TestSleepOutsideOfAKit checks that Sleep waits for the process where there is no clock.
func TestSleepOutsideOfAKit(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := hourbelltest.Sleep(ctx, time.Millisecond); err != nil {
		t.Error(err)
	}
	gone := errors.New("gone")
	cancel(gone)
	if err := hourbelltest.Sleep(ctx, time.Hour); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// TestLimitsOfANode checks that a kit settles while the limits of a node keep due jobs waiting.
func TestLimitsOfANode(t *testing.T) {
	var admitted atomic.Bool
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(ctx context.Context, _ *hourbell.Job[report]) error { return hourbelltest.Sleep(ctx, time.Hour) }, hourbell.MaxRunning(2))
	hourbell.Register(workers, func(context.Context, *hourbell.Job[letter]) error { return nil })
	kit := hourbelltest.New(t, hourbell.Config{
		Workers: workers, Queues: map[string]int{"default": 3, "narrow": 1}, Admission: admitted.Load,
	})
	for range 3 {
		enqueue(t, kit, report{2026})
		enqueue(t, kit, letter{}, hourbell.Queue("narrow"))
	}
	if got := kit.RunDue(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	admitted.Store(true)
	if got := kit.RunDue(); len(got) != 3 {
		t.Errorf("%d attempts ended, want the 3 letters", len(got))
	}
	if running, err := kit.Client.Jobs.Count(t.Context(), hourbell.JobFilter{States: []store.State{store.StateRunning}}); err != nil || running != 2 {
		t.Errorf("%d reports run, %v; want 2", running, err)
	}
	if got := kit.Drain(); len(got) != 3 || !kit.Now().Equal(got[2].RunAt.Add(2*time.Hour)) {
		t.Errorf("%v until %v", got, kit.Now())
	}
}

type letter struct{}

func (letter) Kind() string { return "letter" }

// TestChildren checks that the kit runs a parent, its children, and the parent again.
func TestChildren(t *testing.T) {
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[report]) error {
		if err := job.Spawn(ctx, welcome{To: "ada"}, welcome{To: "bob"}); err != nil {
			return err
		}
		if err := job.WaitChildren(ctx); err != nil {
			return err
		}
		children, err := job.Children(ctx)
		if err != nil {
			return err
		}
		return job.SetResult(len(children))
	})
	hourbell.Register(workers, func(context.Context, *hourbell.Job[welcome]) error { return nil })
	kit := hourbelltest.New(t, hourbell.Config{Workers: workers})
	id := enqueue(t, kit, report{})
	kit.RunDue()
	job, err := kit.Client.Jobs.Get(t.Context(), id)
	if err != nil || string(job.Result) != "2" || job.Attempt != 1 {
		t.Errorf("the parent is %v after attempt %d, with the result %s: %v", job.State, job.Attempt, job.Result, err)
	}
}
