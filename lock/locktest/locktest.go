// Package locktest is the test suite that every lock provider must pass: one
// test for each rule of the contract in package lock, races between real
// processes, a holder that is stopped past its lease, ten simulated days of
// once per hour, and random operations compared, step by step, with
// lock/memory.
//
// A provider's tests are a few lines:
//
//	func open(ctx context.Context, target string) (lock.Provider, func(), error) { … }
//
//	func TestMain(m *testing.M) {
//		locktest.Contend(open)
//		os.Exit(m.Run())
//	}
//
//	func TestLocks(t *testing.T) {
//		locktest.Run(t, locktest.Store{Target: url, Open: open, DeleteRow: …})
//	}
//
// The suite starts the test binary again for each process that contends for
// locks; therefore TestMain has to call Contend.
//
// Nearly all requests have a Now that is years away from the real time, so that
// a provider that reads any other clock gives wrong answers. Names are new in
// each test, so the store need not be empty, and keeps its former content.
//
// Three environment variables change the extent of the suite.
// HOURBELL_LOCKTEST_ROUNDS is how often the processes race (default 100). From
// 1,000 rounds on each process must win a twentieth of the rounds, otherwise
// once, and the ten days are simulated for more than one minute of the hour.
// HOURBELL_LOCKTEST_OPS is the number of random operations (default 500).
// HOURBELL_LOCKTEST_SEED repeats a run whose seed was printed.
package locktest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// Opener opens a provider on the store that target names, with connections of
// its own, and returns a function that closes it.
type Opener func(ctx context.Context, target string) (lock.Provider, func(), error)

// Store is a store under test. Target and Open must be given. Every other field
// that is given adds tests; set every field that the provider supports.
type Store struct {
	// Target is the argument of Open, here and in the processes that contend.
	// The schema must exist when Run is called. Target is sent over the
	// standard input of these processes, and is never logged.
	Target string

	// Open opens the provider. Other processes use the Opener that TestMain
	// gave to Contend.
	Open Opener

	// InProcess is for a store that other processes cannot reach: goroutines
	// contend instead, and no process is stopped or killed.
	InProcess bool

	// Again is for a second way to reach a store, such as other types of columns or another
	// pool, whose full suite runs elsewhere. It leaves out what this way cannot change: the
	// contention of processes, the ten days, and how a holder measures its lease.
	Again bool

	// RealTime is for a provider that cannot replace the store's clock by
	// Request.Now. It leaves out the tests that need this, and makes the other
	// tests slow.
	RealTime bool

	// Skew is how far the store's clock is ahead of this machine's clock. It is
	// set for a server that was started with a false clock, to show that the
	// server's clock decides.
	Skew time.Duration

	// NoPush is for a provider that implements lock.Notifier, but cannot push
	// in this configuration.
	NoPush bool

	// DeleteRow deletes the row of a lock, and not its state, and reports
	// whether the row existed.
	DeleteRow func(ctx context.Context, name string) (existed bool, err error)

	// RowsExpire is for a store whose keys expire by themselves: a row may be
	// gone when the lock is free.
	RowsExpire bool

	// Begin opens a transaction of the caller on the store, with the means that
	// a user of the provider would have, and returns a function that rolls it
	// back. Locks taken during the transaction must be independent of it.
	Begin func(ctx context.Context) (rollback func() error, err error)

	// Tx opens a transaction of the caller for lock.Check on the tables under
	// test, and returns a function that commits the transaction or rolls it
	// back.
	Tx func(ctx context.Context) (tx lock.Tx, end func(commit bool) error, err error)

	// Exhausted opens a provider that cannot get a connection (or, in SQLite,
	// cannot write) until the test ends.
	Exhausted func(t testing.TB) lock.Provider
}

// Run runs the whole suite against a store. Its groups run in parallel, except the group that exhausts connections.
// With -short it leaves out the groups that Store.Again leaves out.
func Run(t *testing.T, s Store) {
	t.Helper()
	run(t, s, groups())
}

func run(t *testing.T, s Store, groups []group) {
	for _, group := range groups {
		if (s.Again || testing.Short()) && slices.Contains(onlyOnce, group.name) {
			continue
		}
		t.Run(group.name, func(t *testing.T) {
			if group.name != exhausting {
				t.Parallel() // the tests wait most of the time
			}
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) { test.run(newEnv(t, s)) })
			}
		})
	}
}

// group is the list of scenarios of one file.
type group struct {
	name  string
	tests []scenario
}

// scenario is one named test.
type scenario struct {
	name string
	run  func(e *env)
}

// exhausting is the group that keeps others from the store for some time.
const exhausting = "Connection"

// onlyOnce are the groups that Store.Again leaves out.
var onlyOnce = []string{"Every", "Process", "Trust"}

func groups() []group {
	return []group{
		{"Grant", grantTests},
		{"Lease", leaseTests},
		{"Token", tokenTests},
		{"Slot", slotTests},
		{"Name", nameTests},
		{"Clock", clockTests},
		{"Trust", trustTests},
		{exhausting, connectionTests},
		{"Check", checkTests},
		{"Inspect", inspectTests},
		{"Notify", notifyTests},
		{"Every", everyTests},
		{"Random", randomTests},
		{"Process", processTests},
	}
}
