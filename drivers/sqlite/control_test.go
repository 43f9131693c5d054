package sqlite

import (
	"testing"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
)

func TestControl(t *testing.T) {
	clienttest.Control(t, func(t *testing.T) (store.Backend, store.Backend) {
		path := newFile(t)
		return openFile(t, path), openFile(t, path)
	})
}

func TestChains(t *testing.T) {
	clienttest.Chains(t, func(t *testing.T) (store.Backend, store.Backend) {
		path := newFile(t)
		return openFile(t, path), openFile(t, path)
	})
}

func TestHandlersWhileNodesRun(t *testing.T) {
	clienttest.Handlers(t, func(t *testing.T) (store.Backend, store.Backend) {
		path := newFile(t)
		return openFile(t, path), openFile(t, path)
	})
}

func TestJobsRunAtTheirPlaces(t *testing.T) {
	clienttest.Places(t, func(t *testing.T) (store.Backend, store.Backend) {
		path := newFile(t)
		return openFile(t, path), openFile(t, path)
	})
}

func TestSchedulesOnEveryHost(t *testing.T) {
	clienttest.EveryHost(t, func(t *testing.T) (store.Backend, store.Backend) {
		path := newFile(t)
		return openFile(t, path), openFile(t, path)
	}, func(t *testing.T, b store.Backend) (store.Tx, func() error) {
		tx, err := beginOn(b.(*Backend).writer)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tx.Tx, tx.Commit
	})
}

func TestWorkersThatIgnoreTheirContexts(t *testing.T) {
	clienttest.Stuck(t, func(t *testing.T) (store.Backend, store.Backend) {
		path := newFile(t)
		return openFile(t, path), openFile(t, path)
	})
}

func TestOverlapSkipNeverRunsTwo(t *testing.T) {
	clienttest.Overlap(t, func(t *testing.T) (store.Backend, store.Backend) {
		path := newFile(t)
		return openFile(t, path), openFile(t, path)
	})
}

func TestSchedulesAheadOfTheClock(t *testing.T) {
	clienttest.Ahead(t, func(t *testing.T) (store.Backend, store.Backend) {
		path := newFile(t)
		return openFile(t, path), openFile(t, path)
	})
}
