package node

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/hourbell/hourbell"
)

// startWidth is how many of the commands that a node runs at its start run at
// once.
const startWidth = 10

// newStartQueue returns the name of a queue that only this process serves,
// because the commands that a file runs at the start of a node are for this
// machine only.
func newStartQueue() string { return "@reboot " + rand.Text()[:10] }

// runAtStart enqueues the jobs of a start. As with cron's @reboot, each start
// enqueues them once: a line that is added while the node runs waits for the
// next start.
func (n *Node) runAtStart(ctx context.Context, client *hourbell.Client) error {
	for _, entry := range n.Watch.AtStart() {
		if n.starting == "" {
			n.Config.Logger.Warn("command of the node's start not run: --commands is off", "name", entry.Name)
			continue
		}
		once := entry.Schedule
		once.Queue = n.starting
		id, err := client.Schedules.RunOnce(ctx, once)
		if err != nil {
			return fmt.Errorf("run at the start of the node: %w", err)
		}
		n.Config.Logger.Info("command of the node's start enqueued", "name", entry.Name, "job", id)
	}
	return nil
}
