package lock

import "time"

// trust is how far a holder may rely on its lock, on the clock of this machine
// that nobody can set (see internal/uptime). It never looks at the store's
// clock: a hold counts from when its request was sent, for the store began to
// count later than that. It is a value without a lock; Lock guards it.
type trust struct {
	lease  time.Duration // how long a renewal holds the row; 0: no keep-alive
	atMost time.Duration // when the row has to end by the at-most time
	bound  time.Duration // when the context ends by the at-most time, a little before
	until  time.Duration // when the context ends unless the row is renewed
	renew  time.Duration // when to renew it
	last   bool          // the row is held to the very end: nothing to renew
}

// Margin is how long before the end of a hold the holder stops relying on it, a
// tenth of the hold but at most 3 s: for its work to end, and for clocks that do
// not run alike.
func Margin(hold time.Duration) time.Duration { return min(hold/10, 3*time.Second) }

// newTrust begins with the request that took the lock.
func newTrust(sent, hold, atMost, lease time.Duration) trust {
	t := trust{lease: lease}
	t.extended(sent, hold, atMost)
	return t
}

// extended takes note of a row held for hold, and an at-most time, both from
// the request sent at that time. Neither ever gets shorter.
func (t *trust) extended(sent, hold, atMost time.Duration) {
	t.atMost = max(t.atMost, sent+atMost)
	t.bound = max(t.bound, sent+atMost-Margin(atMost))
	t.renewed(sent, hold)
}

// renewed takes note of a row held for hold from the request sent at that time.
func (t *trust) renewed(sent, hold time.Duration) {
	t.until = max(t.until, sent+hold-Margin(hold))
	t.renew = sent + min(hold, t.lease)/3
	t.last = t.lease == 0 || sent+hold >= t.atMost
}

// nextHold is how long a renewal sent now is to hold the row: never beyond the
// at-most time.
func (t *trust) nextHold(now time.Duration) time.Duration {
	return min(t.lease, t.atMost-now).Truncate(time.Millisecond)
}

// ended says why the lock cannot be relied on any more, or nil.
func (t *trust) ended(now time.Duration) error {
	switch {
	case now >= t.until && t.until < t.bound:
		return ErrLost
	case now >= t.bound:
		return ErrAtMost
	default:
		return nil
	}
}

// left is how long the lock can be relied on if nothing more comes.
func (t *trust) left(now time.Duration) time.Duration { return min(t.until, t.bound) - now }
