package rowwise

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// nodeGate refuses claims of nodes that are not alive, and finds out what the other gates have to look at. In a take, the node stays
// alive until the transaction ends.
type nodeGate struct{}

func (nodeGate) look(ctx context.Context, c *claim) (v verdict, err error) {
	if c.around, err = c.tx.LookAround(ctx, c.req); err != nil {
		return v, err
	}
	found := &c.around
	if !found.Alive {
		return v, store.NodeGone(c.req.Node)
	}
	if found.Jobs != nil {
		c.out.NoSuspects = !found.Jobs.Suspects && !found.Pauses && !found.Limited && !found.Permits
	}
	return v, c.begin(ctx)
}

func (nodeGate) take(ctx context.Context, c *claim) (v verdict, err error) {
	if c.around, err = holdNode(ctx, c.tx, c.req.Node); err != nil {
		return v, err
	}
	return v, c.begin(ctx)
}

// begin begins the answer to a living node.
func (c *claim) begin(ctx context.Context) (err error) {
	if c.now = c.around.Now; c.now.IsZero() {
		c.now, err = c.tx.Now(ctx, c.req.Now)
	}
	c.out.Now, c.out.Handled, c.asked = c.now, c.around.Handled, c.req.Limit
	return err
}

// NodeHolder keeps nodes alive.
type NodeHolder interface {
	// HoldNode returns what a claim has to look at. If the node is alive, it stays so until the transaction ends.
	HoldNode(ctx context.Context, node int64) (Around, error)
}

// holdNode keeps a node alive until the transaction ends. The error is store.ErrNodeGone for a node that is not.
func holdNode(ctx context.Context, tx NodeHolder, node int64) (Around, error) {
	found, err := tx.HoldNode(ctx, node)
	if err == nil && !found.Alive {
		err = store.NodeGone(node)
	}
	return found, err
}
