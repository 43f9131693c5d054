// Package child is the process in which one system is measured: it enqueues
// jobs, or runs a node that works jobs, as the benchmark requests. Each system
// has a process of its own, so that its CPU time and its memory can be measured
// separately.
//
// The benchmark starts the process with a Request as JSON in the last argument.
// The process answers with Events, one JSON object per line on standard output.
// After the first event, which reports that it is connected, it waits for a
// line on standard input. It ends when standard input ends; a node stops at
// that point. The programs in ../node use the same protocol.
package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Request describes the work of one process.
type Request struct {
	Do     string // Setup, Insert or Work
	System string // the name of the system in the benchmark
	URL    string // of the PostgreSQL database, or the path of the SQLite file
	Mode   string // settings of the system that have a name, such as "default"

	Synchronous string // of SQLite: NORMAL or FULL
	Connections int    // the most connections to PostgreSQL; 0: the system's default
	// InTx: each insert, or each completion together with a row in the table
	// "effect", is in a transaction of the program, on a pool of its own.
	InTx bool

	// Fields for Insert.
	Jobs    int   // the number of jobs
	Batch   int   // jobs per call
	Clients int   // the number of goroutines that call
	Rate    int   // jobs per second; 0: as fast as possible
	Delay   int   // seconds from now until the jobs are due
	Unique  bool  // each job has a unique key of its own
	Open    int   // this many transactions with a job each are open
	First   int   // number of the first job
	Order   Order // the order in which the jobs are due
	Edges   Edges // which jobs wait for which
	Limit   Limit // how many of the jobs run at a time
	// SlowFlush makes each commit of the callers' transactions wait a millisecond for the disk.
	SlowFlush bool
	At        int64 // microseconds since 1970 at which schedules are due; 0: the request is for jobs

	// Fields for Work.
	Workers   int  // how many jobs run at once; 0: the best setting for the system
	Hold      bool // jobs run until the node stops
	Steps     int  // each job takes so many steps
	Own       bool // the process enqueues the jobs itself, as Insert would
	Every     int  // milliseconds: latencies are reported each time this has passed, and forgotten; 0: at the end
	Keep      int  // seconds for which completed jobs are kept; 0: the system's default
	Warm      int  // this many jobs, with the least numbers, do not count for latencies
	Schedules int  // the number of schedules in memory, for systems that cannot store schedules
	Due       int  // how many of the schedules are due at At
}

// The values of Request.Do.
const (
	Setup  = "setup"
	Insert = "insert"
	Work   = "work"
)

// Order is the order in which jobs are due, if it differs from the order of
// their arrival.
type Order string

// The possible orders.
const (
	Arrival   Order = ""          // the order of arrival
	Priority4 Order = "priority4" // the priorities 1 to 4 in turn
	Scattered Order = "scattered" // random instants of the past hour
)

// Edges is which jobs wait for the ends of other jobs.
type Edges string

// The possible edges.
const (
	NoEdges  Edges = ""
	Chains2  Edges = "chains2"  // each job of the second half waits for a job of the first half
	Chains10 Edges = "chains10" // the same with ten parts
	FanIn    Edges = "fanin"    // the last job waits for all others
	FanOut   Edges = "fanout"   // all others wait for the first job
	Batches  Edges = "batches"  // each 10,000th job waits for all jobs since the one before it
	Random3  Edges = "random3"  // each job except the first 1,000 waits for three jobs before it, selected at random
)

// Limit is how many jobs run at a time in the cluster.
type Limit string

// The possible limits.
const (
	NoLimit   Limit = ""
	QueueWide Limit = "queue wide"  // of the queue, more than there are workers
	Queue100  Limit = "queue 100"   // of the queue, 100
	KeysOfOne Limit = "keys of one" // of each of 10,000 keys, one
	Windows   Limit = "windows"     // of each of ten keys, 1,000
	OneKey    Limit = "one key"     // of the only key, 100
)

// Event is a message from a process to the benchmark.
type Event struct {
	Ready   bool    `json:"ready,omitempty"`
	Ended   int     `json:"ended,omitempty"`   // jobs so far
	Seconds float64 `json:"seconds,omitempty"` // the duration of Insert
	Final   bool    `json:"final,omitempty"`   // the last event
	// Latencies from Args.Sent to the start of the function, in milliseconds.
	P50 float64 `json:"p50,omitempty"`
	P99 float64 `json:"p99,omitempty"`
	Max float64 `json:"max,omitempty"`
	// Part is the number of jobs that started since the last event with latencies; see Request.Every.
	Part int `json:"part,omitempty"`
}

// Args are the arguments of every job: about 60 bytes of JSON.
type Args struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	Sent   int64  `json:"sent"` // microseconds since 1970
}

// Kind returns the kind of the jobs that have these arguments.
func (Args) Kind() string { return "noop" }

