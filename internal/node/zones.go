package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// zones are the data of the time zones in use, as the store lists them (store.RegisterRequest.Zones).
type zones struct {
	mu   sync.Mutex
	list []string
}

// known returns what is to be registered.
func (z *zones) known() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.list
}

// set changes what is to be registered.
func (z *zones) set(list []string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.list = list
}

// RegisterZones registers the data of the time zones in use, if they differ from what is registered. After an error it can be called again.
func (n *Node) RegisterZones(ctx context.Context, list []string) error {
	before := n.zones.known()
	if slices.Equal(before, list) {
		return nil
	}
	n.zones.set(list) // a registration under a new number, which another goroutine may begin now, has it too
	call, cancel := context.WithTimeout(ctx, n.cfg.CallTimeout)
	defer cancel()
	if err := n.continueRegistration(call); err != nil {
		n.zones.set(before)
		return fmt.Errorf("register time zones: %w", err)
	}
	return nil
}
