package lock

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// at returns the instant some seconds after the start of the clock.
func at(seconds int) uptime.Instant {
	return uptime.Instant(0).Add(time.Duration(seconds) * time.Second)
}

func TestTrust(t *testing.T) {
	const s = time.Second
	kept := func() trust { return newTrust(at(100), 30*s, 3600*s, 30*s) }
	for _, test := range []struct {
		name  string
		trust trust
		at    uptime.Instant
		ended error
	}{
		{"granted", kept(), at(100), nil},
		{"not renewed", kept(), at(127), ErrLost},
		{"just before", kept(), at(127) - 1, nil},
		{"renewed late", renewedAt(kept(), at(120), 30*s), at(146), nil},
		{"and not again", renewedAt(kept(), at(120), 30*s), at(147), ErrLost},
		{"to the end", renewedAt(kept(), at(3680), 20*s), at(3696), nil},
		{"at-most, the margin of the whole before", renewedAt(kept(), at(3680), 20*s), at(3697), ErrAtMost},
		{"suspended for long", kept(), at(9999), ErrLost},
		{"not kept alive", newTrust(at(100), 60*s, 60*s, 0), at(156), nil},
		{"not kept alive, at-most", newTrust(at(100), 60*s, 60*s, 0), at(157), ErrAtMost},
		{"at-most within a lease", newTrust(at(100), 10*s, 10*s, 30*s), at(109), ErrAtMost},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.trust.ended(test.at); got != test.ended {
				t.Errorf("got %v, want %v", got, test.ended)
			}
		})
	}
}

func renewedAt(t trust, sent uptime.Instant, hold time.Duration) trust {
	t.renewed(sent, hold)
	return t
}

func TestTrustRenewal(t *testing.T) {
	const s = time.Second
	x := newTrust(at(0), 30*s, 100*s, 30*s)
	for _, step := range []struct {
		due  uptime.Instant
		hold time.Duration
		last bool
	}{{at(10), 30 * s, false}, {at(20), 30 * s, false}, {at(80), 20 * s, false}} {
		if x.renew > step.due || x.last {
			t.Fatalf("at %v: a renewal must be due: %+v", step.due, x)
		}
		if got := x.nextHold(step.due); got != step.hold {
			t.Errorf("at %v: hold for %v, want %v never beyond at-most", step.due, got, step.hold)
		}
		x.renewed(step.due, step.hold)
	}
	if !x.last {
		t.Errorf("held to the end there is nothing to renew: %+v", x)
	}
	x.extended(at(90), 30*s, 100*s)
	if x.last || x.atMost != at(190) || x.ended(at(98)) != nil {
		t.Errorf("an extension gives more time: %+v", x)
	}
	x.extended(at(91), time.Second, time.Second)
	if x.atMost != at(190) || x.until != at(117) {
		t.Errorf("an extension never shortens: %+v", x)
	}
}
