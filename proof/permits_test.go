package proof

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

// Shift is a job that reports to the witness when it begins and when it ends.
type Shift struct {
	For time.Duration `json:"for"`
}

func (Shift) Kind() string { return "shift" }

// playLimited is a node whose jobs write when they began and ended, by the clock of this machine, which is the clock of the
// store, too.
func playLimited(a *actor) error {
	hourbell.Register(a.workers, func(ctx context.Context, job *hourbell.Job[Shift]) error {
		say := func(what string) error {
			return a.say("%s %d %d %d", what, os.Getpid(), job.Token, time.Now().UnixMicro())
		}
		if err := say("began"); err != nil {
			return err
		}
		if err := work(ctx, job.Args.For); err != nil {
			return err // the claim may be lost already: what stopped is not part of the shift
		}
		return say("ended")
	})
	return a.serve(hourbell.Config{Queues: map[string]int{"default": 10}})
}

// limited starts a node of playLimited.
func (v *village) limited() *process {
	v.t.Helper()
	return act(v.t, "limited", v.at, v.witness)
}

// addShifts enqueues n shifts.
func (v *village) addShifts(n int, args Shift, options ...hourbell.Option) {
	v.t.Helper()
	if _, err := v.client.EnqueueMany(v.t.Context(), slices.Repeat([]hourbell.Request{{Args: args, Options: options}}, n)); err != nil {
		v.t.Fatal(err)
	}
}

// putLimit puts a limit of the queue default.
func (v *village) putLimit(limit hourbell.Limit) {
	v.t.Helper()
	limit.Name, limit.Queue = "proof", "default"
	if _, err := v.client.Limits.Put(v.t.Context(), limit, 0); err != nil {
		v.t.Fatal(err)
	}
}

// shift is one attempt, as the witness has it.
type shift struct {
	pid, token   int64
	began, ended int64 // in microseconds; ended is 0 if the attempt did not end well
}

// shifts returns the attempts that the witness has, by their beginning.
func (v *village) shifts() (all []shift) {
	v.t.Helper()
	byToken := map[int64]*shift{}
	for _, line := range v.witness.lines() {
		if len(line) != 4 {
			continue // a process was killed in the middle of a write
		}
		var n [3]int64
		for i := range n {
			n[i], _ = strconv.ParseInt(line[i+1], 10, 64)
		}
		if line[0] == "began" {
			byToken[n[1]] = &shift{pid: n[0], token: n[1], began: n[2]}
		} else if s := byToken[n[1]]; s != nil {
			s.ended = n[2]
		}
	}
	for _, s := range byToken {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b shift) int { return cmp.Compare(a.began, b.began) })
	return all
}

// signalTime is how long, in microseconds, a process may go on after a signal to it was sent.
const signalTime = 100_000

