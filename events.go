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
// must not miss anything reads the store instead.
func (s *EventService) Subscribe(buffer int) (events <-chan event.Event, stop func()) {
	return s.client.feed.subscribe(max(buffer, 1))
}

// Counts returns how often each kind of event has happened in this process
// since the client was made. For example, event.ClaimLost counts the outcomes
// that were refused because another node had taken the job.
func (s *EventService) Counts() map[event.Kind]int64 {
	return s.client.feed.counted()
}

// feed passes events to the log and to subscribers, and counts them. Concurrent
// calls are allowed.
type feed struct {
	log       event.Sink
	schedules scheduleCounts
	observers []*event.Queue

	mu          sync.RWMutex
	counts      map[event.Kind]*atomic.Int64
	subscribers []chan event.Event
}

func (f *feed) send(e event.Event) {
	f.schedules.add(e)
	f.log(e)
	for _, o := range f.observers {
		o.Send(e)
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	for f.counts[e.Kind] == nil { // the first event of its kind
		f.mu.RUnlock()
		f.know(e.Kind)
		f.mu.RLock()
	}
	f.counts[e.Kind].Add(1)
	for _, c := range f.subscribers {
		select {
		case c <- e:
		default:
		}
	}
}

// observe adds observers before the first event.
func (f *feed) observe(observers []event.Observer) {
	for _, o := range observers {
		f.observers = append(f.observers, event.NewQueue(o, f.send))
	}
}

// flush waits until the observers have received all events, but not after ctx
// has ended.
func (f *feed) flush(ctx context.Context) {
	for _, o := range f.observers {
		o.Flush(ctx)
	}
}

// know makes a counter for a kind of event.
func (f *feed) know(kind event.Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = map[event.Kind]*atomic.Int64{}
	}
	if f.counts[kind] == nil {
		f.counts[kind] = &atomic.Int64{}
	}
}

func (f *feed) counted() map[event.Kind]int64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	counts := make(map[event.Kind]int64, len(f.counts))
	for kind, n := range f.counts {
		counts[kind] = n.Load()
	}
	return counts
}

func (f *feed) subscribe(buffer int) (<-chan event.Event, func()) {
	c := make(chan event.Event, buffer)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subscribers = append(f.subscribers, c)
	return c, sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.subscribers = slices.DeleteFunc(f.subscribers, func(other chan event.Event) bool { return other == c })
		close(c)
	})
}
