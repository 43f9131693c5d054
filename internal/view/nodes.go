package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// NodeState returns the word for a node's state: alive, suspended (alive, but waiting for accept-history), silent
// (its lease has expired, but no node has declared it dead yet), left or died.
func NodeState(n store.NodeInfo, now time.Time, suspended bool) string {
	switch {
	case n.Died:
		return "died"
	case !n.EndedAt.IsZero():
		return "left"
	case !n.Alive(now):
		return "silent"
	case suspended:
		return "suspended"
	}
	return "alive"
}

// NodeListing shows nodes. now is the time of the store's clock; suspended reports
// that the nodes wait for accept-history.
func NodeListing(now time.Time, suspended bool) Listing[store.NodeInfo] {
	return Listing[store.NodeInfo]{
		Columns: []string{"ID", "NAME", "HOST", "LABELS", "STATE", "RUNNING", "QUEUES", "KINDS", "STARTED", "SEEN", "VERSION"},
		Minor:   []string{"KINDS", "LABELS", "STARTED", "HOST", "VERSION", "ID", "QUEUES"},
		Row: func(n store.NodeInfo) []string {
			return []string{
				fmt.Sprint(n.ID), n.Name, plain.Dash(n.Host), plain.Dash(strings.Join(n.Labels, ",")), NodeState(n, now, suspended), fmt.Sprint(n.Running),
				plain.Dash(strings.Join(n.Queues, ",")), plain.Dash(strings.Join(kindsOf(n), ",")),
				plain.Stamp(n.StartedAt), plain.Stamp(n.SeenAt), n.Version,
			}
		},
		Record: func(n store.NodeInfo) any { return NewNodeRecord(n, now, suspended) },
	}
}

// orEmpty returns an empty list instead of nil, which would be encoded as null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// NodeRecord is a node in machine-readable output. Fields are only ever added.
type NodeRecord struct {
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
	Host      string     `json:"host"`    // on which the node runs
	Labels    []string   `json:"labels"`  // each KEY=VALUE
	// What is wrong with the node, as it reports it.
	Problems []NodeProblemRecord `json:"problems" nullable:"false"`
}

// NodeProblemRecord is a problem of a node in machine-readable output. Fields are only ever added.
type NodeProblemRecord struct {
	Name    string     `json:"name"`
	Subject string     `json:"subject"`
	Text    string     `json:"text"`
	Since   *time.Time `json:"since"`
}

// NewNodeRecord returns the record of a node; see NodeState for now and suspended.
func NewNodeRecord(n store.NodeInfo, now time.Time, suspended bool) NodeRecord {
	problems := []NodeProblemRecord{}
	for _, p := range n.Problems {
		problems = append(problems, NodeProblemRecord{p.Name, p.Subject, p.Text, timeOrNull(p.Since)})
	}
	return NodeRecord{
		ID: n.ID, Name: n.Name, State: NodeState(n, now, suspended), Version: n.Version,
		Queues: orEmpty(n.Queues), Kinds: orEmpty(kindsOf(n)), Lease: n.Lease.String(),
		StartedAt: timeOrNull(n.StartedAt), SeenAt: timeOrNull(n.SeenAt), EndedAt: timeOrNull(n.EndedAt),
		Died: n.Died, Running: n.Running, Host: n.Host, Labels: orEmpty(n.Labels), Problems: problems,
	}
}

// ForgottenRecord is a host that was forgotten, in machine-readable output. Fields are only ever added.
type ForgottenRecord struct {
	Host      string `json:"host"`
	Nodes     int    `json:"nodes"`     // nodes that had ended
	Copies    int    `json:"copies"`    // files that the host had declared
	Schedules int    `json:"schedules"` // schedules that only these files declared
}

// NewForgottenRecord returns the record of a host that was forgotten.
func NewForgottenRecord(host string, done hourbell.ForgottenHost) ForgottenRecord {
	return ForgottenRecord{host, done.Nodes, done.Copies, done.Schedules}
}

// ForgottenFacts returns the facts about a host that was forgotten.
func ForgottenFacts(host string, done hourbell.ForgottenHost) []Fact {
	return []Fact{
		{"forgotten", host}, {"nodes", fmt.Sprint(done.Nodes)}, {"copies", fmt.Sprint(done.Copies)}, {"schedules", fmt.Sprint(done.Schedules)},
	}
}

// kindsOf returns the kinds that a node has workers for.
func kindsOf(n store.NodeInfo) []string {
	return slices.DeleteFunc(slices.Clone(n.Kinds), func(kind string) bool { return kind == store.ChildrenKind })
}
