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
	return find(jobEvents[:], Outcomes[:], e)
}

// SlotOutcome returns the word of SlotOutcomes for an event, and its place there; ok is false if the event is not about a slot.
func SlotOutcome(e event.Kind) (word string, place int, ok bool) {
	return find(slotEvents[:], SlotOutcomes[:], e)
}

func find(kinds []event.Kind, words []string, e event.Kind) (string, int, bool) {
	if i := slices.Index(kinds, e); i >= 0 {
		return words[i], i, true
	}
	return "", 0, false
}

// jobEvents and slotEvents are the events of Outcomes and SlotOutcomes.
var (
	jobEvents = [len(Outcomes)]event.Kind{
		event.JobCompleted, event.JobFailed, event.JobCancelled, event.JobRetried, event.JobSnoozed, event.JobReleased, event.JobLost, event.JobSuperseded,
	}
	slotEvents = [len(SlotOutcomes)]event.Kind{event.SlotFired, event.SlotMissed, event.SlotSkipped, event.SlotNotStarted}
)

// Collector counts the events of a node, and makes rows of the counts. Concurrent calls of Observe are allowed; one goroutine calls the
// other methods.
type Collector struct {
	writer  int64
	spans   []span // shortest first
	pending []store.StatsRow

	mu    sync.Mutex
	fresh Tallies // since the last Close
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
	_, outcome, ended := Outcome(e.Kind)
	_, slot, accounted := SlotOutcome(e.Kind)
	if !ended && !accounted && e.Kind != event.JobStarted {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.fresh.At(Key{e.Queue, e.JobKind, e.Schedule})
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
	c.fresh = Tallies{}
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
