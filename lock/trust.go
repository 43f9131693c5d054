package lock

import (
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// trust is how long a holder may rely on its lock, on a clock of this machine
// that cannot be set (see internal/uptime). It never reads the store's clock: a
// hold counts from when its request was sent, because the store began to count
// later than that. It is a value without a mutex; Lock guards it.
//
//	from                       | the holder                             | the store
//	---------------------------+----------------------------------------+-------------------
//	sent                       | relies on the lock                     | soon holds it
//	sent + lease/3             | relies on it, and tries to renew it    | holds it
//	sent + hold - Margin(hold) | does not: the lock's context has ended | holds it
//	grant + hold               |                                        | the lock is free
//
// A renewal that succeeds begins with the first row again. No hold lasts longer
// than the at-most time, and the context ends by Margin(atMost) before it.
type trust struct {
	lease  time.Duration  // how long a renewal holds the row; 0: no keep-alive
	atMost uptime.Instant // when the row must end because of the at-most time
	bound  uptime.Instant // when the context ends because of the at-most time, a little before atMost
	until  uptime.Instant // when the context ends unless the row is renewed
	renew  uptime.Instant // when the next renewal is due
	last   bool           // the row is held until atMost, so no renewal is needed
}

// Margin returns how long before the end of a hold the holder stops relying on
// it: a tenth of the hold but at most 3 s. In this time the work ends; it also
// covers clocks that run at different speeds.
func Margin(hold time.Duration) time.Duration { return min(hold/10, 3*time.Second) }

// newTrust makes the trust of the request that took the lock.
func newTrust(sent uptime.Instant, hold, atMost, lease time.Duration) trust {
	t := trust{lease: lease}
	t.extended(sent, hold, atMost)
	return t
}

// extended records that the request sent at the given time holds the row for
// hold, with an at-most time. Neither time ever gets shorter.
func (t *trust) extended(sent uptime.Instant, hold, atMost time.Duration) {
	t.atMost = max(t.atMost, sent.Add(atMost))
	t.bound = max(t.bound, sent.Add(atMost-Margin(atMost)))
	t.renewed(sent, hold)
}

// renewed records that the request sent at the given time holds the row for
// hold.
func (t *trust) renewed(sent uptime.Instant, hold time.Duration) {
	t.until = max(t.until, sent.Add(hold-Margin(hold)))
	t.renew = sent.Add(min(hold, t.lease) / 3)
	t.last = t.lease == 0 || sent.Add(hold) >= t.atMost
}

// nextHold returns how long a renewal sent now holds the row: never beyond the
// at-most time.
func (t *trust) nextHold(now uptime.Instant) time.Duration {
	return min(t.lease, t.atMost.Sub(now)).Truncate(time.Millisecond)
}

// ended returns the reason why the lock cannot be relied on any more, or nil.
func (t *trust) ended(now uptime.Instant) error {
	switch {
	case now >= t.until && t.until < t.bound:
		return ErrLost
	case now >= t.bound:
		return ErrAtMost
	default:
		return nil
	}
}

// left returns how long the lock can be relied on if no renewal follows.
func (t *trust) left(now uptime.Instant) time.Duration { return min(t.until, t.bound).Sub(now) }
