package hourbell

import (
	"slices"
	"sync"

	"github.com/hourbell/hourbell/event"
)

// Subscribe delivers what happens in this process from now on, until stop is
// called, which closes the channel. buffer (at least 1) is how many events
// wait for a slow reader; further ones are dropped for it. Who must not miss
// anything reads the store instead.
func (c *Client) Subscribe(buffer int) (events <-chan Event, stop func()) {
	return c.feed.subscribe(max(buffer, 1))
}

// feed hands events to the log and to subscribers. It is safe for concurrent
// use.
type feed struct {
	log event.Sink

	mu          sync.RWMutex
	subscribers []chan Event
}

func (f *feed) send(e Event) {
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
