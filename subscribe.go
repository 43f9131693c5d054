package hourbell

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hourbell/hourbell/event"
)

// Subscribe delivers what happens in this process from now on, until stop is
// called, which closes the channel. buffer (at least 1) is how many events
// wait for a slow reader; further ones are dropped for it. Who must not miss
// anything reads the store instead.
func (c *Client) Subscribe(buffer int) (events <-chan Event, stop func()) {
	return c.feed.subscribe(max(buffer, 1))
}

// Counts says how often each kind of event has happened in this process since
// the client was made: event.ClaimLost, for example, counts the outcomes that
// were refused because another node had taken the job.
func (c *Client) Counts() map[event.Kind]int64 {
	counts := map[event.Kind]int64{}
	c.feed.counts.Range(func(kind, n any) bool {
		counts[kind.(event.Kind)] = n.(*atomic.Int64).Load()
		return true
	})
	return counts
}

// feed hands events to the log and to subscribers, and counts them. It is safe
// for concurrent use.
type feed struct {
	log    event.Sink
	counts sync.Map // event.Kind → *atomic.Int64

	schedules scheduleCounts

	mu          sync.RWMutex
	subscribers []chan Event
}

func (f *feed) send(e Event) {
	f.count(e.Kind)
	f.schedules.add(e)
	f.log(e)
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, c := range f.subscribers {
		select {
		case c <- e:
		default:
		}
	}
}

func (f *feed) count(kind event.Kind) {
	n, known := f.counts.Load(kind)
	if !known {
		n, _ = f.counts.LoadOrStore(kind, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}

func (f *feed) subscribe(buffer int) (<-chan Event, func()) {
	c := make(chan Event, buffer)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subscribers = append(f.subscribers, c)
	return c, sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.subscribers = slices.DeleteFunc(f.subscribers, func(other chan Event) bool { return other == c })
		close(c)
	})
}
