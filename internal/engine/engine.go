package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/fire"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/internal/stats"
	"github.com/hourbell/hourbell/internal/travel"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// Config is the configuration of an engine. The caller fills every field, except fields whose zero
// value has a meaning.
type Config struct {
	Backend store.Backend
	Name    string // for people; need not be unique
	Version string
	Host    string         // on which the node runs
	Labels  []string       // KEY=VALUE, each once, in byte order
	Queues  map[string]int // number of workers by queue; empty: the node runs no jobs
	// MaxRunning is how many jobs of a kind run at once on the node; kinds without an entry have no bound.
	MaxRunning map[string]int
	// Ageing is by queue after which time a due job starts before younger jobs, whatever their priority; queues without
	// an entry start jobs by priority.
	Ageing map[string]time.Duration
	// Admission reports whether the node may claim jobs at present; nil: always. Its calls are one at a time.
	Admission func() bool
	// Kinds are the kinds that this node runs with any args. Jobs of the kinds in Restricted run
	// only if SetAllowList has their exact args.
	Kinds      []string
	Restricted []string
	// Carried are the kinds whose runs can be handed over.
	Carried []string
	Work    work.Func
	// Timeout returns the timeout of an attempt; 0: none.
	Timeout func(store.Claimed) time.Duration
	// Backoff returns the delay after an attempt that ended with an error, spread by chance, a random number from 0
	// to 1; nil: the default.
	Backoff func(_ store.Claimed, _ error, chance float64) time.Duration
	// KeepFor returns the Outcome.Keep of jobs of a kind that end with a result; nil: it is 0.
	KeepFor func(kind string, result store.Result) time.Duration

	// AbandonAfter returns how long after the end of its context an attempt at a job of a kind ends without its worker;
	// 0: it does not. nil: no attempt does.
	AbandonAfter func(kind string) time.Duration
	// TxTimeout is how long a transaction may be open in which a worker completes its job; 0: as long
	// as the attempt takes.
	TxTimeout time.Duration

	Lease     time.Duration
	Heartbeat time.Duration
	Drain     time.Duration // how long a stop waits for running jobs
	// Grace is how long a worker may take to return after its context has ended: a stop waits so long, and a worker that
	// takes longer is stuck.
	Grace time.Duration
	// Alone is how long a suspect runs alone on the node, and how long the suspect waits at most
	// until no other job of the node is in flight.
	Alone time.Duration
	// CallTimeout limits one call of the store. Heartbeats are limited by Heartbeat instead.
	CallTimeout time.Duration

	PollBusy time.Duration // interval of claims after a claim that returned jobs
	PollIdle time.Duration // longest interval without work, while the store sends no wake-ups
	// PollPushed is the longest interval of the fetcher of a queue without work while the store sends wake-ups; see loop.NewWakes for the
	// other loops.
	PollPushed time.Duration

	Keep store.PruneRequest
	Sink event.Sink
	// NoStats means that the node writes no statistics.
	NoStats bool
	// StateDir is the folder of the state file, in which the node keeps the store's position;
	// empty: no file.
	StateDir string
	// TakeOver is the node as the program before has handed it over; nil: the node is new.
	TakeOver *State
}

// Engine runs one node, once.
type Engine struct {
	cfg    Config
	places plan.Places
	wakes  *loop.Wakes
	jobs   *work.InFlight
	node   *node.Node
	runner *work.Runner
	stats  *stats.Collector // nil: the node writes no statistics

	handOvers chan handOver
	ended     chan struct{} // closed when Run has returned
	left      chan struct{} // closed when Run has returned and the node has left the cluster, or has tried to
}

