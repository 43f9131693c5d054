package node

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
)

// TestWatchdogIsFedWhileHeartbeatsAreAttempted checks when the watchdog is fed: also if the store does not answer,
// and not if heartbeats have ceased, unless the node stops.
func TestWatchdogIsFedWhileHeartbeatsAreAttempted(t *testing.T) {
	m := newManager(time.Second, slog.New(slog.DiscardHandler))
	later := func(d time.Duration) time.Time { return time.Now().Add(d) }
	if !m.alive(later(time.Hour)) {
		t.Error("not fed before the node is registered")
	}
	m.Observe(event.Event{Kind: event.NodeStarted, Name: "a\nSTOPPING=1"})
	if !m.alive(later(5*time.Second)) || m.alive(later(time.Minute)) {
		t.Error("after the start")
	}
	past := time.Now().Add(-time.Hour)
	m.beat.Store(&past)
	m.ObserveCall(event.Call{Operation: "claim"})
	if m.alive(time.Now()) {
		t.Error("fed by a claim")
	}
	m.ObserveCall(event.Call{Operation: "heartbeat", Err: errors.New("no connection")})
	if !m.alive(time.Now()) {
		t.Error("not fed by a heartbeat that the store does not answer")
	}
	m.beat.Store(&past)
	if m.stops(); !m.alive(time.Now()) {
		t.Error("not fed while the node stops")
	}
}
