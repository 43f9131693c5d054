package proof

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// TestAWorkerIsKilledInItsTransaction (P3): a node is killed after the effect, and after the
// completion, both before the commit. The effects of the next attempts are the only ones.
func TestAWorkerIsKilledInItsTransaction(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		for _, args := range []hourbell.Args{Posting{Halt: "effect"}, Entry{Halt: "effect"}, Entry{Halt: "completed"}} {
			t.Run(fmt.Sprintf("%T after %v", args, args), func(t *testing.T) {
				c := newClerks(t, freshStore(t, at))
				id := c.enqueue(args)
				first := c.node("")
				until(t, 60*time.Second, "the worker to wait", func() bool { return c.halted() == 1 })
				first.kill()
				second := c.node("")
				until(t, 3*lease(t)+60*time.Second, "the job's end", func() bool { return c.live() == 0 })
				second.stop()
				c.once(id)
				if info, err := c.client.Jobs.Get(t.Context(), id); err != nil || info.Attempt != 2 {
					t.Errorf("%d attempts, want 2 (%v)", info.Attempt, err)
				}
			})
		}
	})
}

// TestAWorkerIsStoppedInItsTransaction (P3, P4, P5): a node is stopped while its workers have
// written effects, or have completed their jobs, and have not committed. With PostgreSQL all
// other jobs go on at once, and the stopped node's jobs run elsewhere. When the node goes on, its
// workers cannot commit. With SQLite everything goes on when the node does.
func TestAWorkerIsStoppedInItsTransaction(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		c := newClerks(t, at)
		ids := []int64{c.enqueue(Posting{Halt: "effect"})}
		sharp := at[:7] != "sqlite:"
		if sharp { // in SQLite one transaction at a time has written
			ids = append(ids, c.enqueue(Entry{Halt: "completed"}), c.enqueue(Entry{Halt: "effect"}))
		}
		zombie := c.node("")
		until(t, 60*time.Second, "the workers to wait", func() bool { return c.halted() == len(ids) })
		zombie.signal(syscall.SIGSTOP)
		stopped := time.Now()
		if sharp {
			other := c.node("")
			defer other.stop()
			until(t, 60*time.Second, "the other node", func() bool { return other.logged("node started") == 1 })
			var latest time.Duration
			for range 20 {
				sent := time.Now()
				id := c.enqueue(Posting{})
				until(t, 20*time.Second, "another job", func() bool {
					info, err := c.client.Jobs.Get(t.Context(), id)
					return err == nil && info.State == store.StateCompleted
				})
				latest = max(latest, time.Since(sent))
				ids = append(ids, id)
			}
			t.Logf("%v after the node was stopped, the slowest of 20 other jobs had taken %v", time.Since(stopped), latest)
			if latest > lease(t)/2 {
				t.Errorf("another job took %v, while a stopped node held rows", latest)
			}
			until(t, 3*lease(t)+60*time.Second, "everything done elsewhere", func() bool { return c.live() == 0 })
		} else {
			time.Sleep(lease(t) + lease(t)/2)
		}
		c.goAhead()
		zombie.signal(syscall.SIGCONT)
		until(t, 3*lease(t)+60*time.Second, "the end of all jobs", func() bool { return c.live() == 0 })
		if sharp { // a node that is alone may extend its lease before it notices that it was stopped
			until(t, 60*time.Second, "the node to be back", func() bool { return zombie.logged("lease regained") >= 1 })
		}
		ids = append(ids, c.enqueue(Posting{}))
		until(t, 60*time.Second, "a job after that", func() bool { return c.live() == 0 })
		zombie.stop()
		c.once(ids...)
	})
}

