package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// wentBack is what was witnessed of a store that went back to a backup. What happened before the operator accepted the loss is
// here; in the other fields of the witness is what happened since.
type wentBack struct {
	backup, at moment
	confirmed  moment          // when the operator asked first
	accepted   moment          // when the operator had the answer
	refire     bool            // slots of the lost time may fire again
	noticed    bool            // within two leases
	steady     map[string]bool // nodes that lived when the store went back
	asked      []*asked        // answered before the backup
	runs       []*run          // began before the answer
	jobs       map[int64]bool  // stored at the answer
}

// noticing is how long nodes may take, besides a lease, to notice that the store went back: each has a heartbeat in this time, or
// loses its lease.
const noticing = 5 * time.Second

// makeBackup makes a backup, and restores it after some time under the running nodes.
func (c *cluster) makeBackup(after time.Duration) {
	in := c.store.(*memory.Store)
	saved, at := in.Backup(), c.moment()
	c.gate.at(time.Now().Add(after), "the store goes back", func() {
		c.trace.add("the store goes back to %s", clock(at.Store))
		in.Restore(saved)
		c.claims.stop()
		back := &wentBack{backup: at, at: c.moment(), steady: map[string]bool{}, refire: c.dice.part("refire", 0) < 0.3}
		for _, n := range c.nodes {
			back.steady[n.name] = !n.over()
		}
		c.witness.back = back
		c.gate.at(time.Now().Add(2*c.plan.Lease), "the loss is noticed", func() {
			c.asks("operator", func(ctx context.Context) { c.acceptLoss(ctx, in, back) })
		})
	})
}

// acceptLoss accepts the loss of history some time after it was noticed, and separates what was witnessed before from what follows.
func (c *cluster) acceptLoss(ctx context.Context, in *memory.Store, back *wentBack) {
	ctx = context.WithoutCancel(ctx) // the store may be away
	position, err := store.ReadPosition(ctx, in)
	back.noticed = err != nil || position.Suspended()
	_ = c.gate.await(ctx, &stop{key: "user operator waits", arrive: func(int) time.Time {
		return time.Now().Add(c.dice.span("operator", 0, 30*time.Second))
	}})
	back.confirmed = c.moment()
	for n := 0; ; n++ {
		attempt, stop := context.WithTimeout(ctx, time.Minute)
		// By force, because no node may have seen what was lost.
		_, err = c.user.Nodes.AcceptHistory(attempt, hourbell.AcceptHistoryRequest{Refire: back.refire, Force: true})
		stop()
		c.answered(ctx)
		c.trace.add("the loss is accepted: %v", err)
		if err == nil || n == 20 {
			break
		}
	}
	if err != nil {
		c.witness.crash = append(c.witness.crash, fmt.Sprintf("accept the history: %v", err))
	}
	jobs, _ := in.ListJobs(ctx, store.ListJobsRequest{Limit: 1 << 30})
	c.witness.separate(c.moment(), jobs)
	c.ids = map[string]int64{}
	for _, a := range back.asked {
		c.ids[a.Job.Label] = a.ID
	}
}

// separate moves what was witnessed so far out of the sight of the checks that judge one history. Jobs of before count as changed by
// hand from now on, schedules of before as paused, and nothing of before as in force.
func (w *witness) separate(now moment, jobs []store.JobInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	back := w.back
	back.accepted, back.runs, w.runs = now, w.runs, nil
	for _, a := range w.asked {
		if a.Err == nil && a.ID != 0 && !a.To.Real.IsZero() && a.To.Real.Before(back.backup.Real) {
			back.asked = append(back.asked, a)
		}
	}
	w.asked, w.changed, back.jobs = nil, map[int64]bool{}, map[int64]bool{}
	w.sent, w.forgot, w.parked = nil, nil, map[string]bool{}
	for i := range jobs {
		w.changed[jobs[i].ID], back.jobs[jobs[i].ID] = true, true
	}
	w.rules, w.halts, w.limits, w.pauses, w.cancels, w.handlers, w.calendars = nil, nil, nil, nil, nil, nil, nil
	w.skips = map[string]time.Duration{}
	for name := range w.follows {
		w.every[name], w.halted[name], w.alone[name] = 0, true, false
	}
}

// knows reports whether a job that was asked for may be known by its answer: not if the store went back or may do so before
// the loss is accepted.
func (b *wentBack) knows(a *asked) bool {
	return b == nil || b.accepted.Real.Before(a.At.Real) && !b.accepted.Real.IsZero()
}

// before reports whether a job was stored before the loss of history was accepted.
func (b *wentBack) before(id int64) bool { return b != nil && b.jobs[id] }
