package loop

import (
	"context"
	"math/rand/v2"

	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
)

// Ambient is what a node takes from its surroundings besides its store: chance, and the clock by which it trusts its lease. A
// simulation of a cluster replaces both, so that a run can be repeated; it gives them to nodes through their backend, and no option of
// a client does. Concurrent calls are allowed.
type Ambient interface {
	// Random returns a random number from 0 to 1, 1 excluded. purpose names the use of the number: each purpose of a node
	// has numbers of its own, so that they do not depend on what other goroutines draw.
	Random(purpose string) float64
	// Uptime returns the present instant on the clock of package uptime.
	Uptime() uptime.Instant
	// Step is called where loops of a node that share something begin a step, before they look at it: a simulation
	// lets one of them go on at a time, in an order that it knows. It returns when ctx ends. where is the loop.
	Step(ctx context.Context, where string)
}

// Around returns the surroundings of a node that uses a store: the surroundings that the store brings, or the real surroundings.
func Around(backend any) Ambient {
	if around, ok := store.Able[Ambient](backend); ok {
		return around
	}
	return RealAmbient{}
}

// RealAmbient is the chance and the clock of this process.
type RealAmbient struct{}

// Random implements Ambient.
func (RealAmbient) Random(string) float64 { return rand.Float64() }

// Step implements Ambient. It does nothing.
func (RealAmbient) Step(context.Context, string) {}

// Uptime implements Ambient.
func (RealAmbient) Uptime() uptime.Instant { return uptime.Now() }
