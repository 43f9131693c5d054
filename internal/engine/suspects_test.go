package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// jumpy is a clock that can be put forward.
type jumpy struct{ ahead atomic.Int64 }

func (c *jumpy) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// suspects returns a store with n jobs that two nodes have lost.
func suspects(t *testing.T, n int) (*memory.Store, []int64) {
	t.Helper()
	var clock jumpy
	backend := memory.New(memory.WithClock(clock.now))
	ids := insert(t, backend, n, func(j *store.NewJob) { j.MaxAttempts, j.Args = 10, []byte("1") })
	ctx := context.Background()
	for range store.SuspectLosses {
		dead, err := backend.Register(ctx, store.RegisterRequest{Name: "dead", Lease: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if res, err := backend.Claim(ctx, store.ClaimRequest{Node: dead.Node, Queue: "q", Kinds: []string{"k"}, Limit: n}); err != nil || len(res.Jobs) != n {
			t.Fatalf("%d of %d jobs claimed: %v", len(res.Jobs), n, err)
		}
		clock.ahead.Add(int64(time.Minute))
		judge, err := backend.Register(ctx, store.RegisterRequest{Name: "judge", Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := backend.Rescue(ctx, store.RescueRequest{Node: judge.Node}); err != nil {
			t.Fatal(err)
		}
		if _, err := backend.Leave(ctx, store.LeaveRequest{Node: judge.Node}); err != nil {
			t.Fatal(err)
		}
		clock.ahead.Add(int64(time.Minute))
	}
	return backend, ids
}

// watch counts the jobs that run at the same time as suspects.
type watch struct {
	mu         sync.Mutex
	running    map[int64]bool
	concurrent int // jobs that ran when a suspect began
	joined     int // jobs that began while a suspect ran
	suspects   int // running suspects
	most       int // greatest number of suspects that ran at the same time
	afterward  int // ordinary jobs that have ended
}

func (w *watch) begin(run *work.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if run.Losses >= store.SuspectLosses {
		w.concurrent += len(w.running)
		w.suspects++
		w.most = max(w.most, w.suspects)
	} else if w.suspects > 0 {
		w.joined++
	}
	w.running[run.ID] = true
}

func (w *watch) end(run *work.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, run.ID)
	if run.Losses >= store.SuspectLosses {
		w.suspects--
	} else {
		w.afterward++
	}
}

func (w *watch) work(lasts func(run *work.Run) time.Duration) work.Func {
	return func(ctx context.Context, run *work.Run) error {
		w.begin(run)
		defer w.end(run)
		return loop.Sleep(ctx, lasts(run))
	}
}

func TestSuspectsBeginAlone(t *testing.T) {
	backend, ids := suspects(t, 2)
	w := &watch{running: map[int64]bool{}}
	others := insert(t, backend, 300)
	n := startNode(t, backend, w.work(func(run *work.Run) time.Duration {
		if run.Losses > 0 {
			return 100 * time.Millisecond
		}
		return 5 * time.Millisecond
	}), func(cfg *Config) { cfg.Queues = map[string]int{"q": 4, "r": 4} })
	insert(t, backend, 300, func(j *store.NewJob) { j.Queue = "r" })
	waitUntil(t, "all done", finished(t, backend, store.StateCompleted, append(ids, others...)...))
	n.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.concurrent != 0 || w.joined != 0 || w.most != 1 {
		t.Errorf("%d jobs ran when a suspect began, %d began while one ran, %d suspects ran at a time", w.concurrent, w.joined, w.most)
	}
}

func TestANodeFillsUpAgainDuringALongSuspect(t *testing.T) {
	backend, ids := suspects(t, 2)
	w := &watch{running: map[int64]bool{}}
	end := make(chan struct{})
	n := startNode(t, backend, func(ctx context.Context, run *work.Run) error {
		w.begin(run)
		defer w.end(run)
		if run.Losses > 0 {
			select {
			case <-end:
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}, func(cfg *Config) { cfg.Alone = 300 * time.Millisecond })
	running := func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.suspects > 0 }
	waitUntil(t, "a suspect", running)
	began := time.Now()
	others := insert(t, backend, 20)
	waitUntil(t, "the others", finished(t, backend, store.StateCompleted, others...))
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("the node filled up again after %v", took)
	}
	w.mu.Lock()
	if w.concurrent != 0 || w.most != 1 {
		t.Errorf("%d jobs ran when a suspect began, %d suspects ran at a time", w.concurrent, w.most)
	}
	w.mu.Unlock()
	close(end)
	waitUntil(t, "the suspects", finished(t, backend, store.StateCompleted, ids...))
	n.stop()
}

func TestALongJobKeepsASuspectWaitingAndNotTheNode(t *testing.T) {
	backend, ids := suspects(t, 1)
	w := &watch{running: map[int64]bool{}}
	end := make(chan struct{})
	long := insert(t, backend, 1, func(j *store.NewJob) { j.Queue = "long" })
	attempt := func(ctx context.Context, run *work.Run) error {
		w.begin(run)
		defer w.end(run)
		if run.ID == long[0] {
			select {
			case <-end:
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}
	n := startNode(t, backend, attempt, func(cfg *Config) {
		cfg.Queues = map[string]int{"long": 1}
		cfg.Alone = 100 * time.Millisecond
	})
	waitUntil(t, "the long job", func() bool { return n.count(event.JobStarted) == 1 })
	n.stop() // the long job is released; the next node claims it at once, and looks for suspects later
	m := startNode(t, backend, attempt, func(cfg *Config) {
		cfg.Queues = map[string]int{"long": 1, "q": 2}
		cfg.Alone = 100 * time.Millisecond
	})
	waitUntil(t, "the suspect or the long job", func() bool { return m.count(event.JobStarted) >= 1 })
	if w.concurrent > 0 {
		t.Error("the suspect began while the long job ran")
	}
	others := insert(t, backend, 50)
	waitUntil(t, "the others", finished(t, backend, store.StateCompleted, others...))
	close(end)
	waitUntil(t, "everything", finished(t, backend, store.StateCompleted, append(ids, long...)...))
	m.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.concurrent != 0 || w.joined != 0 {
		t.Errorf("%d jobs ran when the suspect began, %d began while it ran", w.concurrent, w.joined)
	}
}

// gated is a store that answers BeginJobs when it is told to.
type gated struct {
	store.Backend
	mu    sync.Mutex
	asked [][]int64 // the jobs of each call
	let   chan error
}

func (g *gated) BeginJobs(ctx context.Context, req store.BeginRequest) (store.BeginResult, error) {
	var ids []int64
	for _, ref := range req.Claims {
		ids = append(ids, ref.ID)
	}
	g.mu.Lock()
	g.asked = append(g.asked, ids)
	g.mu.Unlock()
	if err := <-g.let; err != nil {
		return store.BeginResult{}, err
	}
	return g.Backend.BeginJobs(ctx, req)
}

func (g *gated) calls() [][]int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.asked)
}

// startGated starts a node on a store with four jobs, which run until end is closed, and waits until one of them runs and the
// node has asked whether the others may begin.
func startGated(t *testing.T, backend store.Backend) (g *gated, n *testNode, ids []int64, end chan struct{}) {
	t.Helper()
	g, end = &gated{Backend: backend, let: make(chan error)}, make(chan struct{})
	ids = insert(t, backend, 4)
	n = startNode(t, g, func(ctx context.Context, _ *work.Run) error {
		select {
		case <-end:
		case <-ctx.Done():
		}
		return ctx.Err()
	}, func(cfg *Config) { cfg.Lease, cfg.Heartbeat = time.Minute, time.Second })
	waitUntil(t, "the first job, and a question", func() bool { return n.count(event.JobStarted) == 1 && len(g.calls()) == 1 })
	return g, n, ids, end
}

func TestJobsClaimedAheadBeginWhenTheStoreKnows(t *testing.T) {
	backend := memory.New()
	g, n, ids, end := startGated(t, backend)
	time.Sleep(50 * time.Millisecond)
	if got := n.count(event.JobStarted); got != 1 || !slices.Equal(g.calls()[0], ids[1:]) {
		t.Fatalf("%d jobs have begun before the store knew of %v", got, g.calls())
	}
	g.let <- errors.New("no answer")
	waitUntil(t, "three jobs are handed back", func() bool { return n.count(event.JobReleased) == 3 })
	close(end)
	close(g.let)
	waitUntil(t, "all completed", finished(t, backend, store.StateCompleted, ids...))
	jobs, err := backend.ListJobs(context.Background(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if job.Attempt != 1 {
			t.Errorf("job %d is at attempt %d", job.ID, job.Attempt)
		}
	}
}

// TestLostLeasesEndAtLast checks that a job that loses its node's lease each time, for example
// because it uses all connections, uses up its attempts.
func TestLostLeasesEndAtLast(t *testing.T) {
	backend := memory.New()
	var n *testNode
	ready := make(chan struct{})
	var runs atomic.Int32
	n = startNode(t, backend, func(ctx context.Context, _ *work.Run) error {
		<-ready
		runs.Add(1)
		n.away.Store(true)
		<-ctx.Done()
		n.away.Store(false)
		return ctx.Err()
	})
	ids := insert(t, backend, 1, func(j *store.NewJob) { j.MaxAttempts = 1 })
	close(ready)
	waitUntil(t, "failed", finished(t, backend, store.StateFailed, ids...))
	const refunds = 5 // attempts that do not count although the node lost its lease
	if got := runs.Load(); got != refunds+1 {
		t.Errorf("it ran %d times", got)
	}
}

// TestThirtyDeployments checks that orderly stops never count as attempts.
func TestThirtyDeployments(t *testing.T) {
	backend := memory.New()
	ids := insert(t, backend, 1, func(j *store.NewJob) { j.MaxAttempts = 1 })
	var runs atomic.Int32
	for range 30 {
		n := startNode(t, backend, func(ctx context.Context, _ *work.Run) error {
			runs.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}, func(cfg *Config) { cfg.Drain = 10 * time.Millisecond })
		before := runs.Load()
		waitUntil(t, "a start", func() bool { return runs.Load() > before || n.count(event.JobStarted) > 0 })
		n.stop()
	}
	startNode(t, backend, func(context.Context, *work.Run) error { return nil })
	waitUntil(t, "completed", finished(t, backend, store.StateCompleted, ids...))
	jobs, err := backend.ListJobs(context.Background(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: 1})
	if err != nil || jobs[0].Attempt != 1 || runs.Load() != 30 {
		t.Errorf("%+v after %d starts: %v", jobs, runs.Load(), err)
	}
}

// hiding is a store that hides its jobs, and reports no suspects, until shown is set. Each element of push is a wake-up.
type hiding struct {
	store.Backend
	push             chan struct{}
	shown            atomic.Bool
	claims, searches atomic.Int64
}

func (h *hiding) Listen(ctx context.Context, wake func(store.Wake)) error {
	wake(store.Wake{})
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.push:
			wake(store.Wake{Kind: store.WakeJobs, Queue: "q"})
		}
	}
}

func (h *hiding) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	if req.Suspects {
		h.searches.Add(1)
	} else {
		defer h.claims.Add(1)
	}
	if !h.shown.Load() {
		return store.ClaimResult{NoSuspects: true}, nil
	}
	return h.Backend.Claim(ctx, req)
}

func TestSuspectsAreNotSearchedWhereThereAreNone(t *testing.T) {
	backend, ids := suspects(t, 1)
	h := &hiding{Backend: backend, push: make(chan struct{})}
	startNode(t, h, func(context.Context, *work.Run) error { return nil }, func(cfg *Config) {
		cfg.Backend, cfg.PollBusy, cfg.PollIdle, cfg.PollPushed = h, time.Hour, time.Hour, time.Hour
	})
	waitUntil(t, "a claim", func() bool { return h.claims.Load() > 0 })
	for began := time.Now(); time.Since(began) < 2*testLease; { // some heartbeats
		before := h.claims.Load()
		h.push <- struct{}{}
		waitUntil(t, "another claim", func() bool { return h.claims.Load() > before })
	}
	if n := h.searches.Load(); n > 1 {
		t.Errorf("%d claims of suspects in a queue whose claims answer that there are none", n)
	}
	h.shown.Store(true)
	h.push <- struct{}{}
	waitUntil(t, "the suspect, which the next claim reports", finished(t, backend, store.StateCompleted, ids...))
}
