package measure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
)

// cell is one measurement.
type cell struct {
	name    string // in machine-readable output
	title   string // in tables
	paced   bool   // its rate is fixed, not measured
	measure func(*run, context.Context) (result, error)
}

// cells are the measurements in order. The drain works the jobs that the first
// three measurements have enqueued.
func cells() []cell {
	return []cell{
		{"enqueue_single", "enqueue, one after the other", false, (*run).single},
		{"enqueue_gathered", fmt.Sprintf("enqueue, %d at the same time", atOnce), false, (*run).gathered},
		{"enqueue_many", fmt.Sprintf("enqueue, %d a call", callJobs), false, (*run).many},
		{"drain", "drain by one node", false, (*run).drain},
		{"latency", fmt.Sprintf("enqueue to start, at %d a second", pace), true, (*run).latency},
	}
}

const (
	atOnce   = 1000 // goroutines that enqueue at the same time
	callJobs = 1000 // jobs of one call
	pace     = 50   // jobs per second in the measurement of latency
	workers  = 10   // workers of the node
)

// result is the result of a measurement.
type result struct {
	cell  cell
	jobs  int
	took  time.Duration
	waits []time.Duration // duration of each call or job, if measured
}

func (r result) rate() float64 { return float64(r.jobs) / r.took.Seconds() }

// quantile returns the least wait that is not exceeded by a share q of all
// waits; 0 if waits were not measured.
func (r result) quantile(q float64) time.Duration {
	if len(r.waits) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.waits))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// run is the data that all measurements share.
type run struct {
	backend  stores.Backend
	jobs     int           // a measurement ends after this many jobs,
	span     time.Duration // or after this time
	enqueued int           // jobs in the queue
	progress func(done float64)
}

const (
	kind         = "bench"
	queue        = "bench"
	latencyQueue = "bench latency"
)

// jobArgs returns arguments of a usual size.
func jobArgs(n int) hourbell.RawArgs {
	return hourbell.RawArgs{Name: kind, JSON: fmt.Appendf(nil, `{"number":%d,"to":"someone@example.org","subject":"the bell rings"}`, n)}
}

func (b *run) client(queue string, work hourbell.Handler) (*hourbell.Client, error) {
	config := hourbell.Config{Logger: slog.New(slog.DiscardHandler), NoMigrate: true}
	if work != nil {
		config.Workers = hourbell.NewWorkers()
		config.Workers.Handle(kind, work)
		config.Queues = map[string]int{queue: workers}
	}
	return hourbell.New(b.backend, config)
}

// quota distributes the jobs of one measurement among the callers.
type quota struct {
	b     *run
	start time.Time
	taken atomic.Int64
}

func (b *run) quota() *quota { return &quota{b: b, start: time.Now()} }

// take takes up to n jobs; 0 means that the measurement is over.
func (q *quota) take(n int) int {
	spent := time.Since(q.start)
	after := int(q.taken.Add(int64(n)))
	if spent >= q.b.span {
		return 0
	}
	return max(min(n, q.b.jobs-(after-n)), 0)
}

// done returns the share of the measurement that is over, 0 to 1.
func (q *quota) done() float64 {
	return min(max(float64(q.taken.Load())/float64(q.b.jobs), float64(time.Since(q.start))/float64(q.b.span)), 1)
}

// watch shows progress until the returned function is called.
func (q *quota) watch() (end func()) {
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				q.b.progress(q.done())
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		wg.Wait()
	}
}

// enqueue measures calls by concurrent goroutines that enqueue up to size jobs
// each.
func (b *run) enqueue(callers, size int, call func(n int) error) (result, error) {
	q := b.quota()
	defer q.watch()()
	type share struct {
		jobs  int
		waits []time.Duration
		err   error
	}
	shares := make([]share, callers)
	var wg sync.WaitGroup
	for i := range shares {
		s := &shares[i]
		wg.Go(func() {
			for n := q.take(size); n > 0 && s.err == nil; n = q.take(size) {
				began := time.Now()
				if s.err = call(n); s.err == nil {
					s.jobs += n
					s.waits = append(s.waits, time.Since(began))
				}
			}
		})
	}
	wg.Wait()
	r := result{took: time.Since(q.start)}
	var errs []error
	for _, s := range shares {
		r.jobs += s.jobs
		r.waits = append(r.waits, s.waits...)
		errs = append(errs, s.err)
	}
	b.enqueued += r.jobs
	return r, firstOf(errs)
}

// firstOf returns the first error, because a thousand callers may have the same
// error.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *run) single(ctx context.Context) (result, error) { return b.singles(ctx, 1) }

