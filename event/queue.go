package event

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// queueLimit is how many events wait for an observer.
const queueLimit = 10_000

// Queue delivers events to one observer on a goroutine of its own, which exists
// only while events wait. Concurrent calls are allowed.
type Queue struct {
	observer Observer
	report   Sink

	mu         sync.Mutex
	waiting    []Event
	spare      []Event // memory for the next batch
	dropped    int64
	delivering bool
	idle       chan struct{} // closed when the delivery ends
	panicked   bool          // only used by the delivery
}

// NewQueue returns an empty queue. report receives the event of the first panic.
func NewQueue(observer Observer, report Sink) *Queue {
	return &Queue{observer: observer, report: report}
}

// Send adds an event, or drops it if too many wait. It does not block.
func (q *Queue) Send(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= queueLimit {
		q.dropped++
		return
	}
	q.waiting = append(q.waiting, e)
	if !q.delivering {
		q.delivering, q.idle = true, make(chan struct{})
		go q.deliver()
	}
}

// Flush waits until all events are delivered, but not after ctx has ended.
func (q *Queue) Flush(ctx context.Context) {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// deliver calls the observer until no event waits.
func (q *Queue) deliver() {
	left := 0 // events of the batch that the observer did not get
	defer func() {
		if left > 0 { // the observer ended its goroutine
			q.mu.Lock()
			q.dropped += int64(left - 1)
			q.mu.Unlock()
			go q.deliver()
		}
	}()
	for {
		batch, dropped := q.take()
		if len(batch) == 0 {
			return
		}
		for left = len(batch); left > 0; left-- {
			q.observe(batch[len(batch)-left])
		}
		if last := batch[len(batch)-1]; dropped > 0 {
			q.observe(Event{Kind: Dropped, Time: last.Time, Node: last.Node, Count: dropped})
		}
		clear(batch) // events refer to errors and texts
		q.mu.Lock()
		q.spare = batch[:0]
		q.mu.Unlock()
	}
}

// take returns the events that wait, and how many were dropped after them; no
// events end the delivery.
func (q *Queue) take() (batch []Event, dropped int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.delivering = false
		close(q.idle)
		return nil, 0
	}
	batch, dropped = q.waiting, q.dropped
	q.waiting, q.spare, q.dropped = q.spare, nil, 0
	return batch, dropped
}

// observe calls the observer with one event.
func (q *Queue) observe(e Event) {
	returned := false
	defer func() {
		value := recover()
		if returned || q.panicked {
			return
		}
		q.panicked = true
		if value == nil {
			value = "the observer ended its goroutine"
		}
		q.report(Event{Kind: ObserverPanicked, Time: e.Time, Node: e.Node, Err: fmt.Errorf("panic: %v", value), Trace: string(debug.Stack())})
	}()
	q.observer.Observe(e)
	returned = true
}
