package findings

import (
	"context"
	"slices"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// NotReady reads why the node of a client is not ready for work; empty: it is ready.
func NotReady(ctx context.Context, client *hourbell.Client) (string, error) {
	f, err := readNodes(ctx, client)
	if err != nil {
		return "", err
	}
	return notReady(f, client.Name(), client.Nodes.LeaseLeft() > 0), nil
}

// notReady returns why a node is not ready; empty: it is registered, has its lease, and no error stops it or all nodes.
func notReady(f Facts, name string, leased bool) string {
	registered := slices.ContainsFunc(f.Nodes, func(n store.NodeInfo) bool { return n.Name == name && n.EndedAt.IsZero() })
	for _, one := range Find(f) {
		switch {
		case one.Level != store.FindingError:
		case one.Node == "":
			return one.Found
		case one.Node == name: // everyone who can reach the port reads the answer, and the finding may quote a file
			return one.Check + ": `hourbell doctor` says more"
		}
	}
	switch {
	case !registered:
		return "this node is not registered"
	case !leased:
		return "this node has lost its lease: its heartbeats do not reach the store"
	}
	return ""
}
