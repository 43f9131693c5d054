// Package clienttest tests a running client on stores of the caller's: what workers answer, how jobs are controlled
// while nodes run them, and that failing jobs do not hold up new jobs, that priorities age, that schedules start after
// other schedules, that handlers make jobs, and that jobs run at their places, that jobs of a schedule do not overlap,
// that next slots follow the data of time zones, and that claims of unknown end are settled. Each driver calls Answers,
// Control, Order, Ageing, Chains, Handlers, Places, EveryHost, Overlap, Ahead, Zones and LostClaims from tests of its
// own.
package clienttest

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// kind is the kind of the jobs of a test.
const kind = "work"

// Open opens the store of a test: it returns two backends on one empty store, and registers its clean-up with t. If an Open is nil, the
// store is in memory, and the test runs in a Bubble; with -short all others are left out.
type Open func(t *testing.T) (a, b store.Backend)

// env is a test with its store.
type env struct {
	*testing.T
	backend store.Backend
	other   store.Backend // another backend on the same store
}

// Bubble runs a test in a bubble of testing/synctest, whose clock jumps to the next event while all goroutines wait. The test begins after
// the start of the process, because a node takes the zero value of an instant for an earlier instant, and bubbles begin in the year 2000.
func Bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(40 * 365 * 24 * time.Hour)
		test(t)
	})
}

// with runs a test on a store.
func with(t *testing.T, open Open, test func(e *env)) {
	t.Helper()
	if open == nil {
		Bubble(t, func(t *testing.T) {
			s := memory.New()
			test(&env{T: t, backend: s, other: s})
		})
		return
	}
	if testing.Short() {
		t.Skip("waits in real time; on the store in memory it does not")
	}
	e := &env{T: t}
	e.backend, e.other = open(t)
	test(e)
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// run runs a client whose jobs are run by handle, until the test ends.
func (e *env) run(backend store.Backend, handle hourbell.Handler, options ...hourbell.WorkerOption) *hourbell.Client {
	e.Helper()
	workers := hourbell.NewWorkers()
	workers.Handle(kind, handle, options...)
	return e.runWorkers(backend, workers)
}

// runWorkers runs a client with workers, until the test ends.
func (e *env) runWorkers(backend store.Backend, workers *hourbell.Workers) *hourbell.Client {
	e.Helper()
	return e.runNode(backend, hourbell.Config{Workers: workers})
}

// runNode runs a client with this configuration, until the test ends.
func (e *env) runNode(backend store.Backend, cfg hourbell.Config) *hourbell.Client {
	e.Helper()
	client := e.newClient(backend, cfg)
	e.start(client)
	return client
}

// newClient returns a client with this configuration.
func (e *env) newClient(backend store.Backend, cfg hourbell.Config) *hourbell.Client {
	e.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	client, err := hourbell.New(backend, cfg)
	e.must(err)
	return client
}

// start runs a client until the test ends.
func (e *env) start(client *hourbell.Client) {
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	e.Cleanup(func() {
		if err := errors.Join(client.Stop(context.Background()), <-ended); err != nil {
			e.Error(err)
		}
	})
}

// eventually waits for a condition.
func (e *env) eventually(what string, holds func() bool) {
	e.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			e.Fatalf("waited in vain until %s", what)
		}
	}
}
