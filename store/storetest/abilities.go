package storetest

import (
	"testing"

	"github.com/hourbell/hourbell/store"
)

// Ability is an optional interface of package store.
type Ability struct {
	Name string // of the interface
	Of   func(store.Backend) bool
}

// Abilities returns all optional interfaces of package store, for tests of
// backends that wrap another backend: an ability that such a backend hides is
// lost without an error.
func Abilities() []Ability {
	return []Ability{
		{"Connected", has[store.Connected]},
		{"Deferring", has[store.Deferring]},
		{"Flusher", has[store.Flusher]},
		{"Listener", has[store.Listener]},
		{"Migrator", has[store.Migrator]},
	}
}

// has reports whether a backend implements T.
func has[T any](b store.Backend) bool {
	_, ok := store.Able[T](b)
	return ok
}

// Plain returns a backend without any ability, over the same store. Nodes and
// drivers must work with it.
func Plain(b store.Backend) store.Backend { return struct{ store.Backend }{b} }

// WithoutAbilities returns open for stores whose clients implement no optional
// interface. A driver that has abilities passes the suite also without them.
func WithoutAbilities(open func(t *testing.T) Store) func(t *testing.T) Store {
	return func(t *testing.T) Store {
		s := open(t)
		for i, client := range s.Clients {
			s.Clients[i] = Plain(client)
		}
		return s
	}
}
