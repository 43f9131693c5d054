package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/findings"
)

// readTimeout bounds a reading of the store, so that a scrape ends before its own timeout,
// which is 10 seconds by default.
const readTimeout = 5 * time.Second

// Value is a value of a gauge that was read. The labels are in the order of Metric.Labels.
type Value struct {
	Metric *Metric
	Value  float64
	Labels []string
}

// Reader reads the gauges that no event changes: the lease of the node, and from the store the state of
// the whole cluster. Concurrent calls are allowed.
type Reader struct {
	refresh time.Duration
	queues  *guard

	mu     sync.Mutex
	client *hourbell.Client // nil: nothing is read
	at     time.Time        // of the last reading
	last   []Value
}

// NewReader returns a reader that reads nothing yet. It reads the store again when the values are older
// than refresh; 0 means 10 seconds. The queues are the queues of the recorder.
func NewReader(refresh time.Duration, r *Recorder) *Reader {
	if refresh <= 0 {
		refresh = 10 * time.Second
	}
	return &Reader{refresh: refresh, queues: r.queues}
}

// Watch sets the client whose node and store are read.
func (r *Reader) Watch(client *hourbell.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.client = client
}

// Read returns the gauges; none before Watch.
func (r *Reader) Read(ctx context.Context) []Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client == nil {
		return nil
	}
	if r.at.IsZero() || time.Since(r.at) >= r.refresh {
		r.last, r.at = r.read(ctx), time.Now()
	}
	return append([]Value{{leaseLeft, r.client.Nodes.LeaseLeft().Seconds(), nil}}, r.last...)
}

// read reads the store. A failure shows as hourbell_store_up alone: no value is better
// than an old value, because alerts compare ages.
func (r *Reader) read(ctx context.Context) []Value {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	down := []Value{{storeUp, 0, nil}}
	asked := time.Now()
	now, err := r.client.Now(ctx)
	if err != nil {
		return down
	}
	off := now.Sub(asked.Add(time.Since(asked) / 2))
	facts, err := findings.Read(ctx, r.client)
	if err != nil {
		return down
	}
	out := []Value{{storeUp, 1, nil}, {clockOff, off.Seconds(), nil}, {nodes, float64(facts.Living()), nil}}
	found := map[string]float64{}
	for _, one := range findings.Find(facts) {
		found[one.Check] = 1
	}
	for _, rule := range findings.Rules() {
		out = append(out, Value{findingNow, found[rule.Name], []string{rule.Name, rule.Level.String()}})
	}
	sums := map[string]*queue{}
	for _, q := range facts.Queues { // queues that share the value LeftOut are added up
		name := r.queues.value(q.Name)
		sum := sums[name]
		if sum == nil {
			sum = &queue{}
			sums[name] = sum
		}
		sum.ready, sum.scheduled, sum.running, sum.waiting = sum.ready+q.Ready, sum.scheduled+q.Scheduled, sum.running+q.Running, sum.waiting+q.Waiting
		if !q.Oldest.IsZero() {
			sum.oldest = max(sum.oldest, now.Sub(q.Oldest))
		}
	}
	for name, q := range sums {
		out = append(out, Value{queueOldest, q.oldest.Seconds(), []string{name}})
		for state, n := range map[string]int64{"ready": q.ready, "scheduled": q.scheduled, "running": q.running, "waiting": q.waiting} {
			out = append(out, Value{queueJobs, float64(n), []string{name, state}})
		}
	}
	return out
}

// queue has the values of one value of the label queue.
type queue struct {
	ready, scheduled, running, waiting int64
	oldest                             time.Duration
}
