package travel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Settle lets the nodes fire all due slots and run all due jobs, also slots and jobs that become due by that,
// without moving the clock. It returns when nothing is due that a node may do, and every attempt has
// ended or waits for the clock (Sleep). If ctx ends before, the error names what goes on. Calls of
// Settle and SettleJob are made one after the other.
func (c *Clock) Settle(ctx context.Context) error {
	defer c.let(0, store.ExactJob{})()
	for released := int64(-1); ; {
		tick := c.ticked()
		if tick != released {
			if err := c.release(ctx); err != nil {
				return err
			}
			c.touch()
			released = c.ticked()
		}
		if err := c.await(ctx); err != nil {
			return err
		}
		if c.ticked() == released {
			return nil
		}
	}
}

// SettleJob lets the nodes run one attempt at a job that is due, and nothing else. It returns when no
// node takes the job, or when its attempt has ended or waits for the clock; else as Settle.
func (c *Clock) SettleJob(ctx context.Context, id int64, job store.ExactJob) error {
	defer c.let(id, job)()
	return c.await(ctx)
}

// let opens the clock to the nodes, for one job if only is not 0, and returns what closes it.
func (c *Clock) let(only int64, job store.ExactJob) (closed func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open, c.only, c.kind = true, only, job
	c.tick++
	c.opened = c.tick // a read that began before may have been turned away
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open, c.only, c.kind = false, 0, store.ExactJob{}
	}
}

// taken is Clock.only when the one job was claimed: it does not run a second time.
const taken = -1

// take records that the one job was claimed.
func (c *Clock) take() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.only = taken
}

func (c *Clock) ticked() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tick
}

// release does what nodes do after transactions of callers that ended or cancelled jobs and after the end of a lease, and passes
// cancel requests on to the runs.
func (c *Clock) release(ctx context.Context) error {
	if err := c.rescue(ctx); err != nil {
		return err
	}
	now := c.Now()
	if deferring, ok := store.Able[store.Deferring](c.below); ok {
		if err := deferring.CarryOut(ctx, store.CarryOutRequest{Now: now}); err != nil {
			return err
		}
	}
	c.mu.Lock()
	nodes := slices.Clone(c.nodes)
	c.mu.Unlock()
	for _, n := range nodes {
		if n.loops.InFlight() > 0 {
			n.loops.ReadCancels(ctx)
		}
	}
	return nil
}

const (
	// askAgain is how long a loop may take to begin a read that it was woken for, before it is woken
	// again.
	askAgain = 5 * time.Millisecond
	// look is the longest time between two looks at the nodes.
	look = 500 * time.Microsecond
)

// await wakes the loops of the nodes until each has read the store since the last tick and has found
// nothing to do, and until each attempt that runs waits for the clock.
func (c *Clock) await(ctx context.Context) error {
	pause := 10 * time.Microsecond
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		wake, busy := c.look()
		if !busy {
			return nil
		}
		for _, w := range wake {
			w.node.loops.Wake(w.wake)
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return errors.Join(errors.New(c.unsettled()), context.Cause(ctx))
		case <-c.changed:
		case <-timer.C:
			pause = min(2*pause, look)
		}
	}
}

// wakeUp is a wake-up for a loop of a node.
type wakeUp struct {
	node *Node
	wake store.Wake
}

// look returns which loops have to be woken; busy: something is due or runs, or may be due.
func (c *Clock) look() (wake []wakeUp, busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	ask := func(n *Node, r *reads, w store.Wake) {
		if r.quiet >= c.tick {
			return
		}
		busy = true
		if r.asked != c.tick || now.Sub(r.askedAt) > askAgain {
			r.asked, r.askedAt = c.tick, now
			wake = append(wake, wakeUp{n, w})
		}
	}
	for _, n := range c.nodes {
		sleep, _ := n.asleep("")
		busy = busy || n.loops.InFlight() > sleep
		if !n.joined {
			continue
		}
		if c.only == 0 {
			ask(n, &n.slots, store.Wake{Kind: store.WakeSchedules})
		}
		for queue, r := range n.queues {
			if !n.full(queue) {
				ask(n, r, store.Wake{Kind: store.WakeJobs, Queue: queue})
			}
		}
	}
	return wake, busy
}

// unsettled describes what goes on.
func (c *Clock) unsettled() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var runs []string
	for _, n := range c.nodes {
		for a := range n.attempts {
			if !a.asleep() {
				runs = append(runs, fmt.Sprintf("job %d (kind %s, attempt %d)", a.job.ID, a.job.Kind, a.job.Attempt))
			}
		}
	}
	if len(runs) == 0 {
		return fmt.Sprintf("nodes still find work at %s", c.now.Format(time.RFC3339Nano))
	}
	slices.Sort(runs)
	return "still running: " + strings.Join(runs, ", ")
}
