package gocron_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	hourbell "github.com/hourbell/hourbell/adapters/gocron"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

const (
	lease    = 600 * time.Millisecond
	patience = 10 * time.Second
)

func newLocks(t *testing.T, provider lock.Provider) *lock.Locker {
	t.Helper()
	locks, err := lock.New(provider, lock.Config{Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	return locks
}

// newLocker makes a Locker for one job named "job". Its log can be read after
// its schedulers are shut down.
func newLocker(t *testing.T, provider lock.Provider, opts lock.Options) (*hourbell.Locker, *bytes.Buffer) {
	t.Helper()
	var text bytes.Buffer
	locker, err := hourbell.New(newLocks(t, provider), hourbell.Config{
		Jobs:   map[string]lock.Options{"job": opts},
		Logger: slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return locker, &text
}

func wantLog(t *testing.T, text *bytes.Buffer, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text.String(), part) {
			t.Errorf("log is %q, want %q in it", text, part)
		}
	}
}

// start runs a task in its own scheduler. The channel receives the reason why
// it got no lock, or nil when the task began; stop shuts the scheduler down,
// which waits for the task.
func start(t *testing.T, locker gocron.Locker, task any, opts ...gocron.JobOption) (outcome <-chan error, stop func()) {
	t.Helper()
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		t.Fatal(err)
	}
	outcomes := make(chan error, 1)
	opts = append(opts, gocron.WithEventListeners(
		gocron.BeforeJobRuns(func(uuid.UUID, string) { outcomes <- nil }),
		gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) { outcomes <- err }),
	))
	_, err = scheduler.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), gocron.NewTask(task), opts...)
	if err != nil {
		t.Fatal(err)
	}
	scheduler.Start()
	return outcomes, func() {
		if err := scheduler.Shutdown(); err != nil {
			t.Error(err)
		}
	}
}

func await[T any](t *testing.T, what <-chan T) T {
	t.Helper()
	select {
	case got := <-what:
		return got
	case <-time.After(patience):
		t.Fatal("nothing happened in time")
		panic("unreachable")
	}
}

func TestTwoSchedulers(t *testing.T) {
	for _, test := range []struct {
		name    string
		opts    lock.Options
		overlap bool // the second job is due while the first runs, else later
		want    int32
		wantErr error
	}{
		{"locked body, at once", lock.Options{}, true, 1, lock.ErrHeld},
		{"locked body, one after the other", lock.Options{}, false, 2, nil},
		{"claimed slot, at once", lock.Options{Every: time.Hour}, true, 1, lock.ErrHeld},
		{"claimed slot, one after the other", lock.Options{Every: time.Hour}, false, 1, lock.ErrNotDue},
		{"wait for the other", lock.Options{Wait: patience}, true, 2, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			locker, text := newLocker(t, memory.New(), test.opts)
			var runs atomic.Int32
			ended := make(chan struct{})
			end := sync.OnceFunc(func() { close(ended) })
			task := func() { runs.Add(1); <-ended }

			first, stop := start(t, locker, task, gocron.WithName("job"))
			if err := await(t, first); err != nil {
				t.Fatal(err)
			}
			if !test.overlap {
				end()
				stop()
			}
			second, stop2 := start(t, locker, task, gocron.WithName("job"))
			if test.opts.Wait > 0 {
				time.AfterFunc(200*time.Millisecond, end)
			}
			err := await(t, second)
			end()
			stop2()
			if test.overlap {
				stop()
			}
			if got := runs.Load(); got != test.want {
				t.Errorf("the job ran %d times, want %d", got, test.want)
			}
			if !errors.Is(err, test.wantErr) {
				t.Errorf("gocron was told %v, want %v", err, test.wantErr)
			}
			if test.wantErr != nil {
				wantLog(t, text, "level=DEBUG", "job skipped", "job=job")
			}
		})
	}
}

func namedByNobody() {}

func TestInventedNameIsRefused(t *testing.T) {
	for _, task := range []func(){
		namedByNobody,
		func() {},
	} {
		locker, text := newLocker(t, memory.New(), lock.Options{})
		outcome, stop := start(t, locker, task)
		err := await(t, outcome)
		stop()
		if field := (*check.FieldError)(nil); !errors.As(err, &field) || field.Field != "name" {
			t.Errorf("got error %v, want one about the name", err)
		}
		wantLog(t, text, "level=ERROR", "job did not run", "gocron.WithName")
	}
}

