package stores

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/lock"
	lockmemory "github.com/hourbell/hourbell/lock/memory"
)

// locksOf returns the provider of locks of a store, with its tables.
func (s target) locksOf() lock.Provider {
	s.t.Helper()
	switch b := s.backend.(type) {
	case *postgres.Backend:
		locks := b.Locks()
		must(s.t, locks.CreateTables(s.t.Context()))
		return locks
	case *sqlite.Backend:
		locks := b.Locks()
		must(s.t, locks.CreateTables(s.t.Context()))
		return locks
	}
	return lockmemory.New()
}

// TestLocksGoByTheClock checks that locks expire, rest and come due when the test moves the clock, and not before.
func TestLocksGoByTheClock(t *testing.T) {
	onEach(t, func(s target) {
		kit := s.kit(hourbell.NewWorkers())
		provider := kit.Locks(s.locksOf())
		server := func() *lock.Locker {
			l, err := lock.New(provider, lock.Config{})
			must(s.t, err)
			return l
		}
		one, other := server(), server()
		try := func(l *lock.Locker, name string, opts lock.Options, want error) *lock.Lock {
			s.t.Helper()
			held, err := l.Try(s.t.Context(), name, opts)
			if !errors.Is(err, want) {
				s.t.Fatalf("at %v: %v, want %v", kit.Now(), err, want)
			}
			return held
		}

		// The at-most time, of a holder that stands still.
		opts := lock.Options{AtMost: 10 * time.Minute, AtLeast: time.Minute, NoKeepAlive: true}
		first := try(one, "report", opts, nil)
		kit.Advance(10*time.Minute - time.Millisecond)
		try(other, "report", opts, lock.ErrHeld)
		kit.Advance(time.Millisecond)
		second := try(other, "report", opts, nil)
		if second.Token() <= first.Token() {
			s.t.Errorf("tokens %d and %d", first.Token(), second.Token())
		}
		if err := first.Release(s.t.Context()); !errors.Is(err, lock.ErrLost) {
			s.t.Errorf("the release of a lock that another has: %v", err)
		}

		// The at-least time.
		must(s.t, second.Release(s.t.Context()))
		try(one, "report", opts, lock.ErrHeld)
		kit.Advance(time.Minute)
		must(s.t, try(one, "report", opts, nil).Release(s.t.Context()))

		// The lease of a holder that has died.
		kept := lock.Options{AtMost: 24 * time.Hour}
		dead := try(one, "import", kept, nil)
		kit.Advance(29 * time.Second)
		try(other, "import", kept, lock.ErrHeld)
		kit.Advance(2 * time.Second)
		must(s.t, try(other, "import", kept, nil).Release(s.t.Context()))
		if err := dead.Release(s.t.Context()); !errors.Is(err, lock.ErrLost) {
			s.t.Errorf("the release of a lock whose lease has passed: %v", err)
		}

		// Once a day, on either server.
		ran := 0
		for range 7 {
			for _, l := range []*lock.Locker{one, other} {
				_, err := l.DoOrSkip(s.t.Context(), "daily", lock.Options{Every: 24 * time.Hour}, func(context.Context, *lock.Lock) error {
					ran++
					return nil
				})
				must(s.t, err)
			}
			kit.Advance(24 * time.Hour)
		}
		if ran != 7 {
			s.t.Errorf("the daily work ran %d times in a week", ran)
		}
	})
}
