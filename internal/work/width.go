package work

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
)

// widths are the numbers of workers by queue, and the fetchers that follow them.
type widths struct {
	mu       sync.Mutex
	byQueue  map[string]int
	ageing   map[string]time.Duration // by queue; see Runner.SetAgeing
	fetchers map[string][]*fetcher    // of a queue and of its places
	permits  map[string]*permits      // of each queue
	bounded  loop.Signal              // a queue has got permits
}

// fetchers makes a fetcher for each queue of the node.
func (r *Runner) fetchers() (all []*fetcher) {
	r.widths.mu.Lock()
	defer r.widths.mu.Unlock()
	r.widths.fetchers = make(map[string][]*fetcher, len(r.widths.byQueue))
	for queue, width := range r.widths.byQueue {
		permits := r.widths.permits[queue]
		if permits == nil { // otherwise Fetch was called before, and runs of then may have permits
			permits = newPermits(r, queue)
			r.widths.permits[queue] = permits
		}
		bound := r.widths.ageing[queue]
		of := []*fetcher{newFetcher(r, queue, "", width, bound, permits)}
		for _, place := range r.cfg.Places {
			of = append(of, newFetcher(r, place.Queue(queue), queue, width, bound, permits))
		}
		permits.serve(of)
		r.widths.fetchers[queue] = of
		all = append(all, of...)
	}
	return all
}

// Workers returns the number of workers of a queue, also of a queue of a place; ok: the queue is
// served by now.
func (r *Runner) Workers(queue string) (n int, ok bool) {
	r.widths.mu.Lock()
	defer r.widths.mu.Unlock()
	for _, of := range r.widths.fetchers {
		for _, f := range of {
			if f.queue == queue {
				return f.crew.width(), true
			}
		}
	}
	return 0, false
}

// SetWorkers changes the number of workers of a queue and of each of its places, and reports whether
// the node serves the queue. With fewer workers, jobs that run go on, and jobs that were claimed and
// have not begun are released. With 0 the node claims no jobs of the queue.
func (r *Runner) SetWorkers(queue string, n int) bool {
	r.widths.mu.Lock()
	defer r.widths.mu.Unlock()
	if _, served := r.widths.byQueue[queue]; !served {
		return false
	}
	r.widths.byQueue[queue] = n
	for _, f := range r.widths.fetchers[queue] {
		f.crew.resize(n)
		f.room.Notify()
		f.wake.Notify()
	}
	return true
}

// crew is the set of the workers of a fetcher, by numbers from 0. A worker whose number is not below
// the width leaves when its job has ended. It is safe for concurrent use.
type crew struct {
	size atomic.Pointer[crewSize]

	mu      sync.Mutex
	present []bool // by number
}

// crewSize is the number of workers that a crew has to have.
type crewSize struct {
	width   int
	changed chan struct{} // closed when the size is not valid any more
}

// width returns the number of workers that the crew has to have.
func (c *crew) width() int { return c.size.Load().width }

// resize changes the width.
func (c *crew) resize(width int) {
	before := c.size.Swap(&crewSize{width, make(chan struct{})})
	if before != nil {
		close(before.changed)
	}
}

// missing returns the numbers of the workers that are to be started, and counts them as present.
func (c *crew) missing() (numbers []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for number := range c.width() {
		if number == len(c.present) {
			c.present = append(c.present, false)
		}
		if !c.present[number] {
			c.present[number] = true
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// leave reports whether a worker has to leave, and then counts it as not present.
func (c *crew) leave(number int) bool {
	if number < c.width() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if number < c.width() {
		return false
	}
	c.present[number] = false
	return true
}
