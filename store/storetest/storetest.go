// Package storetest is the test suite for drivers: one test for each line of
// the contract in package store, races between two clients of one store, and a
// long random run that is compared, step by step, with the reference in
// store/memory.
//
// A driver calls Run from one of its own tests:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Store { … })
//	}
//
// Nearly all requests have a Now that is years away from the real time, so that
// a driver that reads any other clock gives wrong answers.
//
// Two environment variables control the random run: HOURBELL_STORETEST_OPS is
// the number of steps (default 50,000, or the value of the option Operations;
// at most 2,000 with -short), and HOURBELL_STORETEST_SEED repeats a run whose
// seed was printed.
package storetest

import (
	"context"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// Transaction is a caller's transaction on the store under test.
type Transaction struct {
	Tx               store.Tx
	Commit, Rollback func() error
}

// Store is a fresh, empty store under test, opened twice.
type Store struct {
	// Clients are two backends over separate connections to one store.
	Clients [2]store.Backend
	// Begin opens a caller's transaction that Clients[0] accepts.
	Begin func(ctx context.Context) (Transaction, error)
}

// Option is an option of Run.
type Option func(*settings)

type settings struct {
	operations int64
}

// Operations sets the number of steps of the random run, instead of 50,000. It
// is meant for a second way to reach a store whose full run is made elsewhere.
// HOURBELL_STORETEST_OPS overrides it.
func Operations(n int) Option {
	return func(s *settings) { s.operations = int64(n) }
}

// Run runs the whole suite. open is called once for each test; it registers
// its clean-up with t. Tests run one after the other, so open may return the
// same store each time, emptied.
func Run(t *testing.T, open func(t *testing.T) Store, options ...Option) {
	s := settings{operations: 50_000}
	for _, option := range options {
		option(&s)
	}
	for _, group := range []struct {
		name  string
		tests []scenario
	}{
		{"Insert", insertTests},
		{"Unique", uniqueTests},
		{"Claim", claimTests},
		{"ClaimPart", claimPartTests},
		{"Finish", finishTests},
		{"ChangeJobs", changeJobsTests},
		{"ListJobs", listJobsTests},
		{"PutSchedules", putTests},
		{"Sync", syncTests},
		{"ChangeSchedules", changeSchedulesTests},
		{"Calendars", calendarTests},
		{"DueSchedules", dueTests},
		{"Fire", fireTests},
		{"FireAhead", earlyTests},
		{"Overlap", overlapTests},
		{"SerialGroup", serialGroupTests},
		{"ListSlots", slotTests},
		{"Nodes", nodeTests},
		{"Rescue", rescueTests},
		{"Loss", lossTests},
		{"Exact", exactTests},
		{"FollowUp", followUpTests},
		{"Maintenance", maintenanceTests},
		{"History", historyTests},
		{"Clock", clockTests},
		{"Listen", listenTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) { test.run(newEnv(t, open(t))) })
			}
		})
	}
	t.Run("Random", func(t *testing.T) { runRandom(t, open, s.operations) })
}

// scenario is one named test.
type scenario struct {
	name string
	run  func(e *env)
}
