package clienttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Stuck tests what becomes of the jobs of workers that ignore the end of their contexts. open is called for each
// test.
func Stuck(t *testing.T, open Open) {
	t.Parallel() // it waits most of the time
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
		{"a stuck worker is told, and replaced", (*stuck).isTold},
		{"as many stuck workers are replaced as the queue has", (*stuck).areReplaced},
		{"a cancelled job with a stuck worker", (*stuck).isCancelled},
		{"a stuck worker keeps a permit of its queue", func(s *stuck) {
			s.keepsItsPermit(hourbell.Limit{Name: "l", Queue: "default", Concurrency: 1})
		}},
		{"a stuck worker keeps a permit of its key", func(s *stuck) {
			s.keepsItsPermit(hourbell.Limit{Name: "l", ByKey: true, Concurrency: 1})
		}},
		{"a stuck worker is abandoned", (*stuck).isAbandoned},
	} {
		t.Run(test.name, func(t *testing.T) {
			with(t, open, func(e *env) {
				test.run(&stuck{env: e, deaf: 1, begun: make(chan int64, 100), end: make(chan struct{})})
			})
		})
	}
}

// stuck is a store with jobs. The workers of the first jobs ignore their contexts.
type stuck struct {
	*env
	deaf          int64 // so many
	runs          atomic.Int64
	running, most atomic.Int64
	begun         chan int64    // gets the id of each job that begins
	end           chan struct{} // lets these workers return
}

