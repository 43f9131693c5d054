package hourbell_test

import (
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func TestControlWhileNodesRun(t *testing.T) {
	clienttest.Control(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	})
}

func TestSchedulesAfterSchedules(t *testing.T) {
	clienttest.Chains(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	})
}

func TestHandlersWhileNodesRun(t *testing.T) {
	clienttest.Handlers(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	})
}

func TestJobsRunAtTheirPlaces(t *testing.T) {
	clienttest.Places(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	})
}

func TestSchedulesOnEveryHost(t *testing.T) {
	clienttest.EveryHost(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	}, func(_ *testing.T, b store.Backend) (store.Tx, func() error) {
		tx := b.(*memory.Store).Begin()
		return tx, tx.Commit
	})
}

func TestPrioritiesAge(t *testing.T) {
	t.Run("plain", func(t *testing.T) { t.Parallel(); clienttest.Ageing(t, memory.New()) })
	t.Run("kind with a bound", func(t *testing.T) { t.Parallel(); clienttest.Ageing(t, memory.New(), hourbell.MaxRunning(1)) })
}

func TestWorkersThatIgnoreTheirContexts(t *testing.T) {
	clienttest.Stuck(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	})
}

func TestOverlapSkipNeverRunsTwo(t *testing.T) {
	clienttest.Overlap(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	})
}

func TestSchedulesAheadOfTheClock(t *testing.T) {
	clienttest.Ahead(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	})
}

func TestOtherTimeZoneData(t *testing.T) {
	clienttest.Zones(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	})
}