// TestALimitOfAQueueHoldsWhileNodesDie (P5): four nodes run a queue with a limit of 7, while nodes are killed, and stopped for
// longer than their lease. The rows of the handlers show that 8 jobs never run at a time, and that almost 7 run while nothing
// has just died.
func TestALimitOfAQueueHoldsWhileNodesDie(t *testing.T) {
	const most = 7
	v, long := newVillage(t), duration(t)
	v.putLimit(hourbell.Limit{Concurrency: most})
	each := []time.Duration{10 * time.Millisecond, 300 * time.Millisecond}[random(t).IntN(2)] // claimed in advance, or not
	v.addShifts(int(18*long/each), Shift{For: each})
	nodes := []*process{v.limited(), v.limited(), v.limited(), v.limited()}
	until(t, 60*time.Second, "jobs of all nodes", func() bool {
		pids := map[int64]bool{}
		for _, s := range v.shifts() {
			pids[s.pid] = true
		}
		return len(pids) >= 3
	})
	time.Sleep(time.Second) // until the nodes have shared the permits
	began := time.Now()
	death := map[int64]int64{} // by process: when it stopped working
	var disturbed []int64
	end := func(p *process, s syscall.Signal) {
		p.signal(s)
		now := time.Now().UnixMicro()
		death[int64(p.cmd.Process.Pid)] = now
		disturbed = append(disturbed, now)
	}
	time.Sleep(long / 4)
	end(nodes[0], syscall.SIGKILL)
	nodes = append(nodes, v.limited())
	time.Sleep(long / 4)
	end(nodes[1], syscall.SIGSTOP)
	time.Sleep(lease(t) * 3 / 2)
	nodes[1].signal(syscall.SIGCONT)
	resumed := time.Now().UnixMicro()
	time.Sleep(max(long/2-lease(t)*3/2, 2*time.Second))
	over := time.Now().UnixMicro()
	for _, p := range nodes[1:] {
		p.signal(syscall.SIGTERM)
	}
	type change struct {
		at int64
		by int
		of shift
	}
	var changes []change
	for _, s := range v.shifts() {
		died, ended := death[s.pid], s.ended
		if died != 0 && s.began <= died+signalTime && (ended == 0 || ended > died) {
			ended = max(died, s.began) // its process did nothing from then on
		} else if ended == 0 {
			ended = over
		}
		changes = append(changes, change{s.began, 1, s}, change{ended, -1, s})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	calm := func(at int64) bool {
		margin := (lease(t) + time.Second).Microseconds()
		return at >= began.UnixMicro() && at <= over && !slices.ContainsFunc(disturbed, func(d int64) bool { return at >= d && at <= d+margin }) &&
			(at < resumed || at > resumed+time.Second.Microseconds())
	}
	running, greatest := 0, 0
	together := map[int64]shift{} // by token
	var worked, calmly float64
	for i, c := range changes {
		if running += c.by; c.by > 0 {
			together[c.of.token] = c.of
		} else {
			delete(together, c.of.token)
		}
		if running > max(greatest, most) {
			t.Logf("%d at a time, %d µs after process %d went on, which had stopped %d µs before: %+v", running, c.at-resumed, nodes[1].cmd.Process.Pid,
				resumed-death[int64(nodes[1].cmd.Process.Pid)], slices.Collect(maps.Values(together)))
		}
		greatest = max(greatest, running)
		if i+1 < len(changes) && calm(c.at) && calm(changes[i+1].at) {
			part := float64(changes[i+1].at - c.at)
			worked, calmly = worked+part*float64(running), calmly+part
		}
	}
	t.Logf("%d attempts of %v, at most %d at a time, on average %.2f in %.1f calm seconds", len(changes)/2, each, greatest, worked/calmly, calmly/1e6)
	if greatest > most {
		t.Errorf("%d jobs ran at a time under a limit of %d", greatest, most)
	}
	if average := worked / calmly; average < 6.5 && os.Getenv("HOURBELL_PROOF_SECONDS") != "" {
		t.Errorf("on average %.2f jobs ran while jobs waited", average)
	} else if average < 2.5 { // the machine may have other work
		t.Errorf("on average only %.2f jobs ran while jobs waited", average)
	}
}

// TestARateOfAQueueHoldsWhileNodesDie (P5): three nodes run a queue with a rate of 100 per second and a burst of 20, while nodes
// are killed. The rows of the handlers show that in no time t more than 20 + 100 t jobs start, and that the rate is used.
func TestARateOfAQueueHoldsWhileNodesDie(t *testing.T) {
	aRateHoldsWhileNodesDie(t, duration(t), hourbell.Limit{})
}

// TestARateOfAKeyHoldsWhileNodesDie (P5) is the same for the jobs of one key.
func TestARateOfAKeyHoldsWhileNodesDie(t *testing.T) {
	long := duration(t)
	if os.Getenv("HOURBELL_PROOF_SECONDS") == "" {
		long = 6 * time.Second
	}
	aRateHoldsWhileNodesDie(t, long, hourbell.Limit{ByKey: true}, hourbell.Key("one"))
}

// aRateHoldsWhileNodesDie runs jobs under a limit with a rate for some time.
func aRateHoldsWhileNodesDie(t *testing.T, long time.Duration, limit hourbell.Limit, options ...hourbell.Option) {
	const rate, burst = 100, 20
	v, r := newVillage(t), random(t)
	limit.Rate, limit.Burst = hourbell.Rate{Jobs: rate, Per: time.Second}, burst
	v.putLimit(limit)
	v.addShifts(int(long/time.Second+30)*rate*2, Shift{}, options...)
	nodes := []*process{v.limited(), v.limited(), v.limited()}
	until(t, 60*time.Second, "the nodes", func() bool {
		return !slices.ContainsFunc(nodes, func(p *process) bool { return p.logged("node started") == 0 })
	})
	from := time.Now()
	for time.Since(from) < long {
		time.Sleep(time.Duration(1+r.IntN(3)) * time.Second)
		i := r.IntN(len(nodes))
		nodes[i].kill()
		nodes[i] = v.limited()
	}
	over := time.Now()
	for _, p := range nodes {
		p.signal(syscall.SIGTERM)
	}
	var starts []int64
	used := 0
	for _, s := range v.shifts() {
		starts = append(starts, s.began)
		if s.began >= from.UnixMicro() && s.began < over.UnixMicro() {
			used++
		}
	}
	for i := range starts {
		for j := i + 1; j < len(starts); j++ {
			if seconds := float64(starts[j]-starts[i]) / 1e6; float64(j-i+1) > burst+rate*seconds {
				t.Fatalf("%d starts within %.3f s", j-i+1, seconds)
			}
		}
	}
	part := float64(used) / (rate * over.Sub(from).Seconds())
	t.Logf("%d starts, %.3f of the rate", used, part)
	if part < 0.95 && os.Getenv("HOURBELL_PROOF_SECONDS") != "" || part < 0.1 { // the machine may have other work, and jobs of a killed node wait for the end of its lease
		t.Errorf("only %.3f of the rate was used", part)
	}
}