func (b *run) gathered(ctx context.Context) (result, error) {
	return b.singles(ctx, min(atOnce, b.jobs))
}

func (b *run) singles(ctx context.Context, callers int) (result, error) {
	client, err := b.client(queue, nil)
	if err != nil {
		return result{}, err
	}
	return b.enqueue(callers, 1, func(int) error {
		_, err := client.Enqueue(ctx, jobArgs(0), hourbell.Queue(queue))
		return err
	})
}

func (b *run) many(ctx context.Context) (result, error) {
	client, err := b.client(queue, nil)
	if err != nil {
		return result{}, err
	}
	requests := make([]hourbell.Request, callJobs)
	for i := range requests {
		requests[i].Args = jobArgs(i)
	}
	return b.enqueue(1, callJobs, func(n int) error {
		_, err := client.EnqueueMany(ctx, requests[:n], hourbell.Queue(queue))
		return err
	})
}

// drain works the jobs that were enqueued. The result includes the node's start
// and its orderly stop, after which all outcomes are in the store.
func (b *run) drain(ctx context.Context) (result, error) {
	q := b.quota()
	defer q.watch()()
	enough := make(chan struct{})
	target := int64(min(b.jobs, b.enqueued))
	var worked atomic.Int64
	client, err := b.client(queue, func(context.Context, *hourbell.JobRow) error {
		q.taken.Add(1)
		if worked.Add(1) == target {
			close(enough)
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	err = whileRunning(ctx, client, func(ctx context.Context) error {
		select {
		case <-enough:
		case <-time.After(b.span):
		case <-ctx.Done():
		}
		return nil
	})
	if worked.Load() == 0 && err == nil {
		err = errors.New("no job began; use a greater --seconds")
	}
	return result{jobs: int(worked.Load()), took: time.Since(q.start)}, err
}

// whileRunning runs a client while a function runs, then stops the client in
// order. The context of do ends when the client ends.
func whileRunning(ctx context.Context, client *hourbell.Client, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ran := make(chan error, 1)
	go func() {
		defer cancel()
		ran <- client.Run(context.WithoutCancel(ctx))
	}()
	err := do(ctx)
	// The jobs do nothing, so only writing their outcomes can take time.
	_ = client.Stop(context.WithoutCancel(ctx))
	return errors.Join(err, <-ran)
}

// latency measures the time from the call of Enqueue to the start of the job,
// on a node that is otherwise idle.
func (b *run) latency(ctx context.Context) (result, error) {
	q := b.quota()
	defer q.watch()()
	count := max(min(b.jobs, int(b.span.Seconds()*pace)), 1)
	base := time.Now()
	starts := make(chan start, count)
	client, err := b.client(latencyQueue, func(_ context.Context, job *hourbell.JobRow) error {
		at := time.Since(base)
		n, err := strconv.Atoi(string(job.RawArgs))
		if err == nil {
			starts <- start{n, at}
		}
		return err
	})
	if err != nil {
		return result{}, err
	}
	r := result{jobs: count}
	err = whileRunning(ctx, client, func(ctx context.Context) error {
		if err := b.warmUp(ctx, client, starts); err != nil {
			return err
		}
		sent, err := enqueuePaced(ctx, client, base, count)
		if err != nil {
			return err
		}
		for range sent {
			select {
			case s := <-starts:
				r.waits = append(r.waits, s.at-sent[s.job])
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	r.took = time.Since(q.start)
	return r, err
}

// start is the start of a job.
type start struct {
	job int
	at  time.Duration
}

// warmUp enqueues a job and waits for its start, so that the node is known to
// work.
func (b *run) warmUp(ctx context.Context, client *hourbell.Client, starts <-chan start) error {
	if _, err := client.Enqueue(ctx, hourbell.RawArgs{Name: kind, JSON: []byte("0")}, hourbell.Queue(latencyQueue)); err != nil {
		return err
	}
	select {
	case <-starts:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enqueuePaced enqueues count jobs, pace per second, and returns the
// instant of each call.
func enqueuePaced(ctx context.Context, client *hourbell.Client, base time.Time, count int) ([]time.Duration, error) {
	sent := make([]time.Duration, 0, count)
	tick := time.NewTicker(time.Second / pace)
	defer tick.Stop()
	for len(sent) < count {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return sent, ctx.Err()
		}
		args := hourbell.RawArgs{Name: kind, JSON: strconv.AppendInt(nil, int64(len(sent)), 10)}
		sent = append(sent, time.Since(base))
		if _, err := client.Enqueue(ctx, args, hourbell.Queue(latencyQueue)); err != nil {
			return sent, err
		}
	}
	return sent, nil
}