// work is the worker. It notes how many jobs run concurrently.
func (s *stuck) work(_ context.Context, job *hourbell.JobRow) error {
	n := s.running.Add(1)
	defer s.running.Add(-1)
	for old := s.most.Load(); n > old && !s.most.CompareAndSwap(old, n); old = s.most.Load() {
	}
	deaf := s.runs.Add(1) <= s.deaf
	s.begun <- job.ID
	if deaf {
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
	var died bool
	s.eventually("the first node has ended", func() bool {
		nodes, err := second.Nodes.List(s.Context())
		s.must(err)
		at := slices.IndexFunc(nodes, func(node store.NodeInfo) bool { return node.Name == first.Name() })
		if at < 0 || nodes[at].EndedAt.IsZero() {
			return false
		}
		died = nodes[at].Died
		return true
	})
	if died && first.Events.Counts()[event.StopUnwritten] == 0 {
		s.Error("the first node was declared dead, although no event says that it could not leave the cluster")
	}
	if n := s.most.Load(); n != 1 {
		s.Errorf("%d jobs ran concurrently", n)
	}
}

// stuckNode returns the configuration of a node with so many workers, whose first job ignores its timeout.
func (s *stuck) stuckNode(workers int, options ...hourbell.WorkerOption) hourbell.Config {
	cfg := s.node(append(options, hourbell.DefaultTimeout(200*time.Millisecond), hourbell.DefaultBackoff("exponential:100ms:1s"))...)
	cfg.Queues = map[string]int{"default": workers}
	cfg.Lease, cfg.Drain = 4*time.Second, 10*time.Second
	return cfg
}

// found waits until a job is shown as stuck, and returns since when it is.
func (s *stuck) found(client *hourbell.Client, id int64) (since time.Time) {
	s.Helper()
	s.eventually("the job is shown as stuck", func() bool {
		job, err := client.Jobs.Get(s.Context(), id)
		s.must(err)
		since = job.Progress.Stuck
		return !since.IsZero()
	})
	return since
}

// isTold runs a job whose worker ignores its timeout on the only worker of a queue: the store has since when it does, an event and OnStuck
// have its stack, another worker takes its place, and its late outcome counts.
func (s *stuck) isTold() {
	told := make(chan event.Event, 10)
	cfg := s.stuckNode(1)
	cfg.OnStuck = func(e event.Event) { told <- e }
	client := s.runNode(s.backend, cfg)
	defer close(s.end)
	begun, err := client.Now(s.Context())
	s.must(err)
	s.enqueueMany(client, 1)
	id := <-s.begun
	e := <-told
	if e.Job != id || e.Queue != "default" || e.JobKind != kind || e.Attempt != 1 || e.Token == 0 || e.Took < cfg.Grace || !errors.Is(e.Err, hourbell.ErrTimeout) {
		s.Errorf("the event of the stuck job: %+v", e)
	}
	if !strings.Contains(e.Trace, "(*stuck).work") || strings.Contains(e.Trace, "(*stuck).isTold") {
		s.Errorf("the event of the stuck job has the stack\n%s", e.Trace)
	}
	now, err := client.Now(s.Context())
	s.must(err)
	const uncertain = time.Second // a node knows the store's clock within the time that a call takes
	if since := s.found(client, id); since.Before(begun.Add(200*time.Millisecond)) || since.After(now.Add(uncertain)) {
		s.Errorf("the job is stuck since %v; it began after %v, and the event came before %v", since, begun, now)
	}
	file := store.NodeProblem{Name: "file", Subject: "a.yaml", Text: "no"}
	if !client.Nodes.ReportProblems(file) {
		s.Error("the client does not run")
	}
	s.eventually("the problems of the node are listed", func() bool {
		found := s.problems(client)
		return len(found) == 2 && found[0].Text == "no" && found[1].Name == "worker-stuck" &&
			found[1].Subject == fmt.Sprintf("job %d", id) && !found[1].Since.Before(begun)
	})
	since := s.problems(client)[0].Since
	file.Text = "not yet"
	client.Nodes.ReportProblems(file)
	s.eventually("a problem has another text, and the instant of its first", func() bool {
		found := s.problems(client)
		return found[0].Text == "not yet" && found[0].Since.Equal(since)
	})
	client.Nodes.ReportProblems()
	s.enqueueMany(client, 3)
	s.eventually("jobs run in the place of the stuck worker", func() bool { return s.runs.Load() == 4 })
	if job, err := client.Jobs.Get(s.Context(), id); err != nil || job.State != store.StateRunning {
		s.Errorf("the stuck job is %v: %v", job.State, err)
	}
	s.end <- struct{}{}
	s.eventually("the late outcome counts", func() bool {
		return s.count(client, hourbell.JobFilter{IDs: []int64{id}, States: []store.State{store.StateCompleted}}) == 1
	})
	s.eventually("the events are counted", func() bool {
		counts := client.Events.Counts()
		return counts[event.JobStuck] == 1 && counts[event.JobUnstuck] == 1
	})
	s.eventually("the problems are over", func() bool { return len(s.problems(client)) == 0 })
	if n := s.most.Load(); n != 2 {
		s.Errorf("%d jobs ran at once on one worker and the worker in the place of the stuck worker", n)
	}
}

// problems returns what is wrong with the only node.
func (s *stuck) problems(client *hourbell.Client) []store.NodeProblem {
	nodes, err := client.Nodes.List(s.Context())
	s.must(err)
	return nodes[0].Problems
}

// areReplaced runs jobs whose workers ignore their timeouts on the only worker of a queue: one of them is replaced, and the queue goes on when
// one of them returns.
func (s *stuck) areReplaced() {
	s.deaf = 2
	client := s.runNode(s.backend, s.stuckNode(1))
	defer close(s.end)
	s.enqueueMany(client, 1)
	s.found(client, <-s.begun)
	s.enqueueMany(client, 1)
	s.found(client, <-s.begun)
	s.enqueueMany(client, 3)
	time.Sleep(time.Second) // so that a worker too many runs a job
	if n := s.runs.Load(); n != 2 {
		s.Errorf("%d jobs have begun on a queue with one worker while two workers are stuck", n)
	}
	s.end <- struct{}{}
	s.eventually("the queue goes on", func() bool { return s.runs.Load() == 5 })
	if n := s.most.Load(); n != 2 {
		s.Errorf("%d jobs ran at once on a queue with one worker", n)
	}
}

// isCancelled cancels a job without a timeout whose worker ignores that: it is stuck, and abandoned as cancelled.
func (s *stuck) isCancelled() {
	client := s.runNode(s.backend, s.node(hourbell.AbandonAfter(100*time.Millisecond)))
	defer close(s.end)
	s.enqueueMany(client, 1)
	id := <-s.begun
	time.Sleep(500 * time.Millisecond) // longer than the grace: a job whose context has not ended is not stuck
	if n := client.Events.Counts()[event.JobStuck]; n != 0 {
		s.Errorf("%d jobs are stuck before the cancellation", n)
	}
	_, err := client.Jobs.Cancel(s.Context(), hourbell.JobFilter{IDs: []int64{id}})
	s.must(err)
	s.eventually("the job is cancelled", func() bool {
		return s.count(client, hourbell.JobFilter{IDs: []int64{id}, States: []store.State{store.StateCancelled}}) == 1
	})
	if n := client.Events.Counts()[event.JobStuck]; n != 1 {
		s.Errorf("%d events of stuck jobs", n)
	}
}

// keepsItsPermit runs a job whose worker ignores its timeout under a limit of 1: no other job runs until it returns.
func (s *stuck) keepsItsPermit(limit hourbell.Limit) {
	client := s.newClient(s.backend, s.stuckNode(2))
	s.must(client.Migrate(s.Context()))
	s.limited(limit)(client)
	s.start(client)
	s.runNode(s.other, s.stuckNode(2))
	id := <-s.begun
	s.found(client, id)
	time.Sleep(2 * time.Second) // so that a permit that is given back too early is used
	if n := s.runs.Load(); n != 1 {
		s.Errorf("%d jobs have begun while the stuck worker has the only permit", n)
	}
	close(s.end)
	s.eventually("both jobs complete", func() bool {
		return s.count(client, hourbell.JobFilter{States: []store.State{store.StateCompleted}}) == 2
	})
	if n := s.most.Load(); n != 1 {
		s.Errorf("%d jobs ran concurrently", n)
	}
}

// isAbandoned runs a job whose worker ignores its timeout, under a limit of 1: the attempt fails, the next one completes the job, and the late
// outcome is refused.
func (s *stuck) isAbandoned() {
	client := s.newClient(s.backend, s.stuckNode(1, hourbell.AbandonAfter(300*time.Millisecond)))
	s.must(client.Migrate(s.Context()))
	_, err := client.Limits.Put(s.Context(), hourbell.Limit{Name: "l", ByKey: true, Concurrency: 1}, 0)
	s.must(err)
	_, err = client.Limits.Put(s.Context(), hourbell.Limit{Name: "m", Queue: "default", Concurrency: 1}, 0)
	s.must(err)
	s.start(client)
	_, err = client.Enqueue(s.Context(), hourbell.RawArgs{Name: kind}, hourbell.Key("k"))
	s.must(err)
	id := <-s.begun
	s.eventually("the next attempt completes the job", func() bool {
		return s.count(client, hourbell.JobFilter{IDs: []int64{id}, States: []store.State{store.StateCompleted}}) == 1
	})
	if n := s.running.Load(); n != 1 {
		s.Errorf("%d workers run, want the stuck worker", n)
	}
	job, err := client.Jobs.Get(s.Context(), id)
	s.must(err)
	if len(job.Attempts) == 0 || !strings.Contains(job.Attempts[0].Error, "abandoned") ||
		!strings.Contains(job.Attempts[0].Trace, "(*stuck).work") || job.Attempts[0].Outcome != store.AttemptRetried ||
		job.Attempt != 2 {
		s.Errorf("the abandoned attempt: %+v", job.Attempts)
	}
	refused := client.Events.Counts()[event.ClaimLost]
	close(s.end)
	s.eventually("the late outcome is refused", func() bool {
		counts := client.Events.Counts()
		return counts[event.ClaimLost] == refused+1 && counts[event.JobUnstuck] == 1
	})
	if job, err := client.Jobs.Get(s.Context(), id); err != nil || job.State != store.StateCompleted || job.Attempt != 2 {
		s.Errorf("the job after the late outcome: %+v, %v", job, err)
	}
	s.enqueueMany(client, 5)
	s.eventually("the queue goes on", func() bool {
		return s.count(client, hourbell.JobFilter{States: []store.State{store.StateCompleted}}) == 6
	})
}
