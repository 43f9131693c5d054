package hourbell_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
)

// putLimits puts limits, without a client.
func (c *cluster) putLimits(limits ...store.Limit) {
	c.t.Helper()
	var req store.PutRequest
	for _, l := range limits {
		req.Limits = append(req.Limits, store.PutLimit{Limit: l})
	}
	if _, err := c.store.Put(c.t.Context(), req); err != nil {
		c.t.Fatal(err)
	}
}

// TestALimitOfAQueueHolds runs jobs on three nodes under a limit that is lowered, raised and deleted, and counts
// how many jobs run at a time.
func TestALimitOfAQueueHolds(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		const jobs = 1000
		c := newCluster(t)
		var running, most, done atomic.Int64
		workers := func() *hourbell.Workers {
			w := hourbell.NewWorkers()
			hourbell.Register(w, func(context.Context, *hourbell.Job[Note]) error {
				n := running.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				time.Sleep(10 * time.Millisecond) // longer than a claim, also with the race detector
				running.Add(-1)
				done.Add(1)
				return nil
			})
			return w
		}
		clients := make([]*hourbell.Client, 3)
		for i := range clients {
			clients[i] = c.client(workers(), func(cfg *hourbell.Config) { cfg.Queues = map[string]int{"default": 8} })
		}
		c.putLimits(store.Limit{Name: "l", Queue: "default", Concurrency: 4})
		enqueueMany(t, clients[0], Note{}, jobs)
		for _, client := range clients {
			defer c.run(client)()
		}
		atMost := func(more, limit int64) {
			t.Helper()
			from := done.Load()
			eventually(t, "jobs run", func() bool { return done.Load() >= min(from+more, jobs) })
			if n := most.Load(); n > limit {
				t.Errorf("%d jobs run at a time under a limit of %d", n, limit)
			}
		}
		eventually(t, "as many jobs run as may", func() bool { return most.Load() >= 4 })
		atMost(100, 4)
		c.putLimits(store.Limit{Name: "l", Queue: "default", Concurrency: 2})
		eventually(t, "nodes hold few permits", func() bool { // jobs that were taken before may not have begun
			infos, err := store.List[store.LimitInfo](t.Context(), c.store, store.ListRequest{})
			return err == nil && infos[0].InUse <= 2 && running.Load() <= 2
		})
		most.Store(0)
		atMost(50, 2)
		c.putLimits(store.Limit{Name: "l", Queue: "default", Concurrency: 11})
		atMost(150, 11)
		eventually(t, "as many jobs run as may", func() bool { return most.Load() == 11 })
		if err := c.store.Delete(t.Context(), store.DeleteRequest{Of: store.OfLimits, Names: []string{"l"}}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the limit is gone", func() bool { return most.Load() > 11 || done.Load() == jobs })
		c.putLimits(store.Limit{Name: "l", Queue: "default", Concurrency: 3})
		from := done.Load()
		eventually(t, "jobs run under the new limit", func() bool { return done.Load() >= min(from+50, jobs) })
	})
}

// TestJobsAreClaimedAheadOfPermits runs short jobs on two nodes with many more workers than permits: their claims take many jobs at
// once, and no more jobs run at a time than the limit allows.
func TestJobsAreClaimedAheadOfPermits(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		const jobs, limit = 2000, 3
		c := newCluster(t)
		var running, most, done atomic.Int64
		clients := make([]*hourbell.Client, 2)
		for i := range clients {
			clients[i] = c.client(noteWorkers(func(context.Context, *hourbell.Job[Note]) error {
				n := running.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				time.Sleep(100 * time.Microsecond)
				running.Add(-1)
				done.Add(1)
				return nil
			}), func(cfg *hourbell.Config) { cfg.Queues, cfg.Lease = map[string]int{"default": 50}, time.Minute })
		}
		c.putLimits(store.Limit{Name: "l", Queue: "default", Concurrency: limit})
		enqueueMany(t, clients[0], Note{}, jobs)
		for _, client := range clients {
			defer c.run(client)()
		}
		eventually(t, "all jobs have run", func() bool { return done.Load() == jobs })
		if n := most.Load(); n > limit {
			t.Errorf("%d jobs ran at a time under a limit of %d", n, limit)
		}
		claims := clients[0].Events.Counts()[event.JobsClaimed] + clients[1].Events.Counts()[event.JobsClaimed]
		if claims > jobs/4 {
			t.Errorf("%d claims for %d jobs", claims, jobs)
		}
	})
}

// TestLongJobsAreNotClaimedAheadOfPermits checks that jobs for which a node has workers and no permits are left to other nodes.
func TestLongJobsAreNotClaimedAheadOfPermits(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		const jobs, limit = 12, 4
		c := newCluster(t)
		var claimed, done atomic.Int64
		client := c.client(noteWorkers(func(context.Context, *hourbell.Job[Note]) error {
			time.Sleep(200 * time.Millisecond)
			done.Add(1)
			return nil
		}), func(cfg *hourbell.Config) {
			cfg.Queues, cfg.Lease = map[string]int{"default": 10}, time.Minute
			cfg.Observers = []event.Observer{event.Sink(func(e event.Event) {
				if e.Kind == event.JobsClaimed {
					if n := claimed.Add(e.Count) - done.Load(); n > limit {
						t.Errorf("%d jobs are claimed, and %d may run", n, limit)
					}
				}
			})}
		})
		c.putLimits(store.Limit{Name: "l", Queue: "default", Concurrency: limit})
		enqueueMany(t, client, Note{}, jobs)
		defer c.run(client)()
		eventually(t, "all jobs have run", func() bool { return done.Load() == jobs })
		if n := claimed.Load(); n != jobs {
			t.Errorf("%d claims of %d jobs", n, jobs)
		}
	})
}

