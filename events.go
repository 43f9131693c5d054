package hourbell

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hourbell/hourbell/event"
)

// EventService delivers and counts the events of this process: Client.Events.
// Concurrent calls are allowed.
type EventService struct{ client *Client }

// Subscribe delivers the events of this process from now on, until stop is
// called, which closes the channel. buffer (at least 1) is how many events wait
// for a slow reader; further events are dropped for this reader. A reader that
// must not miss anything reads the store instead, with List or Follow.
//
// The events are those that any of the selections has; without a selection, all except
// event.Step.
func (s *EventService) Subscribe(buffer int, selections ...event.Selection) (events <-chan event.Event, stop func()) {
	if len(selections) == 0 {
		selections = []event.Selection{{}}
	}
	return s.client.relay.subscribe(max(buffer, 1), slices.Clone(selections))
}

// Counts returns how often each kind of event has happened in this process
// since the client was made. For example, event.ClaimLost counts the outcomes
// that were refused because another node had taken the job.
func (s *EventService) Counts() map[event.Kind]int64 {
	return s.client.relay.counted()
}

// relay passes events to the log and to subscribers, and counts them. Concurrent
// calls are allowed.
type relay struct {
	log       event.Sink
	schedules scheduleCounts
	observers []*event.Queue
	stuck     *event.Queue // of Config.OnStuck; nil: none

	mu          sync.RWMutex
	counts      map[event.Kind]*atomic.Int64
	subscribers []subscriber
}

// subscriber is a reader of Subscribe.
type subscriber struct {
	events     chan event.Event
	selections []event.Selection
}

func (r *relay) send(e event.Event) {
	r.schedules.add(e)
	r.log(e)
	for _, o := range r.observers {
		o.Send(e)
	}
	if e.Kind == event.JobStuck && r.stuck != nil {
		r.stuck.Send(e)
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for r.counts[e.Kind] == nil { // the first event of its kind
		r.mu.RUnlock()
		r.know(e.Kind)
		r.mu.RLock()
	}
	r.counts[e.Kind].Add(1)
	for _, s := range r.subscribers {
		if !slices.ContainsFunc(s.selections, func(one event.Selection) bool { return one.Has(e) }) {
			continue
		}
		select {
		case s.events <- e:
		default:
		}
	}
}

// observe adds observers before the first event.
func (r *relay) observe(observers []event.Observer) {
	for _, o := range observers {
		r.observers = append(r.observers, event.NewQueue(o, r.send))
	}
}

// onStuck has call called with each event event.JobStuck; nil: none. It is called before the first event.
func (r *relay) onStuck(call func(event.Event)) {
	if call != nil {
		r.stuck = event.NewQueue(event.Sink(call), r.send)
	}
}

// callObservers returns the observers that also receive the calls of the store.
func callObservers(observers []event.Observer) (found []event.CallObserver) {
	for _, o := range observers {
		if c, ok := o.(event.CallObserver); ok {
			found = append(found, c)
		}
	}
	return found
}

// flush waits until the observers have received all events, but not after ctx
// has ended.
func (r *relay) flush(ctx context.Context) {
	for _, o := range r.observers {
		o.Flush(ctx)
	}
	if r.stuck != nil {
		r.stuck.Flush(ctx)
	}
}

// know makes a counter for a kind of event.
func (r *relay) know(kind event.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[event.Kind]*atomic.Int64{}
	}
	if r.counts[kind] == nil {
		r.counts[kind] = &atomic.Int64{}
	}
}

func (r *relay) counted() map[event.Kind]int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	counts := make(map[event.Kind]int64, len(r.counts))
	for kind, n := range r.counts {
		counts[kind] = n.Load()
	}
	return counts
}

func (r *relay) subscribe(buffer int, selections []event.Selection) (<-chan event.Event, func()) {
	c := make(chan event.Event, buffer)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subscribers = append(r.subscribers, subscriber{c, selections})
	return c, sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.subscribers = slices.DeleteFunc(r.subscribers, func(other subscriber) bool { return other.events == c })
		close(c)
	})
}
