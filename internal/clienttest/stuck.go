package clienttest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Stuck tests what becomes of the jobs of workers that ignore the end of their contexts. open is called for each test; it
// returns two backends on one empty store, and registers its clean-up with t.
func Stuck(t *testing.T, open func(t *testing.T) (a, b store.Backend)) {
	for _, test := range []struct {
		name string
		run  func(s *stuck)
	}{
		{"a forced stop, limit of a queue", func(s *stuck) {
			s.forcedStop(s.limited(hourbell.Limit{Name: "l", Queue: "default", Concurrency: 1}))
		}},
		{"a forced stop, limit of a kind", func(s *stuck) {
			s.forcedStop(s.limited(hourbell.Limit{Name: "l", Kind: kind, Concurrency: 1}))
		}},
		{"a forced stop, limit by key", func(s *stuck) {
			s.forcedStop(s.limited(hourbell.Limit{Name: "l", ByKey: true, Concurrency: 1}))
		}},
		{"a forced stop, a schedule that skips", func(s *stuck) { s.forcedStop(s.skipping) }},
		{"a forced stop, one job", func(s *stuck) { s.forcedStop(s.enqueueOne) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &stuck{env: &env{T: t}, begun: make(chan int64, 100), end: make(chan struct{})}
			s.backend, s.other = open(t)
			test.run(s)
		})
	}
}

// stuck is a store with jobs, the first of which has a worker that ignores its context.
type stuck struct {
	*env
	runs          atomic.Int64
	running, most atomic.Int64
	begun         chan int64    // gets the id of each job that begins
	end           chan struct{} // lets the first worker return
}

// work is the worker. It notes how many jobs run concurrently.
func (s *stuck) work(_ context.Context, job *hourbell.JobRow) error {
	n := s.running.Add(1)
	defer s.running.Add(-1)
	for old := s.most.Load(); n > old && !s.most.CompareAndSwap(old, n); old = s.most.Load() {
	}
	first := s.runs.Add(1) == 1
	s.begun <- job.ID
	if first {
		<-s.end
	}
	return nil
}

// node returns the configuration of a node with the worker.
func (s *stuck) node(options ...hourbell.WorkerOption) hourbell.Config {
	workers := hourbell.NewWorkers()
	workers.Handle(kind, s.work, options...)
	return hourbell.Config{Workers: workers, Lease: time.Second, Drain: 50 * time.Millisecond, Grace: 50 * time.Millisecond}
}

// limited enqueues two jobs under a limit.
func (s *stuck) limited(limit hourbell.Limit) func(client *hourbell.Client) {
	return func(client *hourbell.Client) {
		_, err := client.Limits.Put(s.Context(), limit, 0)
		s.must(err)
		for range 2 {
			_, err := client.Enqueue(s.Context(), hourbell.RawArgs{Name: kind}, hourbell.Key("k"))
			s.must(err)
		}
	}
}

// skipping puts a schedule whose jobs do not overlap.
func (s *stuck) skipping(client *hourbell.Client) {
	_, err := client.Schedules.Put(s.Context(), hourbell.Schedule{
		Name: "s", Rule: recur.Every(time.Second), Job: hourbell.RawArgs{Name: kind}, Overlap: hourbell.OverlapSkip,
	})
	s.must(err)
}

func (s *stuck) enqueueOne(client *hourbell.Client) { s.enqueueMany(client, 1) }

// forcedStop stops a node whose worker ignores its context, and checks that no other job of what enqueue has
// made runs elsewhere while the worker runs, for several leases; and that all goes on when the worker has returned.
func (s *stuck) forcedStop(enqueue func(client *hourbell.Client)) {
	first := s.newClient(s.backend, s.node())
	life, stop := context.WithCancel(s.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- first.Run(life) }()
	s.must(first.Migrate(s.Context()))
	enqueue(first)
	id := <-s.begun
	second := s.runNode(s.other, s.node())
	stop()
	s.must(<-ended)
	select {
	case <-first.Done():
		s.Error("the client is done while its worker runs")
	case <-time.After(3 * time.Second):
	}
	if n := s.runs.Load(); n != 1 {
		s.Errorf("%d jobs have begun while the worker of the first job runs", n)
	}
	if job, err := second.Jobs.Get(s.Context(), id); err != nil || job.State != store.StateRunning {
		s.Errorf("the job of the worker that runs is %v: %v", job.State, err)
	}
	close(s.end)
	<-first.Done()
	s.eventually("the job completes", func() bool {
		return s.count(second, hourbell.JobFilter{IDs: []int64{id}, States: []store.State{store.StateCompleted}}) == 1
	})
	if s.count(second, hourbell.JobFilter{}) > 1 {
		s.eventually("the next job runs", func() bool { return s.runs.Load() > 1 })
	}
	nodes, err := second.Nodes.List(s.Context())
	s.must(err)
	for _, node := range nodes {
		if node.Name == first.Name() && node.EndedAt.IsZero() {
			s.Error("the first node has not left the cluster")
		}
	}
	if n := s.most.Load(); n != 1 {
		s.Errorf("%d jobs ran concurrently", n)
	}
}
