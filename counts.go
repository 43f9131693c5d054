package hourbell

import (
	"maps"
	"sync"

	"github.com/hourbell/hourbell/event"
)

// mostCounted is the number of schedules whose events are counted.
const mostCounted = 10_000

// Counts returns, as EventService.Counts does, how often each kind of event of
// one schedule has happened in this process. For event.SlotFired, SlotMissed
// and SlotSkipped it counts slots, and for the events of jobs it counts events.
// It counts for the first 10,000 schedules that have events; for other
// schedules it returns nothing.
func (s *ScheduleService) Counts(name string) map[event.Kind]int64 {
	return s.client.relay.schedules.of(name)
}

// scheduleCounts counts events by schedule. Concurrent calls are allowed; the
// zero value is empty.
type scheduleCounts struct {
	mu     sync.Mutex
	counts map[string]map[event.Kind]int64
}

// add counts an event, if it is about a schedule.
func (s *scheduleCounts) add(e event.Event) {
	if e.Schedule == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.counts[e.Schedule]
	switch {
	case counts != nil:
	case len(s.counts) >= mostCounted:
		return
	default:
		if s.counts == nil {
			s.counts = map[string]map[event.Kind]int64{}
		}
		counts = map[event.Kind]int64{}
		s.counts[e.Schedule] = counts
	}
	n := int64(1)
	if e.Kind == event.SlotMissed || e.Kind == event.SlotSkipped {
		n = e.Count
	}
	counts[e.Kind] += n
}

// of returns the counts of a schedule, which the caller may keep.
func (s *scheduleCounts) of(name string) map[event.Kind]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts[name])
}
