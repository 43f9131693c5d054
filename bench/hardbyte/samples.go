package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// samples count what the producer and the workers do, and print it as the contract says.
type samples struct {
	instance int
	enqueued atomic.Int64
	begun    atomic.Int64
	done     atomic.Int64
	// The last count of the jobs that are ready, less the jobs that this process had inserted and not begun by then.
	base       atomic.Int64
	counts     atomic.Int64 // the last count
	targetRate atomic.Int64 // 0 in the mode depth-target
	claim      window       // from the call that inserts a job to the start of its worker
	endToEnd   window       // from the call that inserts a job to the end of its worker

	printing sync.Mutex
	lines    *json.Encoder
}

func newSamples(to io.Writer, instance int) *samples {
	return &samples{instance: instance, lines: json.NewEncoder(to)}
}

func (s *samples) started(sent int64) {
	s.begun.Add(1)
	s.claim.add(time.Now(), sent)
}

func (s *samples) completed(sent int64) {
	s.done.Add(1)
	s.endToEnd.add(time.Now(), sent)
}

// counted records how many jobs are ready.
func (s *samples) counted(ready int64) {
	s.counts.Store(ready)
	s.base.Store(ready - s.enqueued.Load() + s.begun.Load())
}

// depth is how many jobs are ready: the last count, and what this process has inserted and begun since.
func (s *samples) depth() int64 { return s.base.Load() + s.enqueued.Load() - s.begun.Load() }

// record is a line of one sample.
type record struct {
	T           string  `json:"t"`
	System      string  `json:"system"`
	InstanceID  int     `json:"instance_id"`
	Kind        string  `json:"kind"`
	SubjectKind string  `json:"subject_kind"`
	Subject     string  `json:"subject"`
	Metric      string  `json:"metric"`
	Value       float64 `json:"value"`
	WindowS     float64 `json:"window_s"`
}

// printEvery prints all samples when the clock reaches a multiple of every, so that the samples of all systems have
// the same instants, until ctx ends. Rates count from the first of these instants. With global, it also prints what
// concerns all processes.
func (s *samples) printEvery(ctx context.Context, every time.Duration, global bool) {
	untilNext := func() time.Duration {
		return every - time.Duration(time.Now().UnixNano())%every
	}
	if !sleep(ctx, untilNext()) {
		return
	}
	last, enqueued, done := time.Now(), s.enqueued.Load(), s.done.Load()
	for sleep(ctx, untilNext()) {
		now := time.Now()
		passed := now.Sub(last).Seconds()
		newEnqueued, newDone := s.enqueued.Load(), s.done.Load()
		emit := func(metric string, value, window float64) {
			err := s.print(record{
				T: timestamp(now), System: "hourbell", InstanceID: s.instance, Kind: "adapter", SubjectKind: "adapter",
				Metric: metric, Value: value, WindowS: window,
			})
			if err != nil {
				log.Print("hardbyte: print a sample: ", err)
			}
		}
		claim, endToEnd := s.claim.quantiles(now), s.endToEnd.quantiles(now)
		for i, q := range quantiles {
			emit("claim_"+q.name+"_ms", claim[i], windowSeconds)
			emit("subscriber_"+q.name+"_ms", claim[i], windowSeconds) // the same figure; reports of the harness read this name
			emit("end_to_end_"+q.name+"_ms", endToEnd[i], windowSeconds)
		}
		emit("enqueue_rate", float64(newEnqueued-enqueued)/passed, every.Seconds())
		emit("completion_rate", float64(newDone-done)/passed, every.Seconds())
		if global {
			emit("queue_depth", float64(s.counts.Load()), 0)
			emit("producer_target_rate", float64(s.targetRate.Load()), 0)
		}
		last, enqueued, done = now, newEnqueued, newDone
	}
}

// print prints line as JSON.
func (s *samples) print(line any) error {
	s.printing.Lock()
	defer s.printing.Unlock()
	return s.lines.Encode(line)
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// The quantiles of latencies.
var quantiles = []struct {
	name string
	of   float64
}{{"p50", 0.50}, {"p95", 0.95}, {"p99", 0.99}}

// windowSeconds is how far back latencies count.
const windowSeconds = 30

// window counts the latencies of the last windowSeconds. Its size is fixed.
type window struct {
	mu      sync.Mutex
	seconds [windowSeconds]struct {
		unix   int64
		counts histogram
	}
}

// add counts a job that was sent at that instant, in Unix microseconds.
func (w *window) add(now time.Time, sent int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	second := &w.seconds[now.Unix()%windowSeconds]
	if second.unix != now.Unix() {
		second.unix, second.counts = now.Unix(), histogram{}
	}
	second.counts[bucket(now.UnixMicro()-sent)]++
}

// quantiles returns the quantiles in milliseconds, or zeros if there were no jobs.
func (w *window) quantiles(now time.Time) []float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	var sum histogram
	var all float64
	for i := range w.seconds {
		if w.seconds[i].unix > now.Unix()-windowSeconds {
			for b, n := range w.seconds[i].counts {
				sum[b] += n
				all += float64(n)
			}
		}
	}
	values := make([]float64, len(quantiles))
	if all == 0 {
		return values
	}
	for i, q := range quantiles {
		var below float64
		for b, n := range sum {
			if below += float64(n); below >= q.of*all {
				values[i] = float64(lowest(b)) / 1000
				break
			}
		}
	}
	return values
}

// histogram counts microseconds with three significant figures: buckets of 1 µs up to 2^11 µs, and from there 2^10
// buckets for each power of two, up to 2^33 µs.
type histogram [24 << precision]uint32

const precision = 10 // bits

func bucket(micros int64) int {
	v := uint64(max(micros, 0))
	shift := max(bits.Len64(v)-precision-1, 0)
	return min(shift<<precision+int(v>>shift), len(histogram{})-1)
}

// lowest is the least number of microseconds in a bucket.
func lowest(bucket int) int64 {
	shift := max(bucket>>precision-1, 0)
	return int64(bucket-shift<<precision) << shift
}
