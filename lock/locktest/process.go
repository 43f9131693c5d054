package locktest

import (
	"bufio"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell/lock"
)

var processTests = []scenario{
	{"OneWinnerARound", processRace},
	{"CounterIsExact", processCounter},
	{"StoppedHolderIsReplaced", processStopped},
	{"KilledHolderIsReplaced", processKilled},
}

// contenders is the number of processes that contend.
const contenders = 8

// rival is the suite's connection to a contender.
type rival struct {
	e       *env
	process *os.Process // nil for a goroutine
	in      *json.Encoder
	out     *bufio.Scanner
}

// rivals starts n contenders, which end with the test.
func (e *env) rivals(n int) []*rival {
	e.t.Helper()
	all := make([]*rival, n)
	for i := range all {
		all[i] = e.rival()
	}
	return all
}

func (e *env) rival() *rival {
	e.t.Helper()
	r := &rival{e: e}
	if e.s.InProcess {
		r.startGoroutine()
	} else {
		r.startProcess()
	}
	r.order(order{Do: "open", Target: e.s.Target})
	return r
}

func (r *rival) startGoroutine() {
	ordersOut, ordersIn := io.Pipe()
	answersOut, answersIn := io.Pipe()
	r.in, r.out = json.NewEncoder(ordersIn), bufio.NewScanner(answersOut)
	var done sync.WaitGroup
	done.Go(func() {
		answersIn.CloseWithError(contend(r.e.s.Open, ordersOut, answersIn))
	})
	r.e.t.Cleanup(func() {
		ordersIn.Close()
		answersOut.Close()
		done.Wait()
	})
}

