package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
)

// expiry is when, by uptime, the first lease of another node passes if it
// stays silent.
type expiry struct {
	mu    sync.Mutex
	at    time.Duration
	known bool
}

func (x *expiry) set(sent time.Duration, res store.HeartbeatResult) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known = !res.NextExpiry.IsZero()
	x.at = sent + res.NextExpiry.Sub(res.Now)
}

func (x *expiry) due() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.known && uptime.Now() >= x.at
}

func (x *expiry) clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known = false
}

// rescues takes the jobs of dead nodes whenever watchLease sees a lease pass.
// A living node's lease never passes, so that this costs nothing in peace.
func (e *Engine) rescues(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.rescueNow:
		}
		if e.expiry.due() && e.session.mayDeclareDead() && !e.history.blocked() {
			e.rescue(ctx)
		}
	}
}

func (e *Engine) rescue(ctx context.Context) {
	call, cancel := context.WithTimeout(ctx, e.cfg.CallTimeout)
	defer cancel()
	res, err := e.cfg.Backend.Rescue(call, store.RescueRequest{Node: e.session.number(), After: lostFollowUp})
	if err != nil {
		e.storeErrors.add("rescue", err)
		return
	}
	e.storeErrors.clear("rescue")
	e.expiry.clear()
	e.heartbeatNow.notify() // to learn when the next one would pass
	e.emitRescued(res)
	if len(res.Jobs) > 0 {
		e.wakes.jobs("")
	}
}

// tellRescued turns what was taken into events.
func (e *Engine) emitRescued(res store.RescueResult) {
	names := make(map[int64]string, len(res.Nodes))
	counts := make(map[int64]int64, len(res.Nodes))
	for _, job := range res.Jobs {
		counts[job.Node]++
	}
	for _, node := range res.Nodes {
		names[node.ID] = node.Name
		e.emit(event.Event{Kind: event.NodeDied, Name: node.Name, Detail: fmt.Sprintf("node %d", node.ID), Count: counts[node.ID]})
	}
	e.emitTaken(res.Jobs, func(node int64) string { return fmt.Sprintf("%s (node %d)", names[node], node) })
}

// tellTaken tells what became of jobs that were taken from their nodes.
func (e *Engine) emitTaken(jobs []store.RescuedJob, name func(node int64) string) {
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
		e.emit(event.Event{
			Kind: kind, Job: job.ID, Token: job.Token, JobKind: job.Kind, Queue: job.Queue, Detail: detail + name(job.Node),
		})
	}
}
