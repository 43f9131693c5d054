package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// cluster is a run of a plan.
type cluster struct {
	plan    *plan
	dice    dice
	gate    *gate
	store   store.Backend
	open    func() store.Backend // for a process; nil: all processes share the store
	real    bool                 // on real time, so that goroutines run side by side
	users   atomic.Int64         // calls of users that have not returned
	oneUser sync.Mutex           // held by the user who asks, on real time
	trace   *trace
	witness *witness
	claims  *claimsModel
	began   time.Time // by the clock of the nodes
	user    *hourbell.Client
	ids     map[string]int64 // of the jobs that callers know, by label
	// programs are the steps of jobs, by label.
	programs map[string][]part

	// The driver changes the following fields; all others read them between two stops.
	weather   weather
	awayUntil time.Time
	ahead     time.Duration // of the store's clock
	nodes     []*node       // by number; the last one of each number
	past      []*node       // whose places others have taken
	failed    int           // calls that failed or were made twice
}

// node is a process with a client that runs.
type node struct {
	name   string
	number int
	port   *port
	client *hourbell.Client
	ended  chan struct{}
	// stepInTx takes steps in transactions; nil: there are none.
	stepInTx stepInTx
}

// result is what a run has found.
type result struct {
	problems []string
	trace    *trace
	witness  *witness
	took     time.Duration // simulated
	faults   int           // of nodes and of the store, and calls that failed or were made twice
	jobs     int
	runs     int // of workers
	steps    int // stops at the gate
	modelled int // steps of the model of claims
}

// add adds what another run has found.
func (r *result) add(other result) {
	r.took, r.faults, r.jobs = r.took+other.took, r.faults+other.faults, r.jobs+other.jobs
	r.runs, r.steps, r.modelled = r.runs+other.runs, r.steps+other.steps, r.modelled+other.modelled
}

// sinceEpoch is how long after the first instant of a bubble, which is in the year 2000, a run begins: after the start of
// the process, because a node takes the zero value of an instant for an earlier one.
const sinceEpoch = 40 * 365 * 24 * time.Hour

// endless is far more than a simulation takes; it guards against a simulation that goes round without end.
const endless = 10 * time.Minute

// simulate runs a plan.
func simulate(t *testing.T, p *plan, traced bool) (res result) {
	t.Helper()
	watch := time.AfterFunc(endless, func() { panic(fmt.Sprintf("the simulation of seed %d does not end", p.Seed)) })
	defer watch.Stop()
	// With more, two workers that wait for one permit get it in any order on a busy machine.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(sinceEpoch)
		d := dice{p.Seed}
		c := &cluster{
			plan: p, dice: d, gate: newGate(d.rng("gate")), witness: newWitness(), began: time.Now(),
			weather: p.Weather, ahead: p.Skew, ids: map[string]int64{},
		}
		c.store = memory.New(memory.WithClock(c.now))
		c.claims = newClaimsModel(c.now)
		c.trace = &trace{on: traced, clock: c.now}
		c.run(t)
		res = result{
			problems: append(verify(c.plan, c.witness), c.claims.problems...), trace: c.trace, witness: c.witness, took: c.witness.at.Real.Sub(c.began),
			faults: len(c.witness.faults) + c.failed, jobs: len(c.witness.jobs), runs: len(c.witness.runs),
		}
		res.modelled = c.claims.steps
		for _, n := range c.gate.counts {
			res.steps += n
		}
	})
	return res
}

// now returns the instant of the store's clock.
func (c *cluster) now() time.Time { return time.Now().Add(c.ahead).UTC() }

// moment returns the present instant by both clocks.
func (c *cluster) moment() moment { return moment{c.now(), time.Now()} }