// New returns an engine that has not started.
func New(cfg Config) *Engine {
	queues := slices.Sorted(maps.Keys(cfg.Queues))
	places, served := plan.PlacesOf(cfg.Host, cfg.Labels), slices.Clone(queues)
	for _, place := range places {
		for _, queue := range queues {
			served = append(served, place.Queue(queue))
		}
	}
	e := &Engine{places: places, jobs: work.NewInFlight(), handOvers: make(chan handOver), ended: make(chan struct{}), left: make(chan struct{})}
	traveller := travel.Join(cfg.Backend, travel.Loops{
		Queues: served, InFlight: e.jobs.Len, Wake: func(w store.Wake) { e.wakes.Wake(w) },
		Workers:     func(queue string) (int, bool) { return e.runner.Workers(queue) },
		ReadCancels: func(ctx context.Context) { e.runner.ReadCancels(ctx) },
		Heartbeat:   func() { e.node.HeartbeatNow() },
		Rescue:      func(ctx context.Context) { e.node.RescueNow(ctx) },
		Prune: func(ctx context.Context) {
			e.pruner().all(ctx, func(ctx context.Context, _ time.Duration) error { return ctx.Err() })
		},
	})
	if traveller != nil {
		cfg.Backend = traveller.Backend()
	}
	if !cfg.NoStats {
		e.stats = stats.NewCollector(int64(loop.Around(cfg.Backend).Random("stats writer") * math.MaxInt64))
		sink := cfg.Sink
		cfg.Sink = func(ev event.Event) { e.stats.Observe(ev); sink(ev) }
	}
	e.cfg = cfg
	e.wakes = loop.NewWakes(served, cfg.PollIdle, cfg.PollPushed, store.ConnectionOf(cfg.Backend).SharedPolls, loop.Around(cfg.Backend))
	e.node = node.New(node.Config{
		Store: cfg.Backend, Sink: cfg.Sink, Wakes: e.wakes, Claims: e.jobs, AfterLoss: plan.LostFollowUp,
		Name: cfg.Name, Version: cfg.Version, Host: cfg.Host, Labels: cfg.Labels, Queues: queues, Kinds: work.KindNames(cfg.Kinds, cfg.Restricted),
		Lease: cfg.Lease, Heartbeat: cfg.Heartbeat, CallTimeout: cfg.CallTimeout, StateDir: cfg.StateDir, TakeOver: cfg.TakeOver.node(),
	})
	e.runner = work.New(work.Config{
		Store: cfg.Backend, Far: func() bool { return store.RoundTrip(cfg.Backend) > 0 },
		Node: e.node, InFlight: e.jobs, Wakes: e.wakes, Travel: traveller,
		Queues: cfg.Queues, Places: places, MaxRunning: cfg.MaxRunning, Ageing: cfg.Ageing, Admission: cfg.Admission,
		Kinds: cfg.Kinds, Restricted: cfg.Restricted, Carried: cfg.Carried,
		Work: cfg.Work, Timeout: cfg.Timeout, Backoff: cfg.Backoff, KeepFor: cfg.KeepFor,
		TxTimeout: cfg.TxTimeout, TxIdle: cfg.Lease / 2, // then it has ended when the lease of a node ends that was stopped
		Grace: cfg.Grace, AbandonAfter: cfg.AbandonAfter,
		Heartbeat: cfg.Heartbeat, Alone: cfg.Alone, CallTimeout: cfg.CallTimeout, PollBusy: cfg.PollBusy, PollIdle: cfg.PollIdle,
	})
	return e
}

// LeaseLeft returns how long the node's lease may be trusted from now on; 0 if it is lost.
func (e *Engine) LeaseLeft() time.Duration {
	left, _ := e.node.Left()
	return left
}

// ReportProblems sets what a reporter has found wrong with the node; see node.Node.
func (e *Engine) ReportProblems(reporter string, found []store.NodeProblem) {
	e.node.ReportProblems(reporter, found)
}

// SetAllowList replaces the list of the jobs of restricted kinds that this node runs.
func (e *Engine) SetAllowList(jobs []work.AllowedJob) { e.runner.SetAllowList(jobs) }

// SetWorkers changes the number of workers of a queue, and reports whether the node serves the queue.
func (e *Engine) SetWorkers(queue string, n int) bool { return e.runner.SetWorkers(queue, n) }

// SetMaxRunning changes how many jobs of a kind run at once on the node; 0: no bound.
func (e *Engine) SetMaxRunning(kind string, n int) { e.runner.SetMaxRunning(kind, n) }

// SetAgeing changes after which time a due job of a queue starts before younger jobs, whatever their priority; 0: jobs start by priority
// only.
func (e *Engine) SetAgeing(queue string, bound time.Duration) { e.runner.SetAgeing(queue, bound) }

// Start registers the node, or takes it over. If Start fails, nothing is running.
func (e *Engine) Start(ctx context.Context) error {
	if err := e.node.Start(ctx); err != nil {
		return err
	}
	if from := e.cfg.TakeOver; from != nil {
		e.runner.TakeOver(e.node.Inherited(), from.Runs, from.Ended)
	}
	return nil
}

