package node

import (
	"context"
	"fmt"
	"sync"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
)

// expiry is when the lease of another node expires first, if that node sends no more heartbeats.
// The instant is on the clock of package uptime.
type expiry struct {
	mu    sync.Mutex
	at    uptime.Instant
	known bool
}

func (x *expiry) set(sent uptime.Instant, res store.HeartbeatResult) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known = !res.NextExpiry.IsZero()
	x.at = sent.Add(res.NextExpiry.Sub(res.Now))
}

func (x *expiry) due(now uptime.Instant) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.known && now >= x.at
}

func (x *expiry) clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known = false
}

// Rescues takes the jobs of dead nodes, on the signal that watchLease sends when a lease has
// expired. As long as all nodes send heartbeats, no lease expires, and Rescues makes no calls.
func (n *Node) Rescues(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.rescueNow:
		}
		if ctx.Err() != nil {
			return
		}
		if node, beat, may := n.session.mayDeclareDead(); may && n.expiry.due(n.around.Uptime()) && !n.history.blocked() {
			n.rescue(ctx, node, beat)
		}
	}
}

// RescueNow takes the jobs of dead nodes at once, by a clock on which every node that lives has just sent a heartbeat. It is for
// package travel.
func (n *Node) RescueNow(ctx context.Context) {
	node, beat, _ := n.session.mayDeclareDead()
	n.rescue(ctx, node, beat)
}

// rescue takes the jobs of dead nodes, unless the node sends another heartbeat before the call arrives:
// the answer to that one may be that leases only seem to have expired.
func (n *Node) rescue(ctx context.Context, node, beat int64) {
	call, cancel := context.WithTimeout(ctx, n.cfg.CallTimeout)
	defer cancel()
	res, err := n.cfg.Store.Rescue(call, store.RescueRequest{Node: node, Beat: beat, After: n.cfg.AfterLoss})
	if err != nil {
		n.report.StoreFailed("rescue", err)
		return
	}
	n.report.StoreWorks("rescue")
	n.expiry.clear()
	n.heartbeatNow.Notify() // its answer contains when the next lease expires
	n.emitRescued(res)
	if len(res.Nodes)+len(res.Jobs) > 0 { // also without jobs: the node may have owed wake-ups, or have been the node that polls
		n.cfg.Wakes.WakeJobs("")
	}
}

// emitRescued emits the events of a rescue.
func (n *Node) emitRescued(res store.RescueResult) {
	names := make(map[int64]string, len(res.Nodes))
	counts := make(map[int64]int64, len(res.Nodes))
	for _, job := range res.Jobs {
		counts[job.Node]++
	}
	for _, node := range res.Nodes {
		names[node.ID] = node.Name
		n.report.Emit(event.Event{Kind: event.NodeDied, Name: node.Name, Detail: fmt.Sprintf("node %d", node.ID), Count: counts[node.ID]})
	}
	n.emitTaken(res.Jobs, func(node int64) string { return fmt.Sprintf("%s (node %d)", names[node], node) })
}

// emitTaken emits the events of jobs that were taken from their nodes.
func (n *Node) emitTaken(jobs []store.RescuedJob, name func(node int64) string) {
	for _, job := range jobs {
		kind := event.JobRescued
		switch job.State {
		case store.StateFailed:
			kind = event.JobLost
		case store.StateCancelled:
			kind = event.JobCancelled
		}
		detail := "had not begun on "
		if job.Begun {
			detail = "ran, or was about to begin, on "
		}
		n.report.Emit(event.Event{
			Kind: kind, Job: job.ID, Token: job.Token, JobKind: job.Kind, Queue: job.Queue, Detail: detail + name(job.Node),
		})
	}
}
