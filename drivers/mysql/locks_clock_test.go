package mysql

import (
	"testing"

	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
)

func TestLockUnderFalseClocks(t *testing.T) {
	t.Parallel()
	server := testserver.New(t)
	clock := server.NewClock()
	url := server.StartMariaDB(clock)
	var providers [2]lock.Provider
	for i := range providers {
		locks := NewLocks(openDB(t, url))
		must(t, locks.CreateTables(t.Context()))
		providers[i] = locks
	}
	locktest.RunFalseClock(t, providers, clock.Set)
}
