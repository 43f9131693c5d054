package sqlite

import (
	"testing"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
)

// openTwo opens two backends on one empty file.
func openTwo(t *testing.T) (store.Backend, store.Backend) {
	path := newFile(t)
	return openFile(t, path), openFile(t, path)
}

func TestControl(t *testing.T) {
	clienttest.Control(t, openTwo)
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
		tx, err := beginOn(b.(*Backend).writer)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tx.Tx, tx.Commit
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
