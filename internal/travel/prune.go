package travel

import "context"

// Prune lets the nodes delete the history that is older than they keep it, by the clock.
func (c *Clock) Prune(ctx context.Context) error {
	c.mu.Lock()
	c.prunes, c.unclean = true, nil
	nodes := c.living()
	c.mu.Unlock()
	for _, n := range nodes {
		n.loops.Prune(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prunes = false
	return c.unclean
}

// mayPrune reports whether a node may delete old rows now.
func (c *Clock) mayPrune() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.prunes
}

// pruned records the error of a call.
func (c *Clock) pruned(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.unclean = err
	}
}

// living returns the nodes that are registered. The caller holds the mutex.
func (c *Clock) living() (nodes []*Node) {
	for _, n := range c.nodes {
		if n.joined {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
