package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

func (p *program) nodesCommand() *cobra.Command {
	var (
		f storeFlags
		o format
	)
	c := &cobra.Command{
		Use: "nodes", Short: "Lists living nodes, and nodes that ended recently", Args: takes(false),
		Example: "  hourbell nodes\n  hourbell nodes --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
				nodes, err := client.Nodes.List(c.Context())
				if err != nil {
					return err
				}
				now, err := client.Now(c.Context())
				if err != nil {
					return err
				}
				history, err := client.Nodes.History(c.Context())
				if err != nil {
					return err
				}
				return nodeListing(now, history.Suspended()).print(p, o, all(nodes))
			})
		},
	}
	o.addTo(c)
	f.addTo(c)
	c.AddCommand(p.acceptHistoryCommand(&f))
	return c
}

// nodeState is alive, suspended (alive, but waiting for accept-history), silent
// (its lease has expired, but no node has declared it dead yet), left or died.
func nodeState(n hourbell.NodeInfo, now time.Time, suspended bool) string {
	switch {
	case n.Died:
		return "died"
	case !n.EndedAt.IsZero():
		return "left"
	case n.SeenAt.Add(n.Lease).Before(now):
		return "silent"
	case suspended:
		return "suspended"
	}
	return "alive"
}

func nodeListing(now time.Time, suspended bool) listing[hourbell.NodeInfo] {
	return listing[hourbell.NodeInfo]{
		columns: []string{"ID", "NAME", "STATE", "RUNNING", "QUEUES", "KINDS", "STARTED", "SEEN", "VERSION"},
		row: func(n hourbell.NodeInfo) []string {
			return []string{
				fmt.Sprint(n.ID), n.Name, nodeState(n, now, suspended), fmt.Sprint(n.Running),
				plain.Dash(strings.Join(n.Queues, ",")), plain.Dash(strings.Join(n.Kinds, ",")),
				plain.Stamp(n.StartedAt), plain.Stamp(n.SeenAt), n.Version,
			}
		},
		record: func(n hourbell.NodeInfo) any {
			return nodeRecord{
				ID: n.ID, Name: n.Name, State: nodeState(n, now, suspended), Version: n.Version,
				Queues: orEmpty(n.Queues), Kinds: orEmpty(n.Kinds), Lease: n.Lease.String(),
				StartedAt: timeOrNull(n.StartedAt), SeenAt: timeOrNull(n.SeenAt), EndedAt: timeOrNull(n.EndedAt),
				Died: n.Died, Running: n.Running,
			}
		},
	}
}

// orEmpty returns an empty list instead of nil, which would be encoded as null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// nodeRecord is a node in machine-readable output. Fields are only ever added.
type nodeRecord struct {
	ID        int64      `json:"id"`
	Name      string     `json:"name"`
	State     string     `json:"state"`
	Version   string     `json:"version"`
	Queues    []string   `json:"queues"`
	Kinds     []string   `json:"kinds"`
	Lease     string     `json:"lease"`
	StartedAt *time.Time `json:"started_at"`
	SeenAt    *time.Time `json:"seen_at"`
	EndedAt   *time.Time `json:"ended_at"`
	Died      bool       `json:"died"`
	Running   int64      `json:"running"` // jobs that run on the node
}
