package engine

import "time"

// leaseClock knows, on this machine's own uninterrupted clock (see uptime),
// until when the node may trust its lease, and whether it may declare others
// dead. It is a value without a lock; session guards it.
type leaseClock struct {
	length time.Duration
	// trustedUntil is a margin before the lease ends in the store's eyes: the
	// lease counts from when the store got the heartbeat, we count from when
	// it was sent.
	trustedUntil time.Duration
	// steadySince is when the present unbroken row of heartbeats began.
	steadySince time.Duration
	steady      bool
	lastBeat    time.Duration
	lastStore   time.Time
}

// margin is how long before the end of its lease a node stops trusting it, so
// that the contexts of its jobs end while the claims still stand.
func margin(lease time.Duration) time.Duration { return lease / 10 }

// maxDrift is how far the store's clock may move against ours between two
// heartbeats before it counts as having been set.
const maxDrift = time.Second

// beat records a heartbeat that succeeded: sent and received by uptime, and
// the store's clock in between.
func (c *leaseClock) confirmed(sent, received time.Duration, storeNow time.Time) {
	gap := sent - c.lastBeat
	drift := storeNow.Sub(c.lastStore) - gap
	slack := maxDrift + received - sent
	if !c.steady || gap > c.length || drift > slack || drift < -slack {
		c.steadySince, c.steady = sent, true
	}
	c.trustedUntil = sent + c.length - margin(c.length)
	c.lastBeat, c.lastStore = sent, storeNow
}

// fail records a heartbeat that did not succeed: a store that was away for us
// may have been away for others, who need a lease's time to be heard again.
func (c *leaseClock) failed() { c.steady = false }

// trusted says whether the node's claims still stand.
func (c *leaseClock) trusted(now time.Duration) bool { return now < c.trustedUntil }

// left is for how long from now the node's claims stand without a heartbeat.
func (c *leaseClock) left(now time.Duration) time.Duration { return max(c.trustedUntil-now, 0) }

// mayJudge says whether the node may declare others dead.
func (c *leaseClock) mayDeclareDead(now time.Duration) bool {
	return c.steady && c.trusted(now) && now-c.steadySince >= c.length
}
