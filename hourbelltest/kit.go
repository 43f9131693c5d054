// Package hourbelltest is for tests of programs that use Hourbell. A [Kit] has a client whose node
// runs jobs and fires slots only when the test says so, and a clock that only the test moves:
//
//	kit := hourbelltest.New(t, hourbell.Config{Workers: workers})
//	signUp(ctx, kit.Client, "ada@example.org")
//	kit.RequireEnqueued(Welcome{To: "ada@example.org"})
//	kit.RunDue()                   // the welcome is sent
//	kit.Advance(30 * 24 * time.Hour) // and everything that a month brings
//
// A kit is over a store in memory ([New]) or over any other store ([Over]). One call moves the clock
// of the store and of all nodes over Kit.Backend together, from instant to instant at which something
// is due, and returns when what became due has been done. No other code can move the clock of a
// client.
//
// When the test ends, the kit stops its client, and the test fails if goroutines that it started
// still run. A test may make several kits, each with a store and a clock of its own.
//
// The methods of a kit are called by the goroutine of the test, because they may end the test.
package hourbelltest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/travel"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// Kit is a store for one test, with a client and a clock.
type Kit struct {
	// Client is a client of the store. Its node has the workers of the configuration; it also fires the
	// slots of schedules if there are none.
	Client *hourbell.Client
	// Backend is the store under the kit's clock, for further clients: hourbell.New(kit.Backend, …). If
	// such a client runs (see Run), its node takes part in Advance, RunDue, Drain and Work too.
	Backend store.Backend

	t        testing.TB
	settings settings
	clock    *travel.Clock
	newest   int64 // the number of the newest job when the kit was made

	mu      sync.Mutex
	errs    map[store.ClaimRef]error // that workers of Client have returned
	inserts []insertInTx
}

// settings are what options set.
type settings struct {
	start    time.Time
	patience time.Duration
	ignored  []string
}

// Option is an option of New and Over.
type Option func(*settings)

// StartAt sets the instant that the kit's clock shows at first, for tests of rules that depend on the
// date. Default: the present of the store, in microseconds.
func StartAt(at time.Time) Option { return func(s *settings) { s.start = at } }

// Patience sets how long, by the clock of the process, a call of the kit waits until everything that
// is due has been done. Then the test fails, and the message names the jobs that still run. Default
// 10 s.
func Patience(d time.Duration) Option { return func(s *settings) { s.patience = d } }

// IgnoreGoroutines lets goroutines outlive the test whose stacks contain a function with one of these
// texts in its name, such as "example.org/pool.(*Pool).watch".
func IgnoreGoroutines(functions ...string) Option {
	return func(s *settings) { s.ignored = append(s.ignored, functions...) }
}

// New returns a kit over a new store in memory, and starts a node with the workers of cfg.
func New(t testing.TB, cfg hourbell.Config, options ...Option) *Kit {
	t.Helper()
	return Over(t, memory.New(), cfg, options...)
}

// Over returns a kit over the store of a driver, which the test opens and closes, and starts a node
// with the workers of cfg. It creates the schema, unless cfg.NoMigrate is set. All clients of the
// store that run must be over Kit.Backend, because others would go by another clock: give each test a
// schema, a database or a file of its own.
func Over(t testing.TB, backend store.Backend, cfg hourbell.Config, options ...Option) *Kit {
	t.Helper()
	k := &Kit{t: t, settings: settings{patience: 10 * time.Second}, errs: map[store.ClaimRef]error{}}
	for _, option := range options {
		option(&k.settings)
	}
	if backend == nil {
		t.Fatal("hourbelltest: the backend is nil; pass what a driver's Open has returned")
	}
	if travel.Of(backend) != nil {
		t.Fatal("hourbelltest: the backend belongs to another kit; make further clients with hourbell.New(kit.Backend, …)")
	}
	goroutines := markGoroutines(t, k, append(k.settings.ignored, packageOf(backend)))
	ctx := t.Context()
	if k.settings.start.IsZero() {
		now, err := backend.Now(ctx)
		if err != nil {
			t.Fatalf("hourbelltest: read the store's clock: %v", err)
		}
		k.settings.start = now
	}
	k.clock = travel.NewClock(k.settings.start)
	k.Backend = recorder{k.clock.Over(backend), k}

	if cfg.Logger == nil { // lines have the kit's time
		cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: k.atOwnTime}))
	}
	cfg.WorkMiddleware = append([]hourbell.WorkMiddleware{k.keepError}, cfg.WorkMiddleware...)
	client, err := hourbell.New(k.Backend, cfg)
	if err != nil {
		t.Fatalf("hourbelltest: %v", err)
	}
	k.Client = client
	if !cfg.NoMigrate {
		if err := client.Migrate(ctx); err != nil {
			t.Fatalf("hourbelltest: %v", err)
		}
	}
	newest, err := client.Jobs.List(ctx, hourbell.JobFilter{Limit: 1})
	if err != nil {
		t.Fatalf("hourbelltest: %v", err)
	}
	if len(newest) > 0 {
		k.newest = newest[0].ID
	}
	t.Cleanup(func() { goroutines.check(t) })
	k.Run(client)
	return k
}

// atOwnTime gives lines of the log the time that the kit's clock shows.
func (k *Kit) atOwnTime(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.TimeKey {
		attr.Value = slog.TimeValue(k.clock.Now())
	}
	return attr
}

// joining is how long a node may take to register, also with a migration.
const joining = 30 * time.Second

// Run runs a client over Kit.Backend, such as a client that the program under test has made, and
// returns when its node is registered. The client is stopped when the test ends.
func (k *Kit) Run(client *hourbell.Client) {
	k.t.Helper()
	ended, before := make(chan error, 1), k.clock.Joined()
	go func() { ended <- client.Run(context.WithoutCancel(k.t.Context())) }()
	for begun := time.Now(); k.clock.Joined() == before; {
		select {
		case err := <-ended:
			k.t.Fatalf("hourbelltest: run the client: %v", errors.Join(err, errors.New("it has ended")))
		case <-time.After(100 * time.Microsecond):
		}
		if time.Since(begun) > joining {
			k.t.Fatalf("hourbelltest: run the client: its node is not registered within %v; was the client made with hourbell.New(kit.Backend, …)?", joining)
		}
	}
	k.t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel() // jobs that still run are cancelled at once
		_ = client.Stop(now)
		if err := <-ended; err != nil {
			k.t.Errorf("hourbelltest: stop the client: %v", err)
		}
	})
}

// keepError keeps the errors of workers, as they are, for Attempt.Err.
func (k *Kit) keepError(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
	err := next(ctx, job)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.errs[store.ClaimRef{ID: job.ID, Token: job.Token}] = err
	return err
}

// fail ends the test if err is not nil.
func (k *Kit) fail(what string, err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatalf("hourbelltest: %s: %v", what, err)
	}
}