func (r *rival) startProcess() {
	r.e.t.Helper()
	self, err := os.Executable()
	r.e.must(err)
	cmd := exec.CommandContext(r.e.ctx, self)
	// The race detector makes a process sleep for a second before it ends.
	cmd.Env = append(os.Environ(), contenderVariable+"=1", "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	r.e.must(err)
	out, err := cmd.StdoutPipe()
	r.e.must(err)
	r.e.must(cmd.Start())
	r.process, r.in, r.out = cmd.Process, json.NewEncoder(in), bufio.NewScanner(out)
	r.e.t.Cleanup(func() {
		in.Close()
		timer := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // a process that was killed is not a failure
		timer.Stop()
	})
}

// tell sends an order; hear waits for its answer; order does both.
func (r *rival) tell(o order) {
	r.e.t.Helper()
	r.e.must(r.in.Encode(o))
}

func (r *rival) hear() answer {
	r.e.t.Helper()
	if !r.out.Scan() {
		r.e.t.Fatalf("a contender went away (does TestMain call locktest.Contend?): %v", r.out.Err())
	}
	var a answer
	if err := json.Unmarshal(r.out.Bytes(), &a); err != nil {
		r.e.t.Fatalf("a contender said %q (does TestMain call locktest.Contend first?)", r.out.Text())
	}
	if a.Error != "" {
		r.e.t.Fatalf("a contender failed: %s", a.Error)
	}
	return a
}

func (r *rival) order(o order) answer {
	r.e.t.Helper()
	r.tell(o)
	return r.hear()
}

// manyRounds is a number of rounds that is great enough to expect a share of
// them for each process.
const manyRounds = 1000

// rounds is how often the processes race.
func (e *env) rounds() int { return int(e.number("HOURBELL_LOCKTEST_ROUNDS", 100)) }

// processRace lets all processes request a lock at the same instant, in many
// rounds. In each round one process gets the lock, with a token greater than
// the last token, and each process gets it in some rounds.
func processRace(e *env) {
	rounds := e.rounds()
	name, rivals, wins, last := e.name(), e.rivals(contenders), make([]int, contenders), int64(0)
	for round := range rounds {
		at := time.Now().Add(3 * time.Millisecond).UnixNano()
		for _, i := range rand.Perm(contenders) {
			rivals[i].tell(order{Do: "try", Name: name, At: at})
		}
		winner, winners := 0, 0
		for i, r := range rivals {
			a := r.hear()
			if a.Held {
				continue
			}
			winner, winners = i, winners+1
			e.ok(a.Token > last, "a token is greater than all before it", a.Token, last)
			last = max(last, a.Token)
		}
		if winners != 1 {
			e.t.Fatalf("round %d: of %d processes that come at once one gets the lock, not %d", round, contenders, winners)
		}
		wins[winner]++
		rivals[winner].order(order{Do: "release"})
	}
	e.t.Logf("wins: %v", wins)
	least := 1
	if rounds >= manyRounds {
		least = rounds / 20
	}
	for i, n := range wins {
		e.ok(rounds < 100 || n >= least, "each process wins now and then, or it was no race:", i, "won", n, "of", rounds)
	}
}

func processCounter(e *env) {
	const each = 15
	file := filepath.Join(e.t.TempDir(), "counter")
	e.must(os.WriteFile(file, []byte("0"), 0o600))
	name, rivals := e.name(), e.rivals(contenders)
	for _, r := range rivals {
		r.tell(order{Do: "count", Name: name, File: file, Times: each})
	}
	for _, r := range rivals {
		r.hear()
	}
	text, err := os.ReadFile(file)
	e.must(err)
	e.want(strings.TrimSpace(string(text)), "120", "a counter without any other guard is exact under the lock")
}

// resource is protected by the lock: it refuses old tokens.
type resource struct{ token int64 }

func (r *resource) write(token int64) bool {
	if token < r.token {
		return false
	}
	r.token = token
	return true
}

// stoppedLease is short, so that it ends soon.
const stoppedLease = 2 * time.Second

func processStopped(e *env) {
	if e.s.InProcess || !canStop {
		e.t.Skip("no process can be stopped here")
	}
	var table resource
	name, rivals := e.name(), e.rivals(2)
	first := rivals[0].order(order{Do: "hold", Name: name, Lease: stoppedLease})
	time.Sleep(2 * stoppedLease)
	e.refusedInRealTime(name, "a lock that is kept alive is held beyond its lease")
	e.ok(table.write(first.Token), "the holder may write")

	e.awaitRenewal(name)
	e.must(stop(rivals[0].process))
	// If the next order fails the test, the process must not stay stopped.
	defer func() { _ = resume(rivals[0].process) }()
	second := rivals[1].order(order{Do: "hold", Name: name, Lease: stoppedLease})
	e.ok(second.Token > first.Token, "who takes over from a stopped holder has a greater token", second.Token, first.Token)
	e.ok(table.write(second.Token), "who took over may write")

	e.must(resume(rivals[0].process))
	woken := rivals[0].order(order{Do: "await"})
	e.ok(woken.Lost, "a holder that was stopped past its lease wakes to a context that ended with ErrLost")
	e.ok(woken.Extend, "and cannot extend the lock")
	e.ok(woken.Release, "nor release it")
	e.ok(!table.write(woken.Token), "what the lock protects refuses the token of a former holder")
	e.refusedInRealTime(name, "the lock is still its successor's")
	rivals[1].order(order{Do: "release"})
	e.freeInRealTime(name, "and free when that one releases it")
}

// awaitRenewal waits until the holder has just renewed its lock, so that it is
// not about to renew it: a holder that is stopped in the middle of a write to a
// SQLite file would prevent all other processes from writing.
func (e *env) awaitRenewal(name string) {
	e.t.Helper()
	until := func() time.Time {
		_, err := e.b.TryLock(e.ctx, e.realRequest(name, time.Second))
		return e.asHeld(err).Until
	}
	for before := until(); until().Equal(before); {
		time.Sleep(time.Millisecond)
	}
}

func processKilled(e *env) {
	if e.s.InProcess {
		e.t.Skip("there is no process to kill")
	}
	name, rivals := e.name(), e.rivals(2)
	first := rivals[0].order(order{Do: "hold", Name: name, Lease: stoppedLease})
	e.must(rivals[0].process.Kill())
	start := time.Now()
	second := rivals[1].order(order{Do: "hold", Name: name, Lease: stoppedLease})
	e.ok(second.Token > first.Token, "who takes over from a dead holder has a greater token")
	e.ok(time.Since(start) < stoppedLease+clockSlack, "a dead holder blocks others for a lease, not for", time.Since(start))
}

// refusedInRealTime checks that a request by the store's clock is refused.
func (e *env) refusedInRealTime(name, rule string) {
	e.t.Helper()
	_, err := e.b.TryLock(e.ctx, e.realRequest(name, time.Second))
	e.is(err, lock.ErrHeld, rule)
}

// freeInRealTime checks that the lock is free by the store's clock.
func (e *env) freeInRealTime(name, rule string) {
	e.t.Helper()
	lease, err := e.b.TryLock(e.ctx, e.realRequest(name, time.Second))
	if err != nil {
		e.t.Fatalf("%s: the lock must be free: %v", rule, err)
	}
	e.must(lease.Release(e.ctx))
}
