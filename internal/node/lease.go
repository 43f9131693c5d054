package node

import (
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// leaseClock decides until when the node may trust its lease, and whether the node may declare
// other nodes dead. Its instants are on the clock of package uptime. It has no lock; session guards
// it.
type leaseClock struct {
	length time.Duration
	// trustedUntil is margin before the lease expires in the store at the earliest. The store
	// counts the lease from when it received the heartbeat; leaseClock counts from when the
	// heartbeat was sent, which is not later.
	trustedUntil uptime.Instant
	// steadySince is when the present sequence of heartbeats without a failure began.
	steadySince uptime.Instant
	steady      bool
	lastBeat    uptime.Instant
	lastStore   time.Time
}

// margin is how long before its lease expires a node stops trusting the lease. The contexts of the
// node's jobs end then, while the store still refuses the jobs to other nodes.
func margin(lease time.Duration) time.Duration { return lease / 10 }

// maxDrift is how far the store's clock and the uptime may drift apart between two heartbeats. If
// they drift further, the store's clock was set.
const maxDrift = time.Second

// confirmed records a heartbeat that succeeded. The heartbeat was sent at sent and answered at
// received; the store's clock showed storeNow between the two.
func (c *leaseClock) confirmed(sent, received uptime.Instant, storeNow time.Time) {
	gap := sent.Sub(c.lastBeat)
	drift := storeNow.Sub(c.lastStore) - gap
	slack := maxDrift + received.Sub(sent)
	if !c.steady || gap > c.length || drift > slack || drift < -slack {
		c.steadySince, c.steady = sent, true
	}
	c.trustedUntil = sent.Add(c.length - margin(c.length))
	c.lastBeat, c.lastStore = sent, storeNow
}

// failed records a heartbeat that failed. If the store was unavailable to this node, it may have
// been unavailable to other nodes too; those nodes need the length of a lease to send a heartbeat
// again.
func (c *leaseClock) failed() { c.steady = false }

// trusted reports whether the node still owns its claims.
func (c *leaseClock) trusted(now uptime.Instant) bool { return now < c.trustedUntil }

// left returns how long the node owns its claims from now on without another heartbeat.
func (c *leaseClock) left(now uptime.Instant) time.Duration { return max(c.trustedUntil.Sub(now), 0) }

// mayDeclareDead reports whether the node may declare other nodes dead: only after a full lease of
// heartbeats without a failure.
func (c *leaseClock) mayDeclareDead(now uptime.Instant) bool {
	return c.steady && c.trusted(now) && now.Sub(c.steadySince) >= c.length
}
