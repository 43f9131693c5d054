package postgres

import (
	"testing"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
)

// openTwo opens two backends on one empty schema.
func openTwo(t *testing.T) (store.Backend, store.Backend) {
	a := fresh(t)
	return a, openAt(t, urlFrom(t, serverVariable), a.schema)
}

func TestControl(t *testing.T) {
	clienttest.Control(t, openTwo)
}

// Through a pooler no wake-ups arrive, so that nodes poll.
func TestControlThroughPgBouncer(t *testing.T) {
	clienttest.Control(t, func(t *testing.T) (store.Backend, store.Backend) {
		a := fresh(t)
		url := urlFrom(t, bouncerVariable)
		return openAt(t, url, a.schema), openAt(t, url, a.schema)
	})
}

func TestChains(t *testing.T) {
	clienttest.Chains(t, openTwo)
}

func TestHandlersWhileNodesRun(t *testing.T) {
	clienttest.Handlers(t, openTwo)
}

func TestJobsRunAtTheirPlaces(t *testing.T) {
	clienttest.Places(t, openTwo)
}

func TestSchedulesOnEveryHost(t *testing.T) {
	clienttest.EveryHost(t, openTwo, func(t *testing.T, b store.Backend) (store.Tx, func() error) {
		tx, err := b.(*Backend).pool.Begin(t.Context())
		must(t, err)
		return Tx(tx), func() error { return tx.Commit(t.Context()) }
	})
}

func TestWorkersThatIgnoreTheirContexts(t *testing.T) {
	clienttest.Stuck(t, openTwo)
}

func TestOverlapSkipNeverRunsTwo(t *testing.T) {
	clienttest.Overlap(t, openTwo)
}

func TestSchedulesAheadOfTheClock(t *testing.T) {
	clienttest.Ahead(t, openTwo)
}

func TestOtherTimeZoneData(t *testing.T) {
	clienttest.Zones(t, openTwo)
}