// run carries the plan out, waits until all work has ended, reads what is stored, and ends the cluster.
func (c *cluster) run(t *testing.T) {
	user, err := hourbell.New(newPort(c, "user", 0), hourbell.Config{Name: "user", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	c.user = user
	c.nodes = make([]*node, c.plan.Nodes)
	for i := range c.nodes {
		c.gate.at(c.began.Add(time.Duration(i)*time.Millisecond), fmt.Sprintf("node %d starts", i+1), func() { c.start(i) })
	}
	c.programs = c.plan.programs()
	for i, e := range c.plan.Events {
		c.gate.at(c.began.Add(e.At), fmt.Sprintf("event %d", i), func() { c.do(i, e) })
	}
	calm := c.began.Add(c.plan.Length)
	over := false
	c.gate.at(calm, "calm", func() { over = true })
	c.gate.drive(func() bool { return over })
	c.calm()
	c.gate.drive(c.settled(time.Now().Add(c.patience())))
	c.read(t)
	c.end()
}

// start starts a node, in the place of an earlier one, if there was one.
func (c *cluster) start(i int) {
	n := &node{number: i, name: fmt.Sprintf("n%d", i+1), ended: make(chan struct{})}
	if before := c.nodes[i]; before != nil {
		n.name = before.name + "'"
		c.past = append(c.past, before)
	}
	n.port = newPort(c, n.name, (c.dice.part(n.name+" drift", 0)-0.5)/5000)
	if in, is := c.store.(*memory.Store); is {
		n.stepInTx = stepsInMemory(in)
	}
	var labels map[string]string
	if c.plan.Roles {
		labels = map[string]string{"role": roles[i%2]}
	}
	client, err := hourbell.New(n.port, hourbell.Config{
		Name: n.name, Host: hostOf(i), Labels: labels, Workers: c.workers(n),
		Lease: c.plan.Lease, Drain: 2 * time.Second, Grace: 3 * time.Second,
		PollIdle: 3 * time.Second, // idle polls cost most of the time of a simulation
		Queues:   map[string]int{"default": c.plan.Workers, "bound": c.plan.Workers},
		NoStats:  true,
		Logger:   slog.New(slog.DiscardHandler),
		Keep:     hourbell.Keep{Completed: 30 * 24 * time.Hour, Failed: 30 * 24 * time.Hour, Slots: 30 * 24 * time.Hour},
	})
	if err != nil {
		panic(err) // a mistake in this package
	}
	n.client = client
	c.nodes[i] = n
	c.trace.add("%s starts", n.name)
	go func() {
		defer close(n.ended)
		for { // as a service manager does
			err := n.client.Run(context.Background())
			if err == nil || errors.Is(err, hourbell.ErrStopped) || n.port.isDead() {
				return
			}
			_ = c.gate.await(context.Background(), &stop{key: n.name + " starts again", arrive: func(int) time.Time {
				return time.Now().Add(time.Second)
			}})
		}
	}()
}

// over reports whether the process of a node has ended.
func (n *node) over() bool {
	select {
	case <-n.ended:
		return true
	default:
		return n.port.isDead()
	}
}

// kill ends the process of a node without any clean-up: nothing of it reaches the store any more.
func (c *cluster) kill(n *node) {
	if n.over() {
		return
	}
	c.trace.add("%s is killed", n.name)
	c.witness.died(n.name, c.moment())
	n.port.die()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	go func() { _ = n.client.Stop(now) }()
}

// crash ends the process of a node as a worker that takes all memory does. A service manager starts it again.
func (c *cluster) crash(n *node) {
	if n.over() {
		return
	}
	c.witness.faults = append(c.witness.faults, fault{Kind: "kill", Node: n.name, From: time.Now(), To: time.Now()})
	c.kill(n)
	c.gate.at(time.Now().Add(2*time.Second), n.name+" is started after a crash", func() {
		if c.nodes[n.number] == n {
			c.start(n.number)
		}
	})
}

// calm ends all faults and all pauses, and lets each node live, so that all work can come to its end, also the work of hosts.
func (c *cluster) calm() {
	c.trace.add("calm")
	c.weather, c.awayUntil = weather{Latency: time.Millisecond}, time.Time{}
	for i, n := range c.nodes {
		n.port.cut(time.Time{}, time.Time{})
		n.port.setTrap("", nil)
		if n.over() || c.witness.gone[n.name] {
			c.start(i)
		}
	}
	c.asks("end", func(ctx context.Context) { c.tidy(ctx) })
	if len(c.programs) > 0 {
		c.gate.at(time.Now().Add(c.lastSignals()), "the last signals", func() { c.asks("end of waits", c.endWaits) })
	}
}

// patience returns how long all work may take to come to its end when the weather is calm.
func (c *cluster) patience() time.Duration {
	if c.real {
		return 2 * time.Minute
	}
	return 30 * time.Minute
}

// settled returns a function that reports whether all work has ended and no process is frozen, or the time is over.
func (c *cluster) settled(latest time.Time) func() bool {
	var look time.Time
	return func() bool {
		now := time.Now()
		if now.Before(look) {
			return false
		}
		look = now.Add(c.plan.Lease / 3)
		c.gate.at(look, "look for an end", func() {})
		frozen := slices.ContainsFunc(slices.Concat(c.past, c.nodes), func(n *node) bool { return n.port.isFrozen() })
		if (c.users.Load() > 0 || frozen) && now.Before(latest) {
			return false
		}
		live := store.JobFilter{States: []store.State{store.StateReady, store.StateRunning, store.StateWaiting}}
		left, err := c.store.ListJobs(context.Background(), store.ListJobsRequest{JobFilter: live, Limit: 1 << 20})
		c.witness.stuck = left
		return err != nil || len(left) == 0 || !now.Before(latest)
	}
}

// read reads what is stored.
func (c *cluster) read(t *testing.T) {
	ctx := context.Background()
	var err error
	c.witness.at = c.moment()
	if c.witness.jobs, err = c.store.ListJobs(ctx, store.ListJobsRequest{Limit: 1 << 30, Attempts: true}); err != nil {
		t.Fatal(err)
	}
	if c.witness.slots, err = store.List[store.SlotInfo](ctx, c.store, store.ListRequest{Limit: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	if c.witness.nodes, err = store.List[store.NodeInfo](ctx, c.store, store.ListRequest{}); err != nil {
		t.Fatal(err)
	}
	if c.claims != nil { // not over a database
		c.witness.taken = c.claims.taken
	}
	var took []int64
	for _, j := range c.witness.jobs {
		if j.Kind == kindSteps {
			took = append(took, j.ID)
		}
	}
	if c.witness.steps, err = store.List[store.Step](ctx, c.store, store.ListRequest{IDs: took}); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(c.witness.jobs)
	c.witness.took = c.witness.at.Real.Sub(c.began)
	for key, n := range c.gate.counts {
		if name, queue, is := strings.Cut(key, " claim "); is {
			c.witness.claims[name+" "+queue] = n
		}
	}
}

// end ends all nodes, and all goroutines.
func (c *cluster) end() {
	c.trace.on = false
	c.gate.free()
	for _, n := range slices.Concat(c.past, c.nodes) {
		_ = n.client.Stop(context.Background())
		<-n.ended
		select { // workers may outlast a forced stop
		case <-n.client.Done():
		case <-time.After(time.Minute):
		}
	}
}

// asks makes calls as a user, whose name is stable.
func (c *cluster) asks(name string, do func(ctx context.Context)) {
	c.users.Add(1)
	go func() {
		if c.real {
			c.oneUser.Lock()
			defer c.oneUser.Unlock()
		}
		ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), caller{}, "user "+name), time.Minute)
		defer cancel()
		do(ctx)
		_ = c.gate.await(context.Background(), &stop{key: "user " + name + " has its answer"})
		c.users.Add(-1)
	}()
}
