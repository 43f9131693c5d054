package stats

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// compare orders keys.
func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Queue, other.Queue), cmp.Compare(k.Kind, other.Kind), cmp.Compare(k.Schedule, other.Schedule))
}

// Outcome returns the word of Outcomes for an event, and its place there; ok is false if the event is not the end of an attempt.
func Outcome(e event.Kind) (word string, place int, ok bool) {
	if place, ok = jobPlaces[e]; ok {
		word = Outcomes[place]
	}
	return word, place, ok
}

// SlotOutcome returns the word of SlotOutcomes for an event, and its place there; ok is false if the event is not about a slot.
func SlotOutcome(e event.Kind) (word string, place int, ok bool) {
	if place, ok = slotPlaces[e]; ok {
		word = SlotOutcomes[place]
	}
	return word, place, ok
}

// jobPlaces and slotPlaces are the places of events in Outcomes and SlotOutcomes.
var (
	jobPlaces = map[event.Kind]int{
		event.JobCompleted: 0, event.JobFailed: 1, event.JobCancelled: 2, event.JobRetried: 3, event.JobSnoozed: 4, event.JobReleased: 5,
		event.JobLost: 6, event.JobSuperseded: 7,
	}
	slotPlaces = map[event.Kind]int{event.SlotFired: 0, event.SlotMissed: 1, event.SlotSkipped: 2, event.SlotNotStarted: 3}
)

// Collector counts the events of a node, and makes rows of the counts. Concurrent calls of Observe are allowed; one goroutine calls the
// other methods.
type Collector struct {
	writer  int64
	spans   []span // shortest first
	pending []store.StatsRow

	mu      sync.Mutex
	fresh   Tallies // since the last Close
	lastKey Key     // of the last event: most events have the key of the event before
	last    *Tally  // nil: none since the last Close
}

// span is what was counted in the present span of one length.
type span struct {
	length  time.Duration
	at      time.Time
	tallies Tallies
}

// mostPending is how many rows are kept at most while the store does not take them.
const mostPending = 100

// NewCollector returns a collector whose rows have a writer's number, which no other collector has.
func NewCollector(writer int64) *Collector {
	c := &Collector{writer: writer, fresh: Tallies{}}
	for _, s := range store.StatsSpans() {
		c.spans = append(c.spans, span{length: s.Span})
	}
	return c
}

// Observe counts an event.
func (c *Collector) Observe(e event.Event) {
	outcome, ended := jobPlaces[e.Kind]
	slot, accounted := slotPlaces[e.Kind]
	if !ended && !accounted && e.Kind != event.JobStarted {
		return
	}
	key := Key{e.Queue, e.JobKind, e.Schedule}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.lastKey != key {
		c.last, c.lastKey = c.fresh.At(key), key
	}
	t := c.last
	switch {
	case accounted:
		t.Slots[slot] += max(e.Count, 1)
	case ended:
		t.Jobs[outcome]++
		if e.Took > 0 {
			t.Took.Record(e.Took)
		}
	default:
		t.Delay.Record(e.Late)
	}
}

// Sample counts the living nodes and the due jobs of queues at an instant.
func (c *Collector) Sample(now time.Time, nodes []store.NodeInfo, queues []store.QueueInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := c.fresh.At(Key{})
	whole.Samples++
	for _, node := range nodes {
		if node.EndedAt.IsZero() {
			whole.Nodes++
		}
	}
	for _, q := range queues {
		t := c.fresh.At(Key{Queue: q.Name})
		t.Depth += q.Ready
		if !q.Oldest.IsZero() {
			t.Age = max(t.Age, now.Sub(q.Oldest).Microseconds())
		}
	}
}

// Empty reports whether nothing has been counted since the last Close, and no rows are pending.
func (c *Collector) Empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.fresh)+len(c.pending) == 0
}

// Close adds what has been counted since the last Close to the spans that contain an instant of the store's clock, and returns all rows
// that are to be written. They stay pending until Written.
func (c *Collector) Close(at time.Time) []store.StatsRow {
	c.mu.Lock()
	fresh := c.fresh
	c.fresh, c.last = Tallies{}, nil
	c.mu.Unlock()
	if len(fresh) == 0 {
		return c.pending
	}
	for i := range c.spans {
		s := &c.spans[i]
		if begin := at.UTC().Truncate(s.length); s.tallies == nil || !s.at.Equal(begin) {
			s.at, s.tallies = begin, Tallies{}
		}
		s.tallies.Add(fresh)
		c.put(store.StatsRow{Span: s.length, At: s.at, Writer: c.writer, Data: s.tallies.Encode()})
	}
	return c.pending
}

// put replaces the pending row of the same span and instant, or adds a row.
func (c *Collector) put(row store.StatsRow) {
	i := slices.IndexFunc(c.pending, func(p store.StatsRow) bool { return p.Span == row.Span && p.At.Equal(row.At) })
	if i >= 0 {
		c.pending[i] = row
		return
	}
	c.pending = append(c.pending, row)
	c.pending = c.pending[max(len(c.pending)-mostPending, 0):]
}

// Written forgets the rows that Close has returned, because the store has them.
func (c *Collector) Written() { c.pending = nil }
