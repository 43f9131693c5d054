package hourbell_test

import (
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func TestControlWhileNodesRun(t *testing.T) { clienttest.Control(t, nil) }

func TestSchedulesAfterSchedules(t *testing.T) { clienttest.Chains(t, nil) }

func TestHandlersWhileNodesRun(t *testing.T) { clienttest.Handlers(t, nil) }

func TestJobsRunAtTheirPlaces(t *testing.T) { clienttest.Places(t, nil) }

func TestSchedulesOnEveryHost(t *testing.T) {
	clienttest.EveryHost(t, nil, func(_ *testing.T, b store.Backend) (store.Tx, func() error) {
		tx := b.(*memory.Store).Begin()
		return tx, tx.Commit
	})
}

func TestPrioritiesAge(t *testing.T) {
	t.Run("plain", func(t *testing.T) { clienttest.Ageing(t, nil) })
	t.Run("kind with a bound", func(t *testing.T) { clienttest.Ageing(t, nil, hourbell.MaxRunning(1)) })
}

func TestWorkersThatIgnoreTheirContexts(t *testing.T) { clienttest.Stuck(t, nil) }

func TestOverlapSkipNeverRunsTwo(t *testing.T) { clienttest.Overlap(t, nil) }

func TestSchedulesAheadOfTheClock(t *testing.T) { clienttest.Ahead(t, nil) }

func TestOtherTimeZoneData(t *testing.T) { clienttest.Zones(t, nil) }
