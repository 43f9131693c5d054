package node

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// endedFor is how long a call that the server has ended is a problem of the node.
const endedFor = 30 * time.Second

// endedCalls remembers that the server of the store has ended calls because of a time limit: an observer of the node's client.
// Listings do not count, because the node works without them.
type endedCalls struct {
	mu    sync.Mutex
	first event.Call // of the calls without a pause of endedFor
	last  time.Time  // when the newest was ended; zero: none
}

// Observe implements event.Observer.
func (c *endedCalls) Observe(event.Event) {}

// ObserveCall implements event.CallObserver.
func (c *endedCalls) ObserveCall(call event.Call) {
	if call.Err == nil || !errors.Is(call.Err, store.ErrTimeLimit) || strings.HasPrefix(call.Operation, "list") || strings.HasPrefix(call.Operation, "count") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.last) > endedFor {
		c.first = call
	}
	c.last = now
}

// problems returns what the node reports.
func (c *endedCalls) problems() []store.NodeProblem {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.last) > endedFor {
		return nil
	}
	return []store.NodeProblem{{
		Name: findings.CallsEnded,
		Text: fmt.Sprintf("calls fail, such as %s: %s", c.first.Operation, plain.Cut(plain.OneLine(c.first.Err.Error()), mostOfMistake)),
	}}
}
