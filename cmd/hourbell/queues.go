package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
)

func (p *program) queuesCommand() *cobra.Command {
	var (
		f storeFlags
		o format
	)
	c := &cobra.Command{
		Use: "queues", Short: "Counts the jobs of each queue that have not finished", Args: takes(false),
		Example: "  hourbell queues\n  hourbell queues --output json",
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
				queues, err := client.Queues.List(c.Context())
				if err != nil {
					return err
				}
				return queueListing.print(p, o, all(queues))
			})
		},
	}
	o.addTo(c)
	f.addTo(c)
	return c
}

var queueListing = listing[hourbell.QueueInfo]{
	columns: []string{"QUEUE", "READY", "SCHEDULED", "RUNNING", "WAITING"},
	row: func(q hourbell.QueueInfo) []string {
		return []string{q.Name, fmt.Sprint(q.Ready), fmt.Sprint(q.Scheduled), fmt.Sprint(q.Running), fmt.Sprint(q.Waiting)}
	},
	record: func(q hourbell.QueueInfo) any {
		return queueRecord{Name: q.Name, Ready: q.Ready, Scheduled: q.Scheduled, Running: q.Running, Waiting: q.Waiting}
	},
}

// queueRecord is a queue in machine-readable output. Fields are only ever
// added.
type queueRecord struct {
	Name      string `json:"name"`
	Ready     int64  `json:"ready"`     // due now
	Scheduled int64  `json:"scheduled"` // due later
	Running   int64  `json:"running"`
	Waiting   int64  `json:"waiting"`
}
