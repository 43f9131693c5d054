package main

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/declared"
)

// startWidth is how many commands run at once that a node runs at its start.
const startWidth = 10

// newStartQueue names a queue that this process alone serves: what a file says
// to run at the start of a node is for this machine, not for any.
func newStartQueue() string { return "@reboot " + rand.Text()[:10] }

// atStart lists what the files say to run at the start of a node.
func atStart(sets []*declared.File) (entries []declared.Entry) {
	for _, set := range sets {
		entries = append(entries, set.AtStart...)
	}
	return entries
}

// runAtStart makes the jobs of a start. Like cron's @reboot they come once: a
// line that is added while the node runs waits for the next start.
func (n *node) runAtStart(ctx context.Context, client *hourbell.Client) error {
	for _, entry := range atStart(n.watch.sets()) {
		if n.starting == "" {
			n.config.Logger.Warn("command of the node's start not run: --commands is off", "name", entry.Name)
			continue
		}
		once := entry.Schedule
		once.Queue = n.starting
		id, err := client.RunOnce(ctx, once)
		if err != nil {
			return fmt.Errorf("run at the start of the node: %w", err)
		}
		n.config.Logger.Info("command of the node's start enqueued", "name", entry.Name, "job", id)
	}
	return nil
}
