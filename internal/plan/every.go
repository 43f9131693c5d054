package plan

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// A schedule on every host is spread: each host has a schedule that is made from it, with the host as its place. So marks,
// records of slots, overlaps, serial groups, failures and early firings are per host, and are as for any other schedule
// (docs/adr/0060-a-schedule-on-every-host-is-spread.md).

// spreadInterval is how often the hosts of a schedule are compared with the nodes that the store knows. A change of the schedule
// is spread at once.
const spreadInterval = time.Minute

// MaxInstants is the greatest count of a schedule on every host, because its instants are counted from its anchor each time.
const MaxInstants = 100_000

// Spreads reports whether a schedule with this definition is spread over hosts. It does not decode the definitions of most other
// schedules.
func Spreads(definition []byte) bool {
	if !bytes.Contains(definition, []byte(`"every":true`)) {
		return false
	}
	d, err := DecodeDefinition(definition)
	return err == nil && d.On.Every
}

// Expected returns the hosts on which a schedule with a place that is spread runs, in byte order: the hosts of all nodes, or of
// nodes with the label of the place. What the living nodes of a host are counts; if none of them lives, the node that was seen last.
func (p Place) Expected(nodes []store.NodeInfo) (hosts []string) {
	lives, last := byHost(nodes)
	fits := func(n store.NodeInfo) bool { return p.Label == "" || slices.Contains(n.Labels, p.Label) }
	for _, n := range nodes {
		if n.Host != "" && fits(n) && (n.EndedAt.IsZero() || !lives[n.Host] && last[n.Host].ID == n.ID) {
			hosts = append(hosts, n.Host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// byHost returns which hosts have living nodes, and the node of each host that was seen last.
func byHost(nodes []store.NodeInfo) (lives map[string]bool, last map[string]store.NodeInfo) {
	lives, last = map[string]bool{}, map[string]store.NodeInfo{}
	for _, n := range nodes {
		lives[n.Host] = lives[n.Host] || n.EndedAt.IsZero()
		if known, ok := last[n.Host]; !ok || n.SeenAt.After(known.SeenAt) {
			last[n.Host] = n
		}
	}
	return lives, last
}

// ForHost returns the definition of the schedule of a host that is made from s, whose definition is d. An edge from another
// schedule on every host, as every reports by name, is an edge from the schedule of the same host.
func (d Definition) ForHost(s store.Schedule, host string, every map[string]bool) Definition {
	d.On, d.Anchor = Place{Host: host}, s.Anchor.UTC()
	d.After = slices.Clone(d.After)
	for i, e := range d.After {
		if every[e.Schedule] {
			d.After[i].Schedule = store.HostSchedule(e.Schedule, host)
		}
	}
	return d
}

// AnchorOf returns the instant from which the schedule of a row counts.
func (d Definition) AnchorOf(s store.Schedule) time.Time {
	if d.Anchor.IsZero() {
		return s.Anchor
	}
	return d.Anchor
}

// onHosts reports whether the schedule is on every host, or is the schedule of a host that is made from such a schedule.
func (d Definition) onHosts() bool { return d.On.Every || !d.Anchor.IsZero() }

// boundInstants makes the count of a schedule on every host the end of its rule. The count is of instants, not of slots that fired
// on a host, so the end is the same for each host, and does not depend on when the host joined.
func (p *Plan) boundInstants(s store.Schedule, zones *recur.Zones) error {
	anchor := p.AnchorOf(s)
	last := anchor
	for range p.Count {
		next := p.Rule.Next(last)
		if next.IsZero() {
			p.Count = 0
			return nil
		}
		last = next
	}
	spec := p.Definition.Rule
	spec.Stop = last.UTC().Format(time.RFC3339Nano)
	rule, err := zones.Rule(spec, anchor)
	if err == nil {
		p.Rule, p.Count = rule, 0
	}
	return err
}

// awaitComparison accounts for a schedule on every host, which has no slots: it is due again when its hosts are to be compared with the
// nodes.
func (p Plan) awaitComparison(s store.Schedule, now time.Time) store.Firing {
	mark := later(s.Mark, now)
	return store.Firing{
		Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, PausedAt: s.LastPausedAt(),
		NewMark: mark, NewNextAt: mark.Add(spreadInterval), Overlap: p.overlap(),
	}
}

// NoHost returns why a schedule that is spread over hosts has no host, or is empty.
func (p Place) NoHost(nodes []store.NodeInfo) string {
	switch {
	case len(p.Expected(nodes)) > 0:
		return ""
	case p.Label != "":
		return "no host" + Place{Label: p.Label}.Whose() + " is known; start a node with --label " + p.Label
	}
	return "no host is known; start a node"
}

// follows reports whether an edge is from the schedule from which a schedule of a host is made.
func (e Edge) follows(schedule string) bool {
	host, made := strings.CutPrefix(schedule, store.HostSchedule(e.Schedule, ""))
	return made && !strings.Contains(host, beforePlace)
}
