package rowwise

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// nodeGate refuses claims of nodes that are not alive, and reads what the other gates have to know. In a take, no other transaction can declare
// the node dead before this transaction ends.
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
	c.out.Now, c.out.Handled, c.most = c.now, c.around.Handled, c.req.Limit
	return err
}

// NodeHolder locks the rows of nodes.
type NodeHolder interface {
	// HoldNode returns what the gates of a claim have to know. If the node is alive, no other transaction can declare the node dead before
	// this transaction ends.
	HoldNode(ctx context.Context, node int64) (Around, error)
}

// holdNode is HoldNode of a node that has to be alive: otherwise the error is store.ErrNodeGone.
func holdNode(ctx context.Context, tx NodeHolder, node int64) (Around, error) {
	found, err := tx.HoldNode(ctx, node)
	if err == nil && !found.Alive {
		err = store.NodeGone(node)
	}
	return found, err
}
