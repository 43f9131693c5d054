package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	notifyGap     = 3 * time.Millisecond   // between wake-ups of one payload, by inserts
	earlyGap      = 100 * time.Millisecond // between wake-ups for jobs that are due soon; one is enough to wake a node
	notifyTimeout = 2 * time.Second        // for sending wake-ups
	maxPayloads   = 50                     // in one message; with more, every node is woken
	maxRemembered = 1000                   // payloads whose last time is remembered
)

// notifyThrottle limits the wake-ups of inserts that commit by themselves.
// Commits with a notification wait for each other, so that a burst of them has
// half the rate.
//
// The first insert after a pause sends its wake-up in its own transaction. A
// wake-up of an insert that follows within the gap is owed, and all owed wake-ups
// are sent together, after the commits, when the gap has passed. If the process
// dies in between, a wake-up is lost that follows another wake-up by less than the
// gap; a node that received the earlier wake-up claims again after its busy poll.
type notifyThrottle struct {
	gap  time.Duration
	send func(ctx context.Context, payloads []string)

	mu      sync.Mutex
	last    map[string]time.Time // when a wake-up was last sent, with an insert or by itself
	owed    map[string]bool
	count   int            // of calls of owe
	sent    int            // the calls of owe whose wake-ups have been sent
	sending bool           // a goroutine sends owed wake-ups
	senders sync.WaitGroup // of that goroutine
}

func newNotifyThrottle(gap time.Duration, send func(ctx context.Context, payloads []string)) *notifyThrottle {
	return &notifyThrottle{gap: gap, send: send, last: map[string]time.Time{}, owed: map[string]bool{}}
}

// take reports whether an insert sends its wake-up itself. Otherwise the insert
// calls owe when it has committed.
func (n *notifyThrottle) take(payload string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if now.Sub(n.last[payload]) < n.gap {
		return false
	}
	if len(n.last) >= maxRemembered {
		maps.DeleteFunc(n.last, func(_ string, at time.Time) bool { return now.Sub(at) >= n.gap })
	}
	n.last[payload] = now
	return true
}

// owe sends a wake-up when its gap has passed.
func (n *notifyThrottle) owe(payload string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owed[payload] = true
	n.count++
	if n.sending {
		return
	}
	n.sending = true
	gap := n.gap - time.Since(n.last[payload])
	n.senders.Go(func() {
		time.Sleep(gap)
		for n.sendOwed() {
			time.Sleep(n.gap)
		}
	})
}

// sendOwed sends the owed wake-ups. It returns false if there were none; then the
// goroutine ends.
func (n *notifyThrottle) sendOwed() bool {
	payloads, count := n.due()
	if len(payloads) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	n.send(ctx, payloads)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent = max(n.sent, count)
	return true
}

// due removes and returns the payloads of owed wake-ups, and how many calls of owe they
// are from.
func (n *notifyThrottle) due() (payloads []string, count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	payloads = slices.Sorted(maps.Keys(n.owed))
	clear(n.owed)
	n.sending = len(payloads) > 0
	now := time.Now()
	for _, payload := range payloads {
		n.last[payload] = now
	}
	return payloads, n.count
}

// flush returns when the wake-ups that are owed now have been sent, or ctx has ended.
func (n *notifyThrottle) flush(ctx context.Context) error {
	n.mu.Lock()
	count := n.count
	n.mu.Unlock()
	for {
		n.mu.Lock()
		done := n.sent >= count
		n.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("send the wake-ups of inserts: %w", context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
}

// wait returns when no wake-up is owed any more.
func (n *notifyThrottle) wait() { n.senders.Wait() }
