package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	ringGap     = 3 * time.Millisecond   // between wake-ups of one payload, by inserts
	soonGap     = 100 * time.Millisecond // … for jobs that are due soon, of which one is enough to be awake
	ringPatient = 2 * time.Second        // for sending wake-ups
	ringMost    = 50                     // payloads in one message; beyond it everybody is woken
	ringKnown   = 1000                   // payloads whose last time is remembered
)

// ringer spaces the wake-ups of inserts that commit by themselves. Commits with
// a notification wait for each other, so that a burst of them has half the rate.
//
// The first insert after a pause takes its wake-up along in its transaction. One
// that comes within the gap of that owes it, and what is owed leaves together
// when the gap has passed, after the commits. A process that dies in between
// loses a wake-up that follows another by less than the gap: whoever heard that
// one looks again after its busy poll.
type ringer struct {
	gap  time.Duration
	send func(ctx context.Context, payloads []string)

	mu      sync.Mutex
	last    map[string]time.Time // when a wake-up was last taken along or sent
	owed    map[string]bool
	busy    bool           // there is a goroutine that sends what is owed
	ringing sync.WaitGroup // of that
}

func newRinger(gap time.Duration, send func(ctx context.Context, payloads []string)) *ringer {
	return &ringer{gap: gap, send: send, last: map[string]time.Time{}, owed: map[string]bool{}}
}

// take says whether an insert is to take its wake-up along; else it calls owe
// when it has committed.
func (r *ringer) take(payload string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Sub(r.last[payload]) < r.gap {
		return false
	}
	if len(r.last) >= ringKnown {
		maps.DeleteFunc(r.last, func(_ string, at time.Time) bool { return now.Sub(at) >= r.gap })
	}
	r.last[payload] = now
	return true
}

// owe sends a wake-up when its gap has passed.
func (r *ringer) owe(payload string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owed[payload] = true
	if r.busy {
		return
	}
	r.busy = true
	gap := r.gap - time.Since(r.last[payload])
	r.ringing.Go(func() {
		time.Sleep(gap)
		for r.ring() {
			time.Sleep(r.gap)
		}
	})
}

// ring sends what is owed; false: that was nothing, and ringing ends.
func (r *ringer) ring() bool {
	payloads := r.due()
	if len(payloads) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), ringPatient)
	defer cancel()
	r.send(ctx, payloads)
	return true
}

// due takes what is owed.
func (r *ringer) due() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	payloads := slices.Sorted(maps.Keys(r.owed))
	clear(r.owed)
	r.busy = len(payloads) > 0
	now := time.Now()
	for _, payload := range payloads {
		r.last[payload] = now
	}
	return payloads
}

// wait returns when nothing is owed any more.
func (r *ringer) wait() { r.ringing.Wait() }