func TestBadInputIsRefusedAtOnce(t *testing.T) {
	locks := newLocks(t, memory.New())
	for want, jobs := range map[string]map[string]lock.Options{
		"jobs is empty":           nil,
		"name is empty":           {"": {}, "job": {}},
		`job "b": every "1µs" is`: {"a": {}, "b": {Every: time.Microsecond}},
	} {
		_, err := hourbell.New(locks, hourbell.Config{Jobs: jobs})
		if field := (*check.FieldError)(nil); !errors.As(err, &field) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got error %v, want %q", jobs, err, want)
		}
	}
}

func TestStoreFailureIsLogged(t *testing.T) {
	locker, text := newLocker(t, broken{}, lock.Options{})
	outcome, stop := start(t, locker, func(context.Context) { t.Error("the job ran without a lock") }, gocron.WithName("job"))
	err := await(t, outcome)
	stop()
	if err == nil || !strings.Contains(err.Error(), "no route") {
		t.Errorf("gocron was told %v", err)
	}
	wantLog(t, text, "level=ERROR", "job did not run", "no route")
}

type broken struct{}

func (broken) TryLock(context.Context, lock.Request) (lock.Lease, error) {
	return nil, errors.New("no route")
}

func TestHeldIsTheRunsLock(t *testing.T) {
	locker, _ := newLocker(t, memory.New(), lock.Options{Every: time.Hour})
	found := make(chan *lock.Lock, 1)
	_, stop := start(t, locker, func(context.Context) {
		held, ok := locker.Held("job")
		if !ok || held.Context().Err() != nil || held.Slot().IsZero() {
			held = nil
		}
		found <- held
	}, gocron.WithName("job"))
	held := await(t, found)
	stop()
	if held == nil {
		t.Fatal("the job did not find its lock")
	}
	if held.Context().Err() == nil {
		t.Error("the lock lasts beyond the job")
	}
	if _, ok := locker.Held("job"); ok {
		t.Error("there is a lock while no job runs")
	}
}

func TestLostLockEndsContextAndIsLogged(t *testing.T) {
	t.Parallel()
	provider := memory.New()
	locker, text := newLocker(t, provider, lock.Options{})
	why := make(chan error, 1)
	_, stop := start(t, locker, func(ctx context.Context) {
		held, ok := locker.Held("job")
		if !ok {
			why <- nil
			return
		}
		if err := provider.ForceRelease(ctx, lock.ForceReleaseRequest{Name: "job"}); err != nil {
			why <- err
			return
		}
		<-held.Context().Done()
		if _, still := locker.Held("job"); !still {
			why <- context.Cause(held.Context())
		}
	}, gocron.WithName("job"))
	if err := await(t, why); !errors.Is(err, lock.ErrLost) {
		t.Errorf("the context ended with %v, want %v", err, lock.ErrLost)
	}
	stop()
	wantLog(t, text, "level=ERROR", lock.ErrLost.Error())
}

// A job that outlasted its at-most time is logged, although its lock could
// still be released.
func TestAtMostIsLogged(t *testing.T) {
	t.Parallel()
	locker, text := newLocker(t, memory.New(), lock.Options{AtMost: 400 * time.Millisecond})
	ended := make(chan struct{})
	_, stop := start(t, locker, func() {
		defer close(ended)
		if held, ok := locker.Held("job"); ok {
			await(t, held.Context().Done())
		}
	}, gocron.WithName("job"))
	await(t, ended)
	stop()
	wantLog(t, text, "level=ERROR", lock.ErrAtMost.Error())
}

// A shutdown ends the job's context and keeps the lock until the job has ended.
func TestShutdownKeepsLockUntilJobEnds(t *testing.T) {
	t.Parallel()
	provider := memory.New()
	locker, text := newLocker(t, provider, lock.Options{})
	others := newLocks(t, provider)
	whileEnding := make(chan error, 1)
	outcome, stop := start(t, locker, func(ctx context.Context) {
		<-ctx.Done()
		time.Sleep(2 * lease)
		_, err := others.Try(context.Background(), "job", lock.Options{})
		whileEnding <- err
	}, gocron.WithName("job"))
	if err := await(t, outcome); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := await(t, whileEnding); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("while the job ended its lock gave another %v, want %v", err, lock.ErrHeld)
	}
	if _, err := others.Try(context.Background(), "job", lock.Options{}); err != nil {
		t.Errorf("after the job: %v", err)
	}
	if strings.Contains(text.String(), "ERROR") {
		t.Errorf("log is %q", text)
	}
}
