package memory_test

import (
	"context"
	"testing"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
	"github.com/hourbell/hourbell/lock/memory"
)

// The tests of package locktest also run the suite with this provider and other
// processes.
func TestLocks(t *testing.T) {
	p := memory.New()
	locktest.Run(t, locktest.Store{
		InProcess: true,
		Open: func(context.Context, string) (lock.Provider, func(), error) {
			return p, func() {}, nil
		},
		DeleteRow: func(_ context.Context, name string) (bool, error) { return p.DeleteRow(name), nil },
	})
}
