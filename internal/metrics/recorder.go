package metrics

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/stats"
	"github.com/hourbell/hourbell/store"
)

// Sink receives values. The labels are in the order of Metric.Labels. Concurrent calls are allowed.
type Sink interface {
	Add(m *Metric, by float64, labels ...string)       // to a counter
	Set(m *Metric, value float64, labels ...string)    // a gauge
	Record(m *Metric, value float64, labels ...string) // in a histogram
}

// Limits are how many values labels have at most; 0 means 1,000 schedules, 200 kinds and 200 queues.
// The first values are kept, further values become LeftOut.
type Limits struct{ Schedules, Kinds, Queues int }

// Recorder gives a sink what events and calls of the store add to metrics. It is an
// event.CallObserver. Concurrent calls are allowed.
type Recorder struct {
	sink                     Sink
	schedules, kinds, queues *guard
	stuck                    atomic.Int64 // workers
}

// NewRecorder returns a recorder. Metrics without labels begin with 0.
func NewRecorder(sink Sink, limits Limits) *Recorder {
	for _, m := range All() {
		switch {
		case len(m.Labels) > 0 || m.Read:
		case m.Sort == Counter:
			sink.Add(m, 0)
		case m.Sort == Gauge:
			sink.Set(m, 0)
		}
	}
	return &Recorder{
		sink: sink, schedules: newGuard(limits.Schedules, 1000), kinds: newGuard(limits.Kinds, 200), queues: newGuard(limits.Queues, 200),
	}
}

// Observe implements event.Observer.
func (r *Recorder) Observe(e event.Event) {
	if outcome, _, ok := stats.Outcome(e.Kind); ok {
		r.ended(e, outcome)
	}
	if outcome, _, ok := stats.SlotOutcome(e.Kind); ok {
		r.slot(e, outcome)
	}
	switch e.Kind {
	case event.JobStarted:
		r.sink.Record(late, e.Late.Seconds(), r.label("kind", e.JobKind), r.label("queue", e.Queue))
	case event.JobsClaimed:
		r.sink.Add(claimed, float64(e.Count))
	case event.JobRescued:
		r.sink.Add(rescued, 1)
	case event.ClaimLost:
		r.sink.Add(refused, 1)
	case event.JobStuck:
		r.sink.Add(stuck, 1, r.label("kind", e.JobKind), r.label("queue", e.Queue))
		r.sink.Set(stuckNow, float64(r.stuck.Add(1)))
	case event.JobUnstuck:
		r.sink.Set(stuckNow, float64(r.stuck.Add(-1)))
	case event.NodeStarted, event.LeaseRegained:
		r.sink.Set(leased, 1)
	case event.NodeStopped:
		r.sink.Set(leased, 0)
	case event.LeaseLost:
		r.sink.Set(leased, 0)
		r.sink.Add(leasesLost, 1)
	case event.NodeDied:
		r.sink.Add(deaths, 1)
	case event.PermitsRepaired:
		r.sink.Add(repaired, 1)
	case event.StoreFailed, event.StoreRetried:
		r.sink.Add(storeFailures, 1, operation(e.Detail))
	case event.Dropped:
		r.sink.Add(dropped, float64(e.Count))
	}
}

// ObserveCall implements event.CallObserver. Calls that their callers gave up are no errors of the
// store.
func (r *Recorder) ObserveCall(c event.Call) {
	r.sink.Record(calls, c.Took.Seconds(), c.Operation)
	if c.Repeats > 0 {
		r.sink.Add(repeats, float64(c.Repeats), c.Operation)
	}
	if c.Err != nil && !store.IsAnswer(c.Err) && !errors.Is(c.Err, context.Canceled) {
		r.sink.Add(callErrors, 1, c.Operation)
	}
}

func (r *Recorder) ended(e event.Event, outcome string) {
	kind, queue := r.label("kind", e.JobKind), r.label("queue", e.Queue)
	r.sink.Add(jobs, 1, outcome, kind, queue)
	if e.Took > 0 {
		r.sink.Record(took, e.Took.Seconds(), kind, queue)
	}
	if e.Schedule != "" {
		r.sink.Add(scheduleJobs, 1, r.label("schedule", e.Schedule), outcome)
	}
}

func (r *Recorder) slot(e event.Event, outcome string) {
	r.sink.Add(slots, float64(max(e.Count, 1)), r.label("schedule", e.Schedule), outcome)
}

// label returns the value of a label for a name, and counts a name that is left out.
func (r *Recorder) label(label, name string) string {
	of := map[string]*guard{"kind": r.kinds, "queue": r.queues, "schedule": r.schedules}[label]
	value := of.value(name)
	if value != name {
		r.sink.Add(leftOut, 1, label)
	}
	return value
}

// operations are the beginnings of the texts that name operations of the store.
var operations = []string{
	"claim", "record outcomes", "heartbeat", "register", "rescue", "fire schedules", "read cancel requests", "read own claims",
	"save progress", "save output", "prune",
}

// operation returns a label value for the text of an operation, which may contain names.
func operation(text string) string {
	i := slices.IndexFunc(operations, func(begin string) bool { return strings.HasPrefix(text, begin) })
	if i < 0 {
		return "other"
	}
	return operations[i]
}
