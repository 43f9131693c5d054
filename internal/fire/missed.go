package fire

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// undeclared returns the reason for missed slots of a schedule whose jobs this node may not
// run: if a file declares the schedule, and no living node is on a host that has this version of
// the file. It is empty if another reason applies, or if the store does not answer.
func (f *firer) undeclared(ctx context.Context, s store.Schedule) string {
	name, host := s.Owner, store.HostOf(s.Name, s.Owner)
	if host != "" {
		name = f.ownerOf(ctx, store.EveryOf(s.Owner))
	}
	if name == "" {
		return ""
	}
	owners, err := f.cfg.Store.ListOwners(ctx, store.ListOwnersRequest{Names: []string{name}, Limit: 1})
	if err != nil || len(owners) == 0 || len(owners[0].Copies) == 0 {
		return ""
	}
	nodes, err := f.cfg.Store.ListNodes(ctx)
	if err != nil {
		return ""
	}
	declaring := owners[0].Declaring()
	if host != "" {
		return otherVersion(host, declaring, nodes)
	}
	for _, n := range nodes {
		if n.EndedAt.IsZero() && slices.Contains(declaring, n.Host) {
			return ""
		}
	}
	const nowhere = "no living node has this version of the line: it is declared by "
	if len(declaring) == 0 {
		return nowhere + "no host any more"
	}
	for i, host := range declaring {
		declaring[i] = "host " + host
		if seen := lastSeen(nodes, host); !seen.IsZero() {
			declaring[i] += ", last seen at " + seen.UTC().Format(time.RFC3339)
		}
	}
	return nowhere + strings.Join(declaring, "; ")
}

// ownerOf returns the owner of a schedule; empty: it has none, or the store does not answer.
func (f *firer) ownerOf(ctx context.Context, schedule string) string {
	rows, err := f.cfg.Store.ListSchedules(ctx, store.ListSchedulesRequest{Names: []string{schedule}, Limit: 1})
	if err != nil || len(rows) == 0 {
		return ""
	}
	return rows[0].Owner
}

// otherVersion returns the reason for missed slots of the schedule of a host whose nodes live, if the host is not among the hosts that
// declare the schedule as it is.
func otherVersion(host string, declaring []string, nodes []store.NodeInfo) string {
	lives := slices.ContainsFunc(nodes, func(n store.NodeInfo) bool { return n.Host == host && n.EndedAt.IsZero() })
	if !lives || len(declaring) == 0 || slices.Contains(declaring, host) {
		return ""
	}
	return "host " + host + " has another version of the line: it is declared by host " + strings.Join(declaring, ", host ")
}

// lastSeen returns when a node of a host was seen last; zero if no node of it is known.
func lastSeen(nodes []store.NodeInfo, host string) (at time.Time) {
	for _, n := range nodes {
		if n.Host == host && n.SeenAt.After(at) {
			at = n.SeenAt
		}
	}
	return at
}

// explainMissed gives missed slots the reason that no living node has this version of their line,
// if that is the reason.
func (f *firer) explainMissed(ctx context.Context, p plan.Plan, s store.Schedule, firing store.Firing) store.Firing {
	if !slices.ContainsFunc(firing.Slots, func(r store.SlotRecord) bool { return r.Outcome == store.SlotMissed }) {
		return firing
	}
	if why := f.undeclared(ctx, s); why != "" {
		firing = p.MissedBecause(s, firing, why)
	}
	return firing
}