// Run runs the node until ctx ends, and then drains it. Start must have succeeded. To drain is to
// stop claiming, wait up to Drain for running jobs, cancel their contexts, wait up to Grace, and
// leave the cluster. If hurry ends before Drain has passed, the node stops waiting for running jobs.
// If workers have not returned after Grace, the node keeps their claims and its lease until they
// have, and leaves the cluster then, after Run has returned. What the store does not take at the end is an event.
func (e *Engine) Run(ctx context.Context, hurry context.Context) {
	defer close(e.ended)
	report := e.node.Report()
	report.Emit(event.Event{Kind: event.NodeStarted, Name: e.cfg.Name, Detail: e.cfg.TakeOver.detail()})
	e.checkPool()
	m := e.move(ctx)
	for {
		select {
		case <-ctx.Done():
			e.stop(ctx, hurry, m)
			return
		case asked := <-e.handOvers:
			var err error
			m, err = e.handOver(ctx, asked, m)
			asked.done <- err
		}
	}
}

// motion is what moves in a running node.
type motion struct {
	claiming, writing, living          sync.WaitGroup
	endClaiming, endWriting, endLiving context.CancelFunc
	// workers are the goroutines of the workers. They finish the jobs that run after claiming has ended.
	workers sync.WaitGroup
	// busy means that workers did not leave their runs when the node was to be handed over. before is
	// what moved before such a hand-over; nil: there was none.
	busy   bool
	before *motion
}

// waitWorkers waits until all workers have ended.
func (m *motion) waitWorkers() {
	for ; m != nil; m = m.before {
		m.workers.Wait()
	}
}

// move starts the loops of the node. The claims end with ctx; the other loops go on until the
// motion ends them.
func (e *Engine) move(ctx context.Context) *motion {
	m := &motion{}
	base := context.WithoutCancel(ctx)
	living, endLiving := context.WithCancel(base)
	writing, endWriting := context.WithCancel(base)
	claiming, endClaiming := context.WithCancel(ctx)
	m.endLiving, m.endWriting, m.endClaiming = endLiving, endWriting, endClaiming
	m.living.Go(func() { e.node.Live(living, e.runner.CompareClaims) })
	m.living.Go(func() { e.runner.WatchCancels(living) })
	m.living.Go(func() { e.runner.KeepPermits(living) })
	m.living.Go(func() { e.runner.WatchWorkers(living) })
	if e.stats != nil {
		writer := &statsWriter{store: e.cfg.Backend, node: e.node, collector: e.stats, callTimeout: e.cfg.CallTimeout}
		m.living.Go(func() { writer.run(living) })
	}
	m.writing.Go(func() { e.runner.WriteOutcomes(writing) })
	m.writing.Go(func() { e.runner.SaveProgress(writing) })
	m.writing.Go(func() { e.runner.SaveOutput(writing) })

	m.claiming.Go(func() { e.node.Rescues(claiming) })
	spreader := e.spreader()
	m.claiming.Go(func() { spreader.Run(claiming) })
	zones := e.zones()
	m.claiming.Go(func() { zones.Run(claiming) })
	m.claiming.Go(func() { fire.Run(claiming, e.firing(spreader, zones)) })
	m.claiming.Go(func() { e.pruner().run(claiming) })
	m.claiming.Go(func() { e.recounter().run(claiming) })
	m.claiming.Go(func() { e.runner.Fetch(claiming, &m.workers) })
	return m
}

// stop drains the node after ctx has ended. While a worker has not returned, its job must not start elsewhere
// and its permits must not be given to other jobs; so the node stays in the cluster as long.
func (e *Engine) stop(ctx, hurry context.Context, m *motion) {
	report, base := e.node.Report(), context.WithoutCancel(ctx)
	e.node.BeginStop()
	report.Emit(event.Event{Kind: event.NodeStopping, Count: int64(e.jobs.Len())})
	m.endClaiming()
	m.claiming.Wait()
	late := e.drain(hurry)
	open := e.runner.Open()
	if open == 0 {
		e.leave(base, m, late)
		return
	}
	report.Emit(event.Event{Kind: event.WorkersRemain, Count: int64(open)})
	_ = e.runner.Flush(e.cfg.Heartbeat) // what is left is written until the end
	go func() {
		e.runner.AwaitEnds(base)
		e.leave(base, m, late)
	}()
}