// System is a job queue as the benchmark uses it.
type System interface {
	// Setup creates the tables.
	Setup(ctx context.Context) error
	// Insert enqueues jobs in one call of the system, with the call that the
	// system offers for this number of jobs.
	Insert(ctx context.Context, jobs []Args) error
	// Work runs a node that calls do for each job, until ctx ends.
	Work(ctx context.Context, do func(Args)) error
}

// Scheduler is a System that stores schedules.
type Scheduler interface {
	// Schedule stores req.Schedules schedules; req.Due schedules are due at req.At.
	Schedule(ctx context.Context, req Request) error
}

// Main executes the request in the last argument of the program.
func Main(open func(context.Context, Request) (System, error)) {
	if err := serve(open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(open func(context.Context, Request) (System, error)) error {
	var req Request
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &req); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	system, err := open(ctx, req)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	tell(Event{Ready: true})
	input := bufio.NewReader(os.Stdin)
	if _, err := input.ReadString('\n'); err != nil {
		return nil // the benchmark has ended
	}
	if req.Do == Work {
		go func() {
			_, _ = input.ReadString('\n') // until standard input ends
			cancel()
		}()
		return work(ctx, system, req)
	}
	started := time.Now()
	switch {
	case req.Do == Setup:
		err = system.Setup(ctx)
	case req.At != 0:
		err = system.(Scheduler).Schedule(ctx, req)
	default:
		err = insert(ctx, system, req)
	}
	if err != nil {
		return err
	}
	tell(Event{Final: true, Ended: req.Jobs, Seconds: time.Since(started).Seconds()})
	_, _ = input.ReadString('\n') // stay until the benchmark has read the figures of the process
	return nil
}

// tell writes e to the benchmark.
func tell(e Event) {
	_ = json.NewEncoder(os.Stdout).Encode(e)
}

// insert divides the jobs among the clients.
func insert(ctx context.Context, system System, req Request) error {
	var (
		wg    sync.WaitGroup
		next  atomic.Int64
		first atomic.Pointer[error]
		start = time.Now()
	)
	for range req.Clients {
		wg.Go(func() {
			jobs := make([]Args, 0, req.Batch)
			for {
				from := int(next.Add(int64(req.Batch))) - req.Batch
				if from >= req.Jobs || first.Load() != nil {
					return
				}
				if req.Rate > 0 {
					time.Sleep(time.Until(start.Add(time.Duration(from) * time.Second / time.Duration(req.Rate))))
				}
				jobs = jobs[:0]
				sent := time.Now().UnixMicro()
				for i := from; i < min(from+req.Batch, req.Jobs); i++ {
					jobs = append(jobs, Args{Number: req.First + i, Text: "the quick brown fox", Sent: sent})
				}
				if err := system.Insert(ctx, jobs); err != nil {
					err = fmt.Errorf("insert: %w", err)
					first.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	wg.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

// work runs a node until ctx ends, and reports the number of ended jobs after
// each change.
func work(ctx context.Context, system System, req Request) error {
	var ended atomic.Int64
	latencies := make([]float32, 0, 1<<12)
	var mu sync.Mutex
	do := func(a Args) {
		now := time.Now().UnixMicro()
		if (req.Rate > 0 || req.At > 0) && a.Number >= req.Warm { // the benchmark measures latencies
			mu.Lock()
			latencies = append(latencies, float32(now-a.Sent)/1000)
			mu.Unlock()
		}
		ended.Add(1)
		if req.Hold {
			<-ctx.Done()
		}
	}
	stopped := make(chan error, 1)
	go func() { stopped <- system.Work(ctx, do) }()
	failed := make(chan error, 1)
	if req.Own {
		go func() { failed <- insert(ctx, system, req) }()
	}

	told := int64(0)
	report := func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(latencies)
		e.P50, e.P99, e.Max = Quantile(latencies, 0.5), Quantile(latencies, 0.99), Quantile(latencies, 1)
		if !e.Final {
			if e.Part = len(latencies); e.Part == 0 {
				return
			}
			latencies = latencies[:0]
		}
		tell(e)
	}
	var reports <-chan time.Time
	if req.Every > 0 {
		every := time.NewTicker(time.Duration(req.Every) * time.Millisecond)
		defer every.Stop()
		reports = every.C
	}
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case err := <-stopped:
			if ctx.Err() == nil {
				return fmt.Errorf("the node stopped: %w", err)
			}
		case err := <-failed:
			if err != nil && ctx.Err() == nil {
				return err
			}
		case <-ctx.Done():
		case <-reports:
			report(Event{})
		case <-ticker.C:
			if n := ended.Load(); n != told {
				told = n
				tell(Event{Ended: int(n)})
			}
		}
	}
	select {
	case err := <-stopped:
		if err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "the node stopped:", err)
		}
	case <-time.After(10 * time.Second):
	}
	report(Event{Final: true, Ended: int(ended.Load())})
	return nil
}

// Quantile returns the smallest sorted value that is not less than a share q of
// the values; 0 if there are no values.
func Quantile(sorted []float32, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)])
}
