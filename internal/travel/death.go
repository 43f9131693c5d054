package travel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// life is what the clock knows of a registration of a node. The mutex of the clock guards it.
type life struct {
	number int64
	lease  time.Duration
	beatAt time.Time // by the clock, of the last heartbeat that the store answered; zero: none
	token  int64     // the greatest token of the claims of the node
	// dead is the greatest token of the claims that were lost with an earlier registration: the store gets no
	// outcome of them.
	dead int64
	dies bool // the node learns by its next heartbeat that its registration has ended
}

// expired are registrations whose nodes have died and whose leases have ended, by their numbers.
type expired map[int64]bool

// Kill lets the node that runs a job die: its last heartbeat is at the instant of the clock, no outcome of its claims is
// recorded, and the contexts of its runs end. The node is registered again under a new number, as by a program that
// is started again. When the clock has moved by the lease, a node takes the lost jobs. Kill returns when the runs have
// returned; if ctx ends before, the error names the runs that have not. Kill and Settle are called one after the other.
func (c *Clock) Kill(ctx context.Context, job int64) error {
	n := c.runs(job)
	if n == nil {
		return fmt.Errorf("no node runs job %d", job)
	}
	if err := c.beat(ctx, n); err != nil {
		return err
	}
	c.mu.Lock()
	n.life.dead, n.life.dies, n.joined = n.life.token, true, false
	number, lease := n.life.number, n.life.lease
	c.mu.Unlock()
	c.after(lease, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.expired[number] = true
	})
	n.loops.Heartbeat()
	return c.until(ctx, func() bool { return n.joined && n.loops.InFlight() == 0 })
}

// runs returns the node that runs a job; nil: none.
func (c *Clock) runs(job int64) *Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		for a := range n.attempts {
			if a.job.ID == job && a.job.Token > n.life.dead {
				return n
			}
		}
	}
	return nil
}

// beat makes a node send a heartbeat, and waits until it has sent one at the instant of the clock.
func (c *Clock) beat(ctx context.Context, n *Node) error {
	n.loops.Heartbeat()
	return c.until(ctx, func() bool { return n.life.beatAt.Equal(c.now) })
}

// rescue lets a node take the jobs of the nodes whose leases have ended since they died. Nodes that live send a heartbeat before,
// because the clock may have moved further than their leases.
func (c *Clock) rescue(ctx context.Context) error {
	for {
		c.mu.Lock()
		living := c.living()
		done := len(c.expired) == 0 || len(living) == 0
		c.mu.Unlock()
		if done {
			return nil
		}
		for _, n := range living {
			if err := c.beat(ctx, n); err != nil {
				return err
			}
		}
		living[0].loops.Rescue(ctx) // has no effect if the node has sent another heartbeat before
		if ctx.Err() != nil {
			return errors.Join(errors.New("nodes do not take the jobs of a node that has died"), context.Cause(ctx))
		}
	}
}

// until waits until a condition is true, which is read with the mutex.
func (c *Clock) until(ctx context.Context, met func() bool) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		c.mu.Lock()
		ok := met()
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(errors.New(c.unsettled()), context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// registered records a registration.
func (n *Node) registered(number int64, lease time.Duration) {
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	n.life.number, n.life.lease, n.life.dies, n.life.beatAt = number, lease, false, time.Time{}
}

// Heartbeat implements store.Nodes. The node does not get to know when the lease of another node expires, because that is by the
// clock: see Clock.rescue.
func (b nodeBackend) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	c, life := b.node.clock, &b.node.life
	c.mu.Lock()
	died := life.dies
	c.mu.Unlock()
	if died {
		return store.HeartbeatResult{}, store.ErrNodeGone
	}
	at := c.Now()
	res, err := b.Backend.Heartbeat(ctx, req)
	res.NextExpiry = time.Time{}
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		life.beatAt = at
	}
	return res, err
}

// Rescue implements store.Nodes.
func (b nodeBackend) Rescue(ctx context.Context, req store.RescueRequest) (store.RescueResult, error) {
	res, err := b.Backend.Rescue(ctx, req)
	c := b.node.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range res.Nodes {
		delete(c.expired, n.ID)
	}
	return res, err
}

// claimed records claims of the node.
func (n *Node) claimed(jobs []store.Claimed) {
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	for i := range jobs {
		n.life.token = max(n.life.token, jobs[i].Token)
	}
}

// refuse takes the outcomes of claims that were lost when the node died out of a request, and returns these claims.
func (n *Node) refuse(req *store.FinishRequest) (lost []store.ClaimRef) {
	n.clock.mu.Lock()
	dead := n.life.dead
	n.clock.mu.Unlock()
	is := func(o store.Outcome) bool { return o.Token <= dead }
	if !slices.ContainsFunc(req.Outcomes, is) {
		return nil
	}
	req.Outcomes = slices.DeleteFunc(slices.Clone(req.Outcomes), func(o store.Outcome) bool {
		if is(o) {
			lost = append(lost, store.ClaimRef{ID: o.ID, Token: o.Token})
		}
		return is(o)
	})
	return lost
}
