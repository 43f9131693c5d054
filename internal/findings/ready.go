package findings

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// NotReady reads why the node of a client is not ready for work; empty: it is ready.
func NotReady(ctx context.Context, client *hourbell.Client) (string, error) {
	f, err := readNodes(ctx, client)
	if err != nil {
		return "", err
	}
	return notReady(f, client.Name(), client.Nodes.LeaseLeft()), nil
}

// notReady returns why a node is not ready; empty: it is registered, more than a third of its lease is left, and no error
// stops it or all nodes. By default a node sends a heartbeat each third of its lease.
func notReady(f Facts, name string, leaseLeft time.Duration) string {
	for _, one := range Find(f) {
		switch {
		case one.Level != store.FindingError:
		case one.Node == "":
			return one.Found
		case one.Node == name: // everyone who can reach the port reads the answer, and the finding may quote a file
			return one.Check + ": `hourbell doctor` says more"
		}
	}
	self := slices.IndexFunc(f.Nodes, func(n store.NodeInfo) bool { return n.Name == name && n.EndedAt.IsZero() })
	switch {
	case self < 0:
		return "this node is not registered"
	case leaseLeft <= 0:
		return "this node has lost its lease: its heartbeats do not reach the store"
	case leaseLeft < f.Nodes[self].Lease/3:
		return "the last heartbeats of this node have not reached the store; the log of the node says why"
	}
	return ""
}
