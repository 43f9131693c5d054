package node

import (
	"fmt"

	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// openSQL opens the connections for the kind sql, which connect when a job needs
// them.
func (n *Node) openSQL() (kinds.SQLWorker, error) {
	worker := kinds.SQLWorker{Connections: map[string]kinds.SQLConnection{}}
	for _, c := range n.SQL {
		opened, err := c.Open(n.Store, func() store.Backend { return n.backend }, n.Config.Lease)
		if err != nil {
			return worker, fmt.Errorf("open connection %q for the kind sql: %w", c.Name, err)
		}
		worker.Connections[c.Name] = opened
		n.closing = append(n.closing, opened.DB.Close)
	}
	return worker, nil
}

// closeSQL closes the connections for the kind sql.
func (n *Node) closeSQL() {
	for _, end := range n.closing {
		_ = end()
	}
}
