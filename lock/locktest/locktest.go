// Package locktest is the suite that makes a lock provider a provider: one test
// for each line of the contract in package lock, races between real processes,
// a holder that is stopped past its lease, ten simulated days of once per hour,
// and random operations compared, step by step, with lock/memory.
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
// The suite starts the test binary anew for each process that contends, which is
// why TestMain has to call Contend.
//
// Nearly all requests carry a Now that is years away from the real time, so that
// a provider that looks at any other clock gives wrong answers. Names are new in
// each test, so the store need not be emptied, and holds what it held before.
//
// Three environment variables steer it: HOURBELL_LOCKTEST_ROUNDS is how often the
// processes race (default 100; from 1,000 on each has to win a twentieth of
// the rounds, else once, and the ten days are simulated for more than one
// minute of the hour), HOURBELL_LOCKTEST_OPS the number of random operations
// (default 2,000), and HOURBELL_LOCKTEST_SEED repeats a run whose seed was
// printed.
package locktest

import (
	"context"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// Opener opens a provider on the store that target names, with connections of
// its own, and returns what closes it.
type Opener func(ctx context.Context, target string) (lock.Provider, func(), error)

// Store is a store under test. Target and Open must be given; every other field
// that is given adds tests, and one that the provider can serve should be.
type Store struct {
	// Target is handed to Open, here and in the processes that contend. The
	// schema is in place when Run is called. It goes by the standard input of
	// those processes, and to no log.
	Target string

	// Open opens the provider. Other processes use the one that TestMain gave
	// to Contend.
	Open Opener

	// InProcess is for a store that other processes cannot reach: goroutines
	// contend instead, and nothing is stopped or killed.
	InProcess bool

	// RealTime is for a provider that cannot put Request.Now in the place of the
	// store's clock. It leaves out what needs that, and makes the rest slow.
	RealTime bool

	// Skew is how far the store's clock is ahead of this machine's, on a server
	// started with a false clock to show that it is the one that decides.
	Skew time.Duration

	// NoPush is for a provider that implements lock.Notifier, but has no push in
	// this configuration.
	NoPush bool

	// DeleteRow deletes the row of a lock, and not its state, and says whether
	// it was there.
	DeleteRow func(ctx context.Context, name string) (existed bool, err error)

	// RowsExpire is for a store whose keys end by themselves: a row may be gone
	// when the lock is free.
	RowsExpire bool

	// Begin opens a transaction of the caller's on the store, by the means that
	// a user of the provider would have, and returns what rolls it back. Locks
	// taken meanwhile must be none of its business.
	Begin func(ctx context.Context) (rollback func() error, err error)

	// Tx opens a transaction of the caller's for lock.Check on the tables under
	// test, and returns what commits it, or rolls it back.
	Tx func(ctx context.Context) (tx lock.Tx, end func(commit bool) error, err error)

	// Exhausted opens a provider that cannot have a connection (or, in SQLite,
	// cannot write) until the test ends.
	Exhausted func(t testing.TB) lock.Provider
}

// Run runs the whole suite against a store.
func Run(t *testing.T, s Store) {
	t.Helper()
	run(t, s, groups())
}

func run(t *testing.T, s Store, groups []group) {
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) { test.run(newEnv(t, s)) })
			}
		})
	}
}

// group is the scenarios of one file.
type group struct {
	name  string
	tests []scenario
}

// scenario is one named test.
type scenario struct {
	name string
	run  func(e *env)
}

func groups() []group {
	return []group{
		{"Grant", grantTests},
		{"Lease", leaseTests},
		{"Token", tokenTests},
		{"Slot", slotTests},
		{"Name", nameTests},
		{"Clock", clockTests},
		{"Trust", trustTests},
		{"Connection", connectionTests},
		{"Check", checkTests},
		{"Inspect", inspectTests},
		{"Notify", notifyTests},
		{"Every", everyTests},
		{"Random", randomTests},
		{"Process", processTests},
	}
}