// TestPlacesShareThePermitsOfTheirQueue checks that the jobs of a place run while its queue, with which it shares the permits, has a
// backlog of short jobs.
func TestPlacesShareThePermitsOfTheirQueue(t *testing.T) {
	const jobs, placed, limit = 20_000, 5, 2
	c := newCluster(t)
	var running, most, done, here atomic.Int64
	w := hourbell.NewWorkers()
	w.Handle("note", func(_ context.Context, job *hourbell.JobRow) error {
		n := running.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(100 * time.Microsecond)
		running.Add(-1)
		if done.Add(1); job.Queue == "default@web1" {
			here.Add(1)
		}
		return nil
	})
	client := c.client(w, func(cfg *hourbell.Config) {
		cfg.Queues, cfg.Host, cfg.Lease = map[string]int{"default": 10}, "web1", time.Minute
	})
	c.putLimits(store.Limit{Name: "l", Queue: "default", Concurrency: limit})
	enqueueMany(t, client, Note{}, jobs)
	defer c.run(client)()
	eventually(t, "the backlog runs", func() bool { return done.Load() > 100 })
	specs := make([]store.NewJob, placed)
	for i := range specs {
		specs[i].JobSpec = store.JobSpec{Kind: "note", Queue: "default@web1", MaxAttempts: 1, Args: []byte("{}")}
	}
	_, err := c.store.Insert(t.Context(), store.InsertRequest{Jobs: specs})
	must(t, err)
	eventually(t, "the jobs of the place have run", func() bool { return here.Load() == placed })
	if done.Load() == jobs+placed {
		t.Error("the jobs of the place had to wait for all others")
	}
	if n := most.Load(); n > limit {
		t.Errorf("%d jobs ran at a time under a limit of %d", n, limit)
	}
}

// TestUnusedPermitsAreReturned checks that a node whose queue gets a limit while the node runs, and has nothing more to do, holds no
// permits soon, and again after further jobs.
func TestUnusedPermitsAreReturned(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		var done atomic.Int64
		w := hourbell.NewWorkers()
		hourbell.Register(w, func(context.Context, *hourbell.Job[Note]) error {
			done.Add(1)
			return nil
		})
		client := c.client(w)
		defer c.run(client)()
		enqueueMany(t, client, Note{}, 1)
		eventually(t, "the node works", func() bool { return done.Load() == 1 })
		c.putLimits(store.Limit{Name: "l", Queue: "default", Concurrency: 4})
		for jobs := int64(11); jobs <= 21; jobs += 10 {
			enqueueMany(t, client, Note{}, 10)
			eventually(t, "the jobs have run", func() bool { return done.Load() == jobs })
			eventually(t, "no permit is in use", func() bool {
				limits, err := store.List[store.LimitInfo](t.Context(), c.store, store.ListRequest{})
				if err != nil {
					t.Fatal(err)
				}
				return limits[0].InUse == 0
			})
		}
	})
}

// TestARateOfAQueueHolds runs jobs on three nodes under a rate, and counts the starts within each time.
func TestARateOfAQueueHolds(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		testARate(t, store.Limit{Name: "l", Queue: "default"})
	})
}

// TestARateOfKeysHolds checks that three nodes start no more jobs of a key than its rate allows, and use the rate.
func TestARateOfKeysHolds(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		testARate(t, store.Limit{Name: "l", ByKey: true}, hourbell.Key("k"))
	})
}

// testARate runs jobs on three nodes under a limit with a rate.
func testARate(t *testing.T, limit store.Limit, options ...hourbell.Option) {
	const every, burst, jobs = 5 * time.Millisecond, 20, 200
	c := newCluster(t)
	var mu sync.Mutex
	var starts []time.Time
	clients := make([]*hourbell.Client, 3)
	for i := range clients {
		w := hourbell.NewWorkers()
		hourbell.Register(w, func(context.Context, *hourbell.Job[Note]) error {
			mu.Lock()
			defer mu.Unlock()
			starts = append(starts, time.Now())
			return nil
		})
		clients[i] = c.client(w, func(cfg *hourbell.Config) { cfg.Queues = map[string]int{"default": 10} })
	}
	limit.Rate, limit.Per, limit.Burst = 200, time.Second, burst
	c.putLimits(limit)
	_, err := clients[0].EnqueueMany(t.Context(), slices.Repeat([]hourbell.Request{{Args: Note{}, Options: options}}, jobs))
	must(t, err)
	for _, client := range clients {
		defer c.run(client)()
	}
	eventually(t, "all jobs have started", func() bool { mu.Lock(); defer mu.Unlock(); return len(starts) == jobs })
	slices.SortFunc(starts, time.Time.Compare)
	for i := range starts {
		for j := i; j < len(starts); j++ {
			window := starts[j].Sub(starts[i])
			if n := j - i + 1; float64(n) > burst+float64(window)/float64(every) {
				t.Fatalf("%d starts within %v", n, window)
			}
		}
	}
	if took := starts[jobs-1].Sub(starts[0]); took > 3*jobs*every { // a busy machine is slower than the rate
		t.Errorf("%d starts took %v", jobs, took)
	}
}
