package hourbell_test

import (
	"testing"

	"github.com/hourbell/hourbell/internal/controltest"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func TestControlWhileNodesRun(t *testing.T) {
	controltest.Run(t, func(*testing.T) (store.Backend, store.Backend) {
		s := memory.New()
		return s, s
	})
}
