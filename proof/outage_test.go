package proof

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

// Mark is a job that reports to the witness that it ran.
type Mark struct{}

func (Mark) Kind() string { return "mark" }

func playNode(a *actor) error {
	hourbell.Register(a.workers, func(ctx context.Context, job *hourbell.Job[Mark]) error {
		if err := a.say("%d %d", job.ID, job.Token); err != nil {
			return err
		}
		if job.ID%20 == 0 { // so that some jobs are running when the lease is lost
			return work(ctx, a.lease)
		}
		return work(ctx, 20*time.Millisecond)
	})
	return a.serve(hourbell.Config{Queues: map[string]int{"default": 40}})
}

// cable is a TCP proxy to the database that can be cut.
type cable struct {
	net.Listener
	target string
	cut    atomic.Bool

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newCable(t *testing.T, target string) *cable {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{Listener: listener, target: target, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { listener.Close(); c.drop() })
	go c.serve()
	return c
}

func (c *cable) serve() {
	for {
		near, err := c.Accept()
		if err != nil {
			return
		}
		if c.cut.Load() {
			near.Close()
			continue
		}
		far, err := net.Dial("tcp", c.target)
		if err != nil {
			near.Close()
			continue
		}
		c.mu.Lock()
		c.conns[near], c.conns[far] = true, true
		c.mu.Unlock()
		go c.carry(near, far)
		go c.carry(far, near)
	}
}

func (c *cable) carry(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	from.Close()
	to.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, from)
	delete(c.conns, to)
}

func (c *cable) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		conn.Close()
	}
}

// away cuts the cable for a time.
func (c *cable) away(d time.Duration) {
	c.cut.Store(true)
	c.drop()
	time.Sleep(d)
	c.cut.Store(false)
}

// TestTheDatabaseGoesAwayAndComesBack (P3, P4, P5, P8): under 200 jobs a second
// the database is unreachable for longer than a heartbeat, and once for longer
// than the lease. No node crashes, every acknowledged job completes, each run
// beyond a job's first is explained by a claim that was lost or handed back,
// and no node takes another node's jobs.
func TestTheDatabaseGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	for name, factor := range map[string]float64{"longer than a heartbeat": 2.0 / 3, "longer than the lease": 1.6} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outage(t, time.Duration(factor*float64(lease(t))))
		})
	}
}

func outage(t *testing.T, gone time.Duration) {
	direct := serverStore(t)
	wire := newCable(t, hostOf(t, direct))
	s := newSite(t, through(t, direct, wire.Addr().String()))
	nodes := []*process{act(t, "node", s.at, s.witness), act(t, "node", s.at, s.witness)}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var acknowledged []int64
	var load sync.WaitGroup
	load.Go(func() { acknowledged = enqueueSteadily(ctx, s.client, 200) })
	time.Sleep(lease(t) + 2*time.Second) // longer than a node must have lived to declare others dead
	wire.away(gone)
	time.Sleep(lease(t) + 2*time.Second)
	stop()
	load.Wait()

	until(t, 30*time.Second, "nothing left to do", func() bool {
		return len(list[jobRow](t, direct, "jobs", "list", "--state", "ready,running")) == 0
	})
	jobs := list[jobRow](t, direct, "jobs", "list")
	completed := map[int64]bool{}
	for _, job := range jobs {
		if job.State != "completed" {
			t.Errorf("job %d is %s: %s", job.ID, job.State, job.Reason)
		}
		completed[job.ID] = true
	}
	for _, id := range acknowledged {
		if !completed[id] {
			t.Errorf("job %d was acknowledged and is not there", id)
		}
	}
	if again := explainDuplicates(t, s.witness, nodes); gone > lease(t) && again == 0 {
		t.Error("no job ran again; this proves nothing")
	}
	t.Logf("gone for %v: %d jobs acknowledged, %d in the store, all completed", gone, len(acknowledged), len(jobs))
	if len(acknowledged) < 200 {
		t.Errorf("only %d jobs were enqueued; this proves nothing", len(acknowledged))
	}
	for _, node := range nodes {
		if n := node.logged("job rescued"); n > 0 {
			t.Errorf("an outage made a node take %d jobs of another that lived", n)
		}
		node.stop()
	}
}

// enqueueSteadily enqueues until ctx ends and returns the acknowledged jobs.
func enqueueSteadily(ctx context.Context, client *hourbell.Client, perSecond int) (ids []int64) {
	ticker := time.NewTicker(time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ids
		case <-ticker.C:
		}
		call, cancel := context.WithTimeout(ctx, 2*time.Second)
		if added, err := client.Enqueue(call, Mark{}); err == nil {
			ids = append(ids, added.ID)
		}
		cancel()
	}
}

// explainDuplicates expects, for each run beyond a job's first, a log line that
// names the lost claim.
func explainDuplicates(t *testing.T, w witness, nodes []*process) (again int) {
	t.Helper()
	explained := map[int64]bool{} // by token
	for _, node := range nodes {
		for _, message := range []string{"claim lost: the outcome was refused", "job handed back", "job rescued"} {
			for _, line := range node.lines(message) {
				explained[line.Token] = true
			}
		}
	}
	runs := map[int64][]int64{}
	for _, row := range w.lines() {
		id, _ := strconv.ParseInt(row[0], 10, 64)
		token, _ := strconv.ParseInt(row[1], 10, 64)
		runs[id] = append(runs[id], token)
	}
	for id, tokens := range runs {
		again += len(tokens) - 1
		for i, token := range tokens[:len(tokens)-1] {
			if tokens[i+1] <= token {
				t.Errorf("job %d: token %d came after %d", id, tokens[i+1], token)
			}
			if !explained[token] {
				t.Errorf("job %d ran again, and no log line names its lost claim %d", id, token)
			}
		}
	}
	t.Logf("%d jobs ran, %d runs beyond the first", len(runs), again)
	return again
}