// TestCommitsWithoutAnswers (P3): a proxy cuts connections of workers at their commits, some
// before the commit has reached the server, and some before its answer has reached the worker.
// Each job has one effect, and a job whose commit arrived does not run again.
func TestCommitsWithoutAnswers(t *testing.T) {
	at := postgresStore(t)
	c := newClerks(t, at)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	cutter := newCutter(t, u.Host)
	u.Host = cutter.Addr().String()
	const jobs = 300
	ids := make([]int64, jobs)
	for i := range ids {
		ids[i] = c.enqueue([]hourbell.Args{Posting{}, Entry{}}[i%2], hourbell.Backoff("constant:100ms"))
	}
	node := c.node(u.String())
	until(t, 120*time.Second, "the end of all jobs", func() bool { return c.live() == 0 })
	node.stop()
	c.once(ids...)
	again := 0
	for _, id := range ids {
		info, err := c.client.Jobs.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		again += int(info.Attempt) - 1
	}
	before, after := cutter.before.Load(), cutter.after.Load()
	t.Logf("%d commits were cut before they arrived, %d before their answers arrived; %d attempts were repeated", before, after, again)
	if before == 0 || after == 0 {
		t.Error("the proxy did not cut both")
	}
	if again > int(before) {
		t.Errorf("%d attempts were repeated, and only %d commits did not arrive", again, before)
	}
	if done := node.logged("job completed"); done != jobs {
		t.Errorf("%d jobs were reported completed, want %d", done, jobs)
	}
}

// TestAWorkerThatExitsInItsTransaction (P5): each attempt ends its process after the effect. The
// job fails when its attempts are used up, and has no effect.
func TestAWorkerThatExitsInItsTransaction(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		c := newClerks(t, at)
		const attempts = 2
		id := c.enqueue(Posting{Halt: "exit"}, hourbell.MaxAttempts(attempts))
		for range attempts {
			node := c.node("")
			select {
			case <-node.done:
			case <-time.After(3*lease(t) + 60*time.Second):
				t.Fatal("the job does not run")
			}
			if code := node.cmd.ProcessState.ExitCode(); code != killed {
				t.Fatalf("the node exited with %d", code)
			}
		}
		last := c.node("")
		until(t, 3*lease(t)+60*time.Second, "the job's end", func() bool { return c.live() == 0 })
		last.stop()
		info, err := c.client.Jobs.Get(t.Context(), id)
		if err != nil || info.State != store.StateFailed || info.Attempt != attempts {
			t.Errorf("the job is %v after %d attempts (%v)", info.State, info.Attempt, err)
		}
		if n, err := c.ledger.count(t.Context(), "SELECT count(*) FROM effect"); n != 0 || err != nil {
			t.Errorf("%d effects, %v", n, err)
		}
	})
}

// freshStore returns another empty store of the same database.
func freshStore(t *testing.T, at string) string {
	t.Helper()
	if at[:7] == "sqlite:" {
		return "sqlite:" + t.TempDir() + "/proof.db"
	}
	return postgresStore(t)
}

// cutter is a proxy that cuts some connections at a commit.
type cutter struct {
	net.Listener
	target        string
	before, after atomic.Int64 // commits that were cut before they arrived, and before their answers did
}

func newCutter(t *testing.T, target string) *cutter {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: listener, target: target}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			near, err := c.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				near.Close()
				continue
			}
			var cut atomic.Bool
			go c.ask(near, far, &cut)
			go answer(near, far, &cut)
		}
	}()
	return c
}

// ask carries what a worker sends, and decides about each commit.
func (c *cutter) ask(near, far net.Conn, cut *atomic.Bool) {
	defer near.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := near.Read(buffer)
		if err != nil {
			far.Close()
			return
		}
		if bytes.Contains(buffer[:n], []byte("commit\x00")) {
			switch rand.IntN(5) {
			case 0:
				c.before.Add(1)
				far.Close()
				return
			case 1:
				c.after.Add(1)
				cut.Store(true) // before the server can answer
			}
		}
		if _, err := far.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// answer carries what the server sends, and cuts the connection instead of an answer to a commit.
func answer(near, far net.Conn, cut *atomic.Bool) {
	defer near.Close()
	defer far.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := far.Read(buffer)
		if err != nil || cut.Load() {
			return
		}
		if _, err := near.Write(buffer[:n]); err != nil {
			return
		}
	}
}
