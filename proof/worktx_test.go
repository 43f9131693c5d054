package proof

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
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
	t.Parallel()
	onEachStore(t, allStores, func(t *testing.T, at string) {
		for _, args := range []hourbell.Args{Posting{Halt: "effect"}, Entry{Halt: "effect"}, Entry{Halt: "completed"}} {
			t.Run(fmt.Sprintf("%T after %v", args, args), func(t *testing.T) {
				t.Parallel()
				c := newClerks(t, freshStore(t, kindOf(at)))
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
// written effects, or have completed their jobs, and have not committed. On a server all
// other jobs go on at once, and the stopped node's jobs run elsewhere; MariaDB has to be told to end transactions that are idle. When the node goes on, its
// workers cannot commit. With SQLite, where only one transaction at a time can have written, all
// readers go on at once, and all jobs when the node does.
func TestAWorkerIsStoppedInItsTransaction(t *testing.T) {
	t.Parallel()
	onServers(t, allStores, func(t *testing.T, kind string) {
		t.Parallel()
		at := freshStore(t, kind)
		if kind == inMySQL {
			at = endingIdle(t, at, int(lease(t).Seconds()))
		}
		c := newClerks(t, at)
		ids := []int64{c.enqueue(Posting{Halt: "effect"}), c.enqueue(Entry{Halt: "completed"}), c.enqueue(Entry{Halt: "effect"})}
		zombie := c.node("")
		until(t, 60*time.Second, "the workers to wait", func() bool { return c.halted() == len(ids) })
		zombie.signal(syscall.SIGSTOP)
		stopped := time.Now()
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
		c.goOn(zombie, ids, func() bool { return zombie.logged("lease regained") >= 1 })
	})
	for _, args := range []hourbell.Args{Posting{Halt: "effect"}, Entry{Halt: "effect"}, Entry{Halt: "completed"}} {
		t.Run(fmt.Sprintf("sqlite, %T after %v", args, args), func(t *testing.T) {
			t.Parallel()
			needs(t, inSQLite)
			c := newClerks(t, freshStore(t, inSQLite))
			ids := []int64{c.enqueue(args)}
			zombie := c.node("")
			until(t, 60*time.Second, "the worker to wait", func() bool { return c.halted() == 1 })
			zombie.signal(syscall.SIGSTOP)
			time.Sleep(lease(t) + lease(t)/2)
			read := time.Now()
			if info, err := c.client.Jobs.Get(t.Context(), ids[0]); err != nil || info.State != store.StateRunning || time.Since(read) > time.Second {
				t.Errorf("the job is %v, read in %v: %v", info.State, time.Since(read), err)
			}
			c.goOn(zombie, ids, func() bool { return true }) // a node that is alone may extend its lease before it notices that it was stopped
		})
	}
}

// goOn lets a node that was stopped go on, waits until it is back, and checks the effects of the
// jobs ids and of jobs that are enqueued after that.
func (c *clerks) goOn(zombie *process, ids []int64, back func() bool) {
	c.t.Helper()
	c.goAhead()
	zombie.signal(syscall.SIGCONT)
	until(c.t, 3*lease(c.t)+60*time.Second, "the end of all jobs", func() bool { return c.live() == 0 })
	until(c.t, 60*time.Second, "the node to be back", back)
	for range 5 {
		ids = append(ids, c.enqueue(Posting{}), c.enqueue(Entry{}))
	}
	until(c.t, 60*time.Second, "jobs after that", func() bool { return c.live() == 0 })
	zombie.stop()
	c.once(ids...)
}

// TestAWorkerIsKilledBeforeTheAnswer (P3): a node is killed when the server has committed the
// transaction of a worker, and the answer has not arrived. The job does not run again.
func TestAWorkerIsKilledBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for _, args := range []hourbell.Args{Posting{}, Entry{}} {
		t.Run(fmt.Sprintf("%T", args), func(t *testing.T) {
			t.Parallel()
			at := serverStore(t)
			c := newClerks(t, at)
			killer := newCutter(t, hostOf(t, at))
			victim := make(chan *process, 1)
			killer.answered = func() { (<-victim).kill() }
			id := c.enqueue(args)
			first := c.node(through(t, at, killer.Addr().String()))
			victim <- first
			select {
			case <-first.done:
			case <-time.After(60 * time.Second):
				t.Fatal("the worker does not commit")
			}
			second := c.node("")
			until(t, 3*lease(t)+60*time.Second, "the job's end", func() bool { return c.live() == 0 })
			until(t, 3*lease(t)+60*time.Second, "the death of the first node to be noticed", func() bool { return second.logged("node declared dead") == 1 })
			second.stop()
			c.once(id)
			info, err := c.client.Jobs.Get(t.Context(), id)
			if err != nil || info.Attempt != 1 || killer.after.Load() != 1 {
				t.Errorf("%d attempts, want 1; %d commits without an answer (%v)", info.Attempt, killer.after.Load(), err)
			}
		})
	}
}

// TestCommitsWithoutAnswers (P3): a proxy cuts connections of workers at their commits, some
// before the commit has reached the server, and some before its answer has reached the worker.
// Each job has one effect, and a job whose commit arrived does not run again.
func TestCommitsWithoutAnswers(t *testing.T) {
	t.Parallel()
	at := serverStore(t)
	c := newClerks(t, at)
	cutter := newCutter(t, hostOf(t, at))
	const jobs = 300
	ids := make([]int64, jobs)
	for i := range ids {
		ids[i] = c.enqueue([]hourbell.Args{Posting{}, Entry{}}[i%2], hourbell.Backoff("constant:100ms"))
	}
	node := c.node(through(t, at, cutter.Addr().String()))
	until(t, 120*time.Second, "the end of all jobs", func() bool { return c.live() == 0 })
	node.stop()
	c.once(ids...)
	again, why := 0, map[string]int{}
	for _, id := range ids {
		info, err := c.client.Jobs.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		again += int(info.Attempt) - 1
		for _, attempt := range info.Attempts {
			why[attempt.Error]++
		}
	}
	before, after := cutter.before.Load(), cutter.after.Load()
	t.Logf("%d commits were cut before they arrived, %d before their answers arrived; %d attempts were repeated", before, after, again)
	if before == 0 || after == 0 {
		t.Error("the proxy did not cut both")
	}
	if again > int(before) {
		t.Errorf("%d attempts were repeated, and only %d commits did not arrive; the attempts ended with %v", again, before, why)
	}
	if done := node.logged("job completed"); done != jobs {
		t.Errorf("%d jobs were reported completed, want %d", done, jobs)
	}
}

// TestAWorkerThatExitsInItsTransaction (P5): each attempt ends its process after the effect. The
// job fails when its attempts are used up, and has no effect.
func TestAWorkerThatExitsInItsTransaction(t *testing.T) {
	t.Parallel()
	onEachStore(t, allStores, func(t *testing.T, at string) {
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

// cutter is a proxy that cuts some connections at a commit.
type cutter struct {
	net.Listener
	target        string
	before, after atomic.Int64 // commits that were cut before they arrived, and before their answers did
	// answered, if not nil, is called instead of cutting some connections: when the answer to the
	// first commit has come from the server. The answer is not carried.
	answered func()
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
			go c.answer(near, far, &cut)
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
		if isCommit(buffer[:n]) {
			choice := rand.IntN(5)
			if c.answered != nil {
				choice = 1
			}
			switch choice {
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

// isCommit reports whether a message to PostgreSQL or MySQL contains the statement that commits a transaction.
func isCommit(message []byte) bool {
	return bytes.Contains(message, []byte("commit\x00")) || bytes.Contains(message, []byte("\x03COMMIT"))
}

// answer carries what the server sends, and cuts the connection instead of an answer to a commit.
func (c *cutter) answer(near, far net.Conn, cut *atomic.Bool) {
	defer near.Close()
	defer far.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := far.Read(buffer)
		if err == nil && cut.Load() && c.answered != nil {
			c.answered()
		}
		if err != nil || cut.Load() {
			return
		}
		if _, err := near.Write(buffer[:n]); err != nil {
			return
		}
	}
}
