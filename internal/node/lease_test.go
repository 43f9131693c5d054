package node

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// storeAt returns the time of the store's clock at an uptime.
func storeAt(up uptime.Instant) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(up.Sub(0))
}

// at returns the instant some seconds after the start of the clock.
func at(seconds float64) uptime.Instant {
	return uptime.Instant(0).Add(time.Duration(seconds * float64(time.Second)))
}

func TestLeaseIsTrustedFromWhenTheHeartbeatWasSent(t *testing.T) {
	c := leaseClock{length: 15 * time.Second}
	c.confirmed(at(10), at(14), storeAt(at(12)))
	if !c.trusted(at(23)) {
		t.Error("not trusted 13 s after it was sent")
	}
	if c.trusted(at(23.5)) {
		t.Error("trusted until the store's lease may end; the margin is missing")
	}
}

func TestHowLongALeaseIsLeft(t *testing.T) {
	c := leaseClock{length: 15 * time.Second}
	if got := c.left(at(10)); got != 0 {
		t.Errorf("%v are left before the first heartbeat", got)
	}
	c.confirmed(at(10), at(14), storeAt(at(12)))
	for now, want := range map[uptime.Instant]time.Duration{
		at(14): 9500 * time.Millisecond, at(23): 500 * time.Millisecond, at(24): 0,
	} {
		if got := c.left(now); got != want {
			t.Errorf("at %v, %v are left, want %v", now, got, want)
		}
	}
}

func TestWhoMayDeclareOthersDead(t *testing.T) {
	beats := func(c *leaseClock, from, to int) {
		for seconds := from; seconds <= to; seconds += 5 {
			up := at(float64(seconds))
			c.confirmed(up, up, storeAt(up))
		}
	}
	for _, test := range []struct {
		name string
		do   func(c *leaseClock)
		at   uptime.Instant
		want bool
	}{
		{"just started", func(c *leaseClock) { beats(c, 100, 110) }, at(114), false},
		{"steady for one lease", func(c *leaseClock) { beats(c, 100, 115) }, at(115), true},
		{"lease not trusted now", func(c *leaseClock) { beats(c, 100, 115) }, at(129), false},
		{"one heartbeat failed", func(c *leaseClock) { beats(c, 100, 115); c.failed(); beats(c, 120, 130) }, at(134), false},
		{"one lease after the failure", func(c *leaseClock) { beats(c, 100, 115); c.failed(); beats(c, 120, 135) }, at(135), true},
		{"a gap longer than the lease", func(c *leaseClock) { beats(c, 100, 115); beats(c, 131, 141) }, at(145), false},
		{"the store's clock jumped ahead", func(c *leaseClock) {
			beats(c, 100, 115)
			c.confirmed(at(120), at(120), storeAt(at(180)))
		}, at(121), false},
		{"the store's clock was set back", func(c *leaseClock) {
			beats(c, 100, 115)
			c.confirmed(at(120), at(120), storeAt(at(60)))
		}, at(121), false},
		{"a slow answer is no jump", func(c *leaseClock) {
			beats(c, 100, 115)
			c.confirmed(at(120), at(123), storeAt(at(123)))
		}, at(123), true},
	} {
		c := leaseClock{length: 15 * time.Second}
		test.do(&c)
		if got := c.mayDeclareDead(test.at); got != test.want {
			t.Errorf("%s: mayJudge is %v", test.name, got)
		}
	}
}
