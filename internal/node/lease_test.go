package node

import (
	"testing"
	"time"
)

// storeAt returns the time of the store's clock at an uptime.
func storeAt(up time.Duration) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(up)
}

func TestLeaseIsTrustedFromWhenTheHeartbeatWasSent(t *testing.T) {
	c := leaseClock{length: 15 * time.Second}
	c.confirmed(10*time.Second, 14*time.Second, storeAt(12*time.Second))
	if !c.trusted(23 * time.Second) {
		t.Error("not trusted 13 s after it was sent")
	}
	if c.trusted(23500 * time.Millisecond) {
		t.Error("trusted until the store's lease may end; the margin is missing")
	}
}

func TestHowLongALeaseIsLeft(t *testing.T) {
	c := leaseClock{length: 15 * time.Second}
	if got := c.left(10 * time.Second); got != 0 {
		t.Errorf("%v are left before the first heartbeat", got)
	}
	c.confirmed(10*time.Second, 14*time.Second, storeAt(12*time.Second))
	for now, want := range map[time.Duration]time.Duration{
		14 * time.Second: 9500 * time.Millisecond, 23 * time.Second: 500 * time.Millisecond, 24 * time.Second: 0,
	} {
		if got := c.left(now); got != want {
			t.Errorf("at %v, %v are left, want %v", now, got, want)
		}
	}
}

func TestWhoMayDeclareOthersDead(t *testing.T) {
	const s = time.Second
	beats := func(c *leaseClock, from, to time.Duration) {
		for up := from; up <= to; up += 5 * s {
			c.confirmed(up, up, storeAt(up))
		}
	}
	for _, test := range []struct {
		name string
		do   func(c *leaseClock)
		at   time.Duration
		want bool
	}{
		{"just started", func(c *leaseClock) { beats(c, 100*s, 110*s) }, 114 * s, false},
		{"steady for one lease", func(c *leaseClock) { beats(c, 100*s, 115*s) }, 115 * s, true},
		{"lease not trusted now", func(c *leaseClock) { beats(c, 100*s, 115*s) }, 129 * s, false},
		{"one heartbeat failed", func(c *leaseClock) { beats(c, 100*s, 115*s); c.failed(); beats(c, 120*s, 130*s) }, 134 * s, false},
		{"one lease after the failure", func(c *leaseClock) { beats(c, 100*s, 115*s); c.failed(); beats(c, 120*s, 135*s) }, 135 * s, true},
		{"a gap longer than the lease", func(c *leaseClock) { beats(c, 100*s, 115*s); beats(c, 131*s, 141*s) }, 145 * s, false},
		{"the store's clock jumped ahead", func(c *leaseClock) {
			beats(c, 100*s, 115*s)
			c.confirmed(120*s, 120*s, storeAt(180*s))
		}, 121 * s, false},
		{"the store's clock was set back", func(c *leaseClock) {
			beats(c, 100*s, 115*s)
			c.confirmed(120*s, 120*s, storeAt(60*s))
		}, 121 * s, false},
		{"a slow answer is no jump", func(c *leaseClock) {
			beats(c, 100*s, 115*s)
			c.confirmed(120*s, 123*s, storeAt(123*s))
		}, 123 * s, true},
	} {
		c := leaseClock{length: 15 * s}
		test.do(&c)
		if got := c.mayDeclareDead(test.at); got != test.want {
			t.Errorf("%s: mayJudge is %v", test.name, got)
		}
	}
}
