package engine

import (
	"context"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
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

func TestARunIsNotHeldByALaterLease(t *testing.T) {
	if left, lease := new(Run).HeldFor(); left != 0 || lease != 0 {
		t.Errorf("a run without a claim: %v of %v", left, lease)
	}
	s := newSession(t.Context(), time.Minute)
	s.confirm(1, uptime.Now(), uptime.Now(), time.Now())
	_, ctx, _ := s.current()
	run := &Run{sessionCtx: ctx, lease: s}
	if left, lease := run.HeldFor(); left < 50*time.Second || left > 54*time.Second || lease != time.Minute {
		t.Errorf("%v of %v are left", left, lease)
	}
	s.lose(ErrClaimLost)
	s.confirm(1, uptime.Now(), uptime.Now(), time.Now())
	if left, _ := run.HeldFor(); left != 0 {
		t.Errorf("%v are left of a lost claim", left)
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

func TestBackoff(t *testing.T) {
	const longest = maxBackoff * 10 / 11
	for attempt, want := range map[int]time.Duration{1: time.Second, 2: 16 * time.Second, 5: 625 * time.Second, 17: longest, 18: longest, 1000: longest} {
		least, most := maxBackoff, time.Duration(0)
		for range 1000 {
			got := backoff(attempt)
			least, most = min(least, got), max(most, got)
		}
		if least < want*9/10 || most > want*11/10 || most > 24*time.Hour {
			t.Errorf("attempt %d: %v to %v, want %v ± 10 %% and at most 24 h", attempt, least, most, want)
		}
		if most-least < want/10 {
			t.Errorf("attempt %d: %v to %v is hardly spread", attempt, least, most)
		}
	}
}

// TestNothingStartsAfterTheLease stops the process between a claim and the start of its jobs, for
// longer than the lease. The contexts of the jobs have not ended yet.
func TestNothingStartsAfterTheLease(t *testing.T) {
	for name, ago := range map[string]time.Duration{"in time": 0, "too late": time.Minute} {
		t.Run(name, func(t *testing.T) {
			var ran, lost int
			e := New(Config{
				Lease: time.Minute, Timeout: func(store.Claimed) time.Duration { return 0 },
				Work: func(context.Context, *Run) error { ran++; return nil },
				Sink: func(ev event.Event) {
					if ev.Kind == event.LeaseLost {
						lost++
					}
				},
			})
			e.session = newSession(t.Context(), time.Minute)
			now := uptime.Now()
			e.session.confirm(1, now, now, time.Now())
			_, session, ok := e.session.current()
			if !ok {
				t.Fatal("the lease is not trusted")
			}
			e.session.mu.Lock()
			e.session.clock.trustedUntil -= ago
			e.session.trustedUntil.Add(-int64(ago))
			e.session.mu.Unlock()
			e.execute(&Run{Claimed: store.Claimed{JobSpec: store.JobSpec{MaxAttempts: 3}, ID: 1, Token: 2, Attempt: 1}, sessionCtx: session, lease: e.session})
			late := ago > 0
			if (ran == 0) != late || (lost == 1) != late || (session.Err() != nil) != late {
				t.Errorf("it ran %d times, the lease was reported lost %d times, its context: %v", ran, lost, session.Err())
			}
			if got := e.outcomes.waiting[0].outcome.Result; (got == store.Release) != late {
				t.Errorf("the outcome is %d", got)
			}
		})
	}
}