// leave writes what is left, ends what moves, and leaves the cluster. late is how many jobs still ran when Drain had passed. If
// the store is away, the node has stopped all the same: others notice its end and take over its jobs when the lease has passed.
func (e *Engine) leave(ctx context.Context, m *motion, late int) {
	defer close(e.left)
	err := e.runner.Flush(e.cfg.Heartbeat)
	m.endWriting()
	m.writing.Wait()
	m.endLiving()
	m.living.Wait()
	report := e.node.Report()
	if err = errors.Join(err, e.node.Leave(ctx)); err != nil {
		report.Emit(event.Event{Kind: event.StopUnwritten, Err: err})
	}
	report.Emit(event.Event{Kind: event.NodeStopped, Count: int64(late)})
}

// Left returns a channel that is closed when Run has returned, no worker runs any more, and the node has left the
// cluster or failed to.
func (e *Engine) Left() <-chan struct{} { return e.left }

// firing returns the configuration of the firing loop.
func (e *Engine) firing(spreader *fire.Spreader, zones *fire.Zones) fire.Config {
	return fire.Config{
		Store: e.cfg.Backend, Node: e.node, Wakes: e.wakes, Runs: e.runner.Runs, Places: e.places.String(), CallTimeout: e.cfg.CallTimeout,
		MayRun: e.mayRun,
		Spread: spreader.Spread, Zones: zones,
	}
}

// mayRun reports whether the node may run the jobs of a schedule.
func (e *Engine) mayRun(d plan.Definition) bool {
	return d.On.Every || e.places.Has(d.On) && e.runner.MayRun(d.Kind, []byte(d.Args))
}

// zones returns the loop that compares next slots with the data of time zones.
func (e *Engine) zones() *fire.Zones {
	return fire.NewZones(fire.ZonesConfig{Store: e.cfg.Backend, Node: e.node, Wakes: e.wakes, MayRun: e.mayRun, CallTimeout: e.cfg.CallTimeout})
}

// spreader returns the loop that gives hosts their schedules. It does not wait for slots that had fired ahead of a change.
func (e *Engine) spreader() *fire.Spreader {
	settler := fire.Settler{Store: e.cfg.Backend, StateDir: e.cfg.StateDir}
	return fire.NewSpreader(settler, e.node, e.cfg.CallTimeout)
}

// pruner returns the loop that deletes old rows.
func (e *Engine) pruner() pruner {
	return pruner{store: e.cfg.Backend, keep: e.cfg.Keep, callTimeout: e.cfg.CallTimeout, blocked: e.node.Blocked, report: e.node.Report()}
}

// recounter returns the loop that compares the permits of limits with their jobs.
func (e *Engine) recounter() recounter {
	return recounter{store: e.cfg.Backend, node: e.node, callTimeout: e.cfg.CallTimeout}
}

// checkPool warns if handlers can use up the connections of a pool that the program shares with the
// store.
func (e *Engine) checkPool() {
	workers := 0
	for _, width := range e.cfg.Queues {
		workers += width
	}
	if size := store.ConnectionOf(e.cfg.Backend).PoolSize; size > 0 && size <= workers {
		e.node.Report().Emit(event.Event{Kind: event.PoolSmall, Count: int64(size), Detail: fmt.Sprintf(
			"%s share a pool of %s: handlers that each hold a connection wait for each other, and their "+
				"enqueues wait too; give the pool more connections than the node has workers, or the node fewer workers",
			plain.Plural(workers, "worker"), plain.Plural(size, "connection"))})
	}
}

// drain waits for running jobs, and cancels the jobs that still run then; it returns how many.
func (e *Engine) drain(hurry context.Context) (late int) {
	draining, cancel := context.WithTimeout(hurry, e.cfg.Drain)
	defer cancel()
	if e.runner.AwaitEnds(draining) {
		return 0
	}
	late = e.runner.Open()
	e.node.EndRuns()
	grace, cancel := context.WithTimeout(context.WithoutCancel(hurry), e.cfg.Grace)
	defer cancel()
	e.runner.AwaitEnds(grace)
	return late
}
