package hourbell_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/clienttest"
)

// Ring is the type of the arguments of a second kind.
type Ring struct{}

func (Ring) Kind() string { return "ring" }

// gate counts the jobs that run, by kind, and lets them end.
type gate struct {
	mu      sync.Mutex
	running map[string]int
	most    map[string]int // that ran at once since the last release
	began   map[string]int // since the last release
	open    chan struct{}
}

func newGate() *gate {
	return &gate{running: map[string]int{}, most: map[string]int{}, began: map[string]int{}, open: make(chan struct{})}
}

// pass is a job that waits at the gate.
func (g *gate) pass(ctx context.Context, kind string) error {
	g.change(kind, 1)
	defer g.change(kind, -1)
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *gate) change(kind string, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running[kind] += by
	g.began[kind] += max(by, 0)
	g.most[kind] = max(g.most[kind], g.running[kind])
}

// run returns how many jobs of a kind run.
func (g *gate) run(kind string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running[kind]
}

// release lets the jobs end that run, and begins to count from 0.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.open = make(chan struct{})
	clear(g.most)
	clear(g.began)
}

// end lets all jobs end, also those that begin later.
func (g *gate) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
}

// gated returns workers of two kinds whose jobs wait at a gate.
func gated(g *gate, options ...hourbell.WorkerOption) *hourbell.Workers {
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Note]) error { return g.pass(ctx, job.Kind) }, options...)
	hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Ring]) error { return g.pass(ctx, job.Kind) })
	return workers
}

// enqueue adds n jobs of args.
func enqueueMany(t *testing.T, client *hourbell.Client, args hourbell.Args, n int) {
	t.Helper()
	requests := make([]hourbell.Request, n)
	for i := range requests {
		requests[i].Args = args
	}
	if _, err := client.EnqueueMany(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
}

// TestWorkersChangeWithoutRestart changes the number of workers while jobs run and wait.
func TestWorkersChangeWithoutRestart(t *testing.T) {
	c, g := newCluster(t), newGate()
	client := c.client(gated(g), func(cfg *hourbell.Config) { cfg.Queues, cfg.Lease = map[string]int{"default": 1}, time.Minute })
	set := func(n int) {
		t.Helper()
		if err := client.SetWorkers("default", n); err != nil {
			t.Fatal(err)
		}
	}
	runs := func(n int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d jobs run", n), func() bool { return g.run("note") == n })
	}
	set(2) // before the start
	enqueueMany(t, client, Note{}, 30)
	defer c.run(client)()
	defer g.end()
	runs(2)
	set(7)
	runs(7)
	set(3)
	g.release()
	runs(3)
	set(2)
	set(5)
	runs(5)
	set(0)
	g.release()
	runs(0)
	time.Sleep(100 * time.Millisecond)
	if n := g.run("note"); n != 0 {
		t.Errorf("%d jobs run on a node without workers", n)
	}
	set(1)
	runs(1)
	g.release()
	runs(1)
	set(100)
	runs(30 - 7 - 5 - 1)

	for _, bad := range []struct {
		queue string
		n     int
	}{{"default", -1}, {"default", 10_001}, {"other", 1}} {
		if err := client.SetWorkers(bad.queue, bad.n); err == nil || !strings.Contains(err.Error(), bad.queue) {
			t.Errorf("queue %q with %d workers gives %v", bad.queue, bad.n, err)
		}
	}
}

// TestAKindHasABoundOnANode checks that jobs of a kind never exceed its bound, that the other
// kinds get the other workers, and that the bound changes without a restart.
func TestAKindHasABoundOnANode(t *testing.T) {
	c, g := newCluster(t), newGate()
	client := c.client(gated(g, hourbell.MaxRunning(2)), func(cfg *hourbell.Config) { cfg.Queues, cfg.Lease = map[string]int{"default": 6}, time.Minute })
	enqueueMany(t, client, Note{}, 100)
	enqueueMany(t, client, Ring{}, 100)
	defer c.run(client)()
	runs := func(notes, rings int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d and %d jobs run", notes, rings), func() bool { return g.run("note") == notes && g.run("ring") == rings })
	}
	defer g.end()
	sixBegin := func() {
		t.Helper()
		eventually(t, "six jobs begin", func() bool {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.began["note"]+g.began["ring"] >= 6
		})
	}
	both := false
	for range 6 {
		sixBegin()
		g.mu.Lock()
		both = both || g.began["note"] > 0 && g.began["ring"] > 0
		if g.most["note"] > 2 {
			t.Errorf("%d jobs of a kind with a bound of 2", g.most["note"])
		}
		g.mu.Unlock()
		g.release()
	}
	if !both {
		t.Error("the kinds do not share the workers")
	}
	sixBegin()
	if err := client.SetMaxRunning("ring", 1); err != nil {
		t.Fatal(err)
	}
	for range 20 { // jobs that were passed to workers before the change still begin
		g.release()
		for range 30 {
			if time.Sleep(10 * time.Millisecond); g.run("note") == 2 && g.run("ring") == 1 {
				break
			}
		}
		if g.run("note") == 2 && g.run("ring") == 1 {
			break
		}
	}
	runs(2, 1)
	if err := client.SetMaxRunning("note", 0); err != nil {
		t.Fatal(err)
	}
	runs(5, 1)
	for _, bad := range []struct {
		kind string
		n    int
	}{{"note", -1}, {"note", 10_001}, {"other", 1}} {
		if err := client.SetMaxRunning(bad.kind, bad.n); err == nil || !strings.Contains(err.Error(), bad.kind) {
			t.Errorf("kind %q with %d gives %v", bad.kind, bad.n, err)
		}
	}
	if _, err := hourbell.New(c.store, hourbell.Config{Workers: gated(g, hourbell.MaxRunning(-1))}); err == nil || !strings.Contains(err.Error(), "max running of kind note") {
		t.Errorf("a bound of -1 gives %v", err)
	}
}

// TestAnAdmissionHoldsClaims checks that a node claims nothing while its admission refuses, and
// claims again soon after.
func TestAnAdmissionHoldsClaims(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c, g := newCluster(t), newGate()
		var full atomic.Bool
		client := c.client(gated(g), func(cfg *hourbell.Config) {
			cfg.Queues, cfg.Admission = map[string]int{"default": 2}, func() bool { return !full.Load() }
		})
		enqueueMany(t, client, Note{}, 3)
		defer c.run(client)()
		defer g.end()
		eventually(t, "two jobs run", func() bool { return g.run("note") == 2 })
		full.Store(true)
		g.release()
		eventually(t, "the node reports that it claims nothing", func() bool { return client.Events.Counts()[event.ClaimsHeld] == 1 })
		enqueueMany(t, client, Note{}, 1)
		time.Sleep(300 * time.Millisecond)
		if n := g.run("note"); n != 0 {
			t.Errorf("%d jobs run on a node whose admission refuses", n)
		}
		full.Store(false)
		eventually(t, "two jobs run", func() bool { return g.run("note") == 2 })
		if n := client.Events.Counts()[event.ClaimsFree]; n != 1 {
			t.Errorf("%d events of a node that claims again", n)
		}
	})
}

func TestMaxMemory(t *testing.T) {
	if !hourbell.MaxMemory(1 << 40)() {
		t.Error("a test uses more than 1 TiB")
	}
	few := hourbell.MaxMemory(1)
	for range 2 { // the second call while memory is returned
		if few() {
			t.Error("a test uses at most 1 byte")
		}
	}
}
