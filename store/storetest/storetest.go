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
// Tests of optional interfaces of package store are skipped if the clients do not
// implement them. A driver that has abilities runs a part of the suite, see Only, a
// second time with WithoutAbilities, so that callers without the abilities are served, too.
//
// Nearly all requests have a Now that is years away from the real time, so that
// a driver that reads any other clock gives wrong answers.
//
// RunFaults is a suite of its own: each statement and each commit of each call fails.
//
// Two environment variables control the random run: HOURBELL_STORETEST_OPS is
// the number of steps (default 1,000, or the value of the option Operations), and
// HOURBELL_STORETEST_SEED repeats a run whose seed was printed. With 50,000 steps or more,
// seeds that failed once run, too. HOURBELL_STORETEST_RACES is the number of rounds of each race
// between the end of a job and its dependents (default 6). make test-long sets large numbers.
package storetest

import (
	"context"
	"slices"
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
	// RowLocks means that a transaction which has changed a job does not make the
	// calls wait that concern other jobs.
	RowLocks bool
}

// Option is an option of Run.
type Option func(*settings)

type settings struct {
	operations int64
	only       []string // groups; nil for all
}

// Operations sets the number of steps of the random run, instead of 1,000. It
// is meant for a second way to reach a store whose full run is made elsewhere.
// HOURBELL_STORETEST_OPS overrides it, except with Only.
func Operations(n int) Option {
	return func(s *settings) { s.operations = int64(n) }
}

// Only runs the named groups and the random run, which makes each call of the contract. It is meant
// for a second way to reach a store whose full run is made elsewhere: name what this way can change.
// HOURBELL_STORETEST_OPS can only make the random run shorter.
func Only(groups ...string) Option {
	return func(s *settings) { s.only = groups }
}

// Run runs the whole suite. open is called once for each test; it registers
// its clean-up with t. The groups of tests run in parallel, so each test needs
// a store of its own until its end: see Reused.
func Run(t *testing.T, open func(t *testing.T) Store, options ...Option) {
	s := settings{operations: 1_000}
	for _, option := range options {
		option(&s)
	}
	groups := suite()
	for _, name := range s.only {
		if !slices.ContainsFunc(groups, func(g group) bool { return g.name == name }) {
			t.Fatalf("Only: the suite has no group %s", name)
		}
	}
	for _, group := range groups {
		if s.only != nil && !slices.Contains(s.only, group.name) {
			continue
		}
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) {
					e := newEnv(t, open(t))
					if group.needs != nil && !group.needs(e.a) {
						t.Skip("this store does not have the ability")
					}
					test.run(e)
				})
			}
		})
	}
	t.Run("Random", func(t *testing.T) {
		t.Parallel()
		runRandom(t, open, s)
	})
}

// Reused returns a function for Run that hands out n stores, each to one test
// at a time. It is meant for stores that take longer to make than to empty:
// create makes a store, and returns a function that empties it for each test.
// It is called when a test finds no store free, possibly concurrently.
func Reused(n int, create func() (emptied func(t *testing.T) Store)) func(t *testing.T) Store {
	free := make(chan func(t *testing.T) Store, n)
	for range n {
		free <- nil // not made yet
	}
	return func(t *testing.T) Store {
		t.Helper()
		emptied := <-free
		t.Cleanup(func() { free <- emptied })
		if emptied == nil {
			emptied = create()
		}
		return emptied(t)
	}
}

// group is the list of scenarios of one file.
type group struct {
	name  string
	tests []scenario
	needs func(store.Backend) bool // an ability; without it the tests are skipped
}

func suite() []group {
	return []group{
		{"Insert", insertTests, nil},
		{"Unique", uniqueTests, nil},
		{"UniqueBatch", keyedBatchTests, nil},
		{"UniqueFor", uniqueForTests, nil},
		{"UniqueConflict", uniqueConflictTests, nil},
		{"Claim", claimTests, nil},
		{"ClaimPart", claimPartTests, nil},
		{"Estimate", estimateTests, nil},
		{"Finish", finishTests, nil},
		{"Progress", progressTests, nil},
		{"Steps", stepTests, nil},
		{"Output", outputTests, nil},
		{"Attempts", attemptTests, nil},
		{"FinishTx", finishTxTests, nil},
		{"Keep", keepTests, nil},
		{"ChangeJobs", changeJobsTests, nil},
		{"InTx", inTxTests, nil},
		{"AlterJobs", alterJobsTests, nil},
		{"ListJobs", listJobsTests, nil},
		{"JobFilter", filterTests, nil},
		{"PutSchedules", putTests, nil},
		{"Sync", syncTests, nil},
		{"Copy", copyTests, nil},
		{"ChangeSchedules", changeSchedulesTests, nil},
		{"Calendars", calendarTests, nil},
		{"Groups", groupTests, nil},
		{"Pauses", pauseTests, nil},
		{"DueSchedules", dueTests, nil},
		{"Fire", fireTests, nil},
		{"FireEarly", earlyTests, nil},
		{"Overlap", overlapTests, nil},
		{"SerialGroup", serialGroupTests, nil},
		{"After", afterTests, nil},
		{"AfterTx", afterTxTests, nil},
		{"Reopen", reopenTests, nil},
		{"Batch", batchTests, nil},
		{"Chain", chainTests, nil},
		{"ListSlots", slotTests, nil},
		{"SchedulesOfHosts", everyHostTests, nil},
		{"Nodes", nodeTests, nil},
		{"Rescue", rescueTests, nil},
		{"Loss", lossTests, nil},
		{"Exact", exactTests, nil},
		{"FollowUp", followUpTests, nil},
		{"Handlers", handlerTests, nil},
		{"Limits", limitTests, nil},
		{"Permits", permitTests, nil},
		{"Lanes", laneTests, nil},
		{"Recount", recountTests, nil},
		{"LaneRates", laneRateTests, nil},
		{"Feed", feedTests, nil},
		{"Audit", auditTests, nil},
		{"Maintenance", maintenanceTests, nil},
		{"Stats", statsTests, nil},
		{"History", historyTests, nil},
		{"Clock", clockTests, nil},
		{"Listen", listenTests, nil},
	}
}

// scenario is one named test.
type scenario struct {
	name string
	run  func(e *env)
}
