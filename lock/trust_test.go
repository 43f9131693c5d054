package lock

import (
	"testing"
	"time"
)

func TestTrust(t *testing.T) {
	const s = time.Second
	kept := func() trust { return newTrust(100*s, 30*s, 3600*s, 30*s) }
	for _, test := range []struct {
		name  string
		trust trust
		at    time.Duration
		ended error
	}{
		{"granted", kept(), 100 * s, nil},
		{"not renewed", kept(), 127 * s, ErrLost},
		{"just before", kept(), 127*s - 1, nil},
		{"renewed late", renewedAt(kept(), 120*s, 30*s), 146 * s, nil},
		{"and not again", renewedAt(kept(), 120*s, 30*s), 147 * s, ErrLost},
		{"to the end", renewedAt(kept(), 3680*s, 20*s), 3696 * s, nil},
		{"at-most, the margin of the whole before", renewedAt(kept(), 3680*s, 20*s), 3697 * s, ErrAtMost},
		{"suspended for long", kept(), 9999 * s, ErrLost},
		{"not kept alive", newTrust(100*s, 60*s, 60*s, 0), 156 * s, nil},
		{"not kept alive, at-most", newTrust(100*s, 60*s, 60*s, 0), 157 * s, ErrAtMost},
		{"at-most within a lease", newTrust(100*s, 10*s, 10*s, 30*s), 109 * s, ErrAtMost},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.trust.ended(test.at); got != test.ended {
				t.Errorf("got %v, want %v", got, test.ended)
			}
		})
	}
}

func renewedAt(t trust, sent, hold time.Duration) trust {
	t.renewed(sent, hold)
	return t
}

func TestTrustRenewal(t *testing.T) {
	const s = time.Second
	x := newTrust(0, 30*s, 100*s, 30*s)
	for _, step := range []struct {
		due, hold time.Duration
		last      bool
	}{{10 * s, 30 * s, false}, {20 * s, 30 * s, false}, {80 * s, 20 * s, false}} {
		if x.renew > step.due || x.last {
			t.Fatalf("at %v: a renewal must be due: %+v", step.due, x)
		}
		if got := x.nextHold(step.due); got != step.hold {
			t.Errorf("at %v: hold for %v, want %v: never beyond at-most", step.due, got, step.hold)
		}
		x.renewed(step.due, step.hold)
	}
	if !x.last {
		t.Errorf("held to the end there is nothing to renew: %+v", x)
	}
	x.extended(90*s, 30*s, 100*s)
	if x.last || x.atMost != 190*s || x.ended(98*s) != nil {
		t.Errorf("an extension gives more time: %+v", x)
	}
	x.extended(91*s, time.Second, time.Second)
	if x.atMost != 190*s || x.until != 117*s {
		t.Errorf("an extension never shortens: %+v", x)
	}
}
