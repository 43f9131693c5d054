package robfigcron_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/hourbell/hourbell/adapters/robfigcron"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

func newLocks(t *testing.T, config lock.Config) *lock.Locker {
	t.Helper()
	locks, err := lock.New(memory.New(), config)
	if err != nil {
		t.Fatal(err)
	}
	return locks
}

func newJob(t *testing.T, locks *lock.Locker, opts robfigcron.Options, fn func(context.Context, *lock.Lock) error) cron.Job {
	t.Helper()
	job, err := robfigcron.Job(locks, "job", opts, fn)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// logged returns a logger and its output.
func logged() (*slog.Logger, *bytes.Buffer) {
	var text bytes.Buffer
	return slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})), &text
}

func wantLog(t *testing.T, text *bytes.Buffer, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text.String(), part) {
			t.Errorf("log is %q, want %q in it", text, part)
		}
	}
}

// soon is a schedule that is due once, in a moment.
type soon time.Time

func (s soon) Next(after time.Time) time.Time {
	if time.Time(s).After(after) {
		return time.Time(s)
	}
	return time.Time{}
}

// strike runs a job in its own cron. The channel is closed when the job has
// ended, or was skipped.
func strike(t *testing.T, job cron.Job) <-chan struct{} {
	t.Helper()
	ended := make(chan struct{})
	c := cron.New(cron.WithChain(func(j cron.Job) cron.Job {
		return cron.FuncJob(func() { defer close(ended); j.Run() })
	}))
	c.Schedule(soon(time.Now().Add(50*time.Millisecond)), job)
	c.Start()
	t.Cleanup(func() { c.Stop() })
	return ended
}

func await(t *testing.T, what <-chan struct{}) {
	t.Helper()
	select {
	case <-what:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing happened in time")
	}
}

func TestTwoSchedulers(t *testing.T) {
	for _, test := range []struct {
		name    string
		opts    lock.Options
		overlap bool // the second job is due while the first runs, else later
		want    int32
	}{
		{"locked body, at once", lock.Options{}, true, 1},
		{"locked body, one after the other", lock.Options{}, false, 2},
		{"claimed slot, at once", lock.Options{Every: time.Hour}, true, 1},
		{"claimed slot, one after the other", lock.Options{Every: time.Hour}, false, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			logger, text := logged()
			once, err := robfigcron.Once(newLocks(t, lock.Config{}), "job", robfigcron.Options{Lock: test.opts, Logger: logger})
			if err != nil {
				t.Fatal(err)
			}
			var runs atomic.Int32
			began, end := make(chan struct{}, 2), make(chan struct{})
			job := cron.FuncJob(func() {
				runs.Add(1)
				began <- struct{}{}
				<-end
			})
			if !test.overlap {
				close(end)
			}
			first := strike(t, cron.NewChain(once).Then(job))
			await(t, began)
			if !test.overlap {
				await(t, first)
			}
			await(t, strike(t, cron.NewChain(once).Then(job)))
			if test.overlap {
				close(end)
			}
			await(t, first)
			if got := runs.Load(); got != test.want {
				t.Errorf("the job ran %d times, want %d", got, test.want)
			}
			if test.want == 1 {
				wantLog(t, text, "level=DEBUG", "job skipped", "job=job")
			}
		})
	}
}

func TestBadInputIsRefusedAtOnce(t *testing.T) {
	locks := newLocks(t, lock.Config{})
	for _, test := range []struct {
		name string
		opts lock.Options
		want string
	}{
		{"", lock.Options{}, "name is empty"},
		{" job", lock.Options{}, "white space"},
		{"job", lock.Options{Every: time.Microsecond}, "every"},
	} {
		opts := robfigcron.Options{Lock: test.opts}
		_, err := robfigcron.Once(locks, test.name, opts)
		_, err2 := robfigcron.Job(locks, test.name, opts, nil)
		for _, err := range []error{err, err2} {
			if field := (*check.FieldError)(nil); !errors.As(err, &field) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("name %q, %+v: got error %v, want %q", test.name, test.opts, err, test.want)
			}
		}
	}
}

func TestFailureIsLogged(t *testing.T) {
	logger, text := logged()
	job := newJob(t, newLocks(t, lock.Config{}), robfigcron.Options{Logger: logger}, func(context.Context, *lock.Lock) error {
		return errors.New("no paper")
	})
	job.Run()
	wantLog(t, text, "level=ERROR", "job failed", "job=job", "no paper")
}

// A job that fails because another lock is held does not count as skipped.
func TestFailureOnAnotherLockIsNoSkip(t *testing.T) {
	logger, text := logged()
	job := newJob(t, newLocks(t, lock.Config{}), robfigcron.Options{Logger: logger}, func(context.Context, *lock.Lock) error {
		return &lock.HeldError{Name: "other"}
	})
	job.Run()
	wantLog(t, text, "level=ERROR", "job failed")
}

func TestStoreFailureIsLogged(t *testing.T) {
	locks, err := lock.New(broken{}, lock.Config{})
	if err != nil {
		t.Fatal(err)
	}
	logger, text := logged()
	newJob(t, locks, robfigcron.Options{Logger: logger}, func(context.Context, *lock.Lock) error {
		t.Error("the job ran without a lock")
		return nil
	}).Run()
	wantLog(t, text, "level=ERROR", "job did not run", "no route")
}

type broken struct{}

func (broken) TryLock(context.Context, lock.Request) (lock.Lease, error) {
	return nil, errors.New("no route")
}

func TestLostLockEndsContext(t *testing.T) {
	provider := memory.New()
	locks, err := lock.New(provider, lock.Config{Lease: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	logger, text := logged()
	newJob(t, locks, robfigcron.Options{Logger: logger}, func(ctx context.Context, held *lock.Lock) error {
		if err := provider.ForceRelease(ctx, lock.ForceReleaseRequest{Name: held.Name()}); err != nil {
			return err
		}
		await(t, ctx.Done())
		return nil
	}).Run()
	wantLog(t, text, "level=ERROR", lock.ErrLost.Error())
}

func TestContextIsTheRuns(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(context.Background(), key{}, "value")
	ran := false
	newJob(t, newLocks(t, lock.Config{}), robfigcron.Options{Context: ctx}, func(ctx context.Context, held *lock.Lock) error {
		_, under := lock.Held(ctx, "job")
		ran = under && ctx.Value(key{}) == "value" && held.Token() == 1
		return nil
	}).Run()
	if !ran {
		t.Error("the job did not run under its lock and with its context")
	}
}

// told is a cron.Logger that keeps the last error.
type told struct {
	cron.Logger
	err error
}

func (l *told) Error(err error, _ string, _ ...any) { l.err = err }

func TestPanicReachesCronWithLockReleased(t *testing.T) {
	locks := newLocks(t, lock.Config{})
	once, err := robfigcron.Once(locks, "job", robfigcron.Options{})
	if err != nil {
		t.Fatal(err)
	}
	logger := &told{Logger: cron.DiscardLogger}
	cron.NewChain(cron.Recover(logger), once).Then(cron.FuncJob(func() { panic("out of ink") })).Run()
	if logger.err == nil || logger.err.Error() != "out of ink" {
		t.Errorf("cron.Recover was told %v", logger.err)
	}
	held, err := locks.Try(context.Background(), "job", lock.Options{})
	if err != nil {
		t.Fatalf("the lock is still held after the panic: %v", err)
	}
	if err := held.Release(context.Background()); err != nil {
		t.Error(err)
	}
}
