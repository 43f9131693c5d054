package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Config is the configuration of an engine. The caller fills every field; only those with a meaning
// of their zero value may be left out.
type Config struct {
	Backend store.Backend
	Name    string // for people; need not be unique
	Version string
	Queues  map[string]int // number of workers by queue; empty: the node runs no jobs
	// Kinds are the kinds that this node runs with any args. Jobs of the kinds in Restricted run
	// only if SetAllowList has their exact args.
	Kinds      []string
	Restricted []string
	Work       Work
	// Timeout returns the timeout of an attempt; 0: none.
	Timeout func(store.Claimed) time.Duration

	Lease     time.Duration
	Heartbeat time.Duration
	Drain     time.Duration // how long a stop waits for running jobs
	Grace     time.Duration // how long a stop waits after it has cancelled the contexts of running jobs
	// Alone is how long a suspect runs alone on the node, and how long the suspect waits at most
	// until no other job of the node is in flight.
	Alone time.Duration
	// CallTimeout limits one call of the store. Heartbeats are limited by Heartbeat instead.
	CallTimeout time.Duration

	PollBusy   time.Duration // interval of claims after a claim that returned jobs
	PollIdle   time.Duration // longest interval without work, while the store sends no wake-ups
	PollPushed time.Duration // longest interval without work, while the store sends wake-ups

	Keep store.PruneRequest
	Sink event.Sink
	// StateDir is the folder of the state file, in which the node keeps the store's position;
	// empty: no file.
	StateDir string
}

// Engine runs one node, once.
type Engine struct {
	cfg            Config
	claims         store.PartialClaimer
	session        *session
	inFlight       *inFlight
	outcomes       *outcomes
	wakes          *wakes
	storeErrors    *storeErrors
	history        history
	expiry         expiry
	lostAnswers    lostAnswers
	solo           solo
	unknown        unknownClaims
	heartbeatError heartbeatError
	allowList      allowList
	stopping       atomic.Bool

	heartbeatNow signal
	rescueNow    signal
}

// New returns an engine that has not started.
func New(cfg Config) *Engine {
	e := &Engine{
		cfg:          cfg,
		claims:       store.PartialClaims(cfg.Backend),
		inFlight:     newInFlight(),
		wakes:        newWakes(cfg.Queues),
		heartbeatNow: newSignal(),
		rescueNow:    newSignal(),
	}
	e.storeErrors = newStoreErrors(e.emit, e.storeFailed)
	e.outcomes = newOutcomes(e)
	return e
}

// Start registers the node. If Start fails, nothing is running.
func (e *Engine) Start(ctx context.Context) error {
	e.session = newSession(context.WithoutCancel(ctx), e.cfg.Lease)
	call, cancel := context.WithTimeout(ctx, e.cfg.CallTimeout)
	defer cancel()
	if err := e.register(call); err != nil {
		return fmt.Errorf("register this node: %w", err)
	}
	return nil
}

// Run runs the node until ctx ends, and then drains it. Start must have succeeded. To drain is to
// stop claiming, wait up to Drain for running jobs, cancel their contexts, wait up to Grace,
// release the jobs that still run, and leave the cluster. If hurry ends before Drain has passed,
// the node stops waiting for running jobs. Run returns nil after a clean stop, else what could not
// be done.
func (e *Engine) Run(ctx context.Context, hurry context.Context) error {
	base := context.WithoutCancel(ctx)
	e.emit(event.Event{Kind: event.NodeStarted, Name: e.cfg.Name})
	e.checkPool()

	life, endLife := context.WithCancel(base) // ends after the drain, unlike ctx
	defer endLife()
	var living, loops, workers sync.WaitGroup
	living.Go(func() { e.heartbeats(life) })
	living.Go(func() { e.watchLease(life) })
	living.Go(func() { e.listen(life) })
	living.Go(func() { e.watchCancels(life) })
	living.Go(func() { e.keepStateFile(life) })
	writing, endWriting := context.WithCancel(base)
	defer endWriting()
	var writer sync.WaitGroup
	writer.Go(func() { e.outcomes.run(writing) })

	loops.Go(func() { e.rescues(ctx) })
	loops.Go(func() { e.fire(ctx) })
	loops.Go(func() { e.prune(ctx) })
	for queue, width := range e.cfg.Queues {
		loops.Go(func() { newFetcher(e, queue, width).run(ctx, &workers) })
	}

	<-ctx.Done()
	e.stopping.Store(true)
	e.emit(event.Event{Kind: event.NodeStopping, Count: int64(e.inFlight.len())})
	loops.Wait()
	handedBack := e.drain(hurry, &workers)
	err := e.flush()
	endWriting()
	writer.Wait()
	endLife()
	living.Wait()
	if leaveErr := e.leave(base); err == nil {
		err = leaveErr
	}
	e.emit(event.Event{Kind: event.NodeStopped, Count: int64(handedBack)})
	return err
}

// checkPool warns if handlers can use up the connections of a pool that the program shares with the
// store.
func (e *Engine) checkPool() {
	pooled, ok := e.cfg.Backend.(store.Pooled)
	if !ok {
		return
	}
	workers := 0
	for _, width := range e.cfg.Queues {
		workers += width
	}
	if size := pooled.PoolSize(); size > 0 && size <= workers {
		e.emit(event.Event{Kind: event.PoolSmall, Count: int64(size), Detail: fmt.Sprintf(
			"%d workers share a pool of %d connections: handlers that each hold a connection wait for each other, and their enqueues wait too; give the pool more than %d connections, or the node fewer workers",
			workers, size, workers)})
	}
}

// drain waits for running jobs, cancels the jobs that still run, and releases the jobs that do not
// end then.
func (e *Engine) drain(hurry context.Context, workers *sync.WaitGroup) (handedBack int) {
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	if waitFor(done, hurry.Done(), e.cfg.Drain) {
		return 0
	}
	handedBack = e.inFlight.len()
	e.session.lose(ErrStopping)
	if waitFor(done, nil, e.cfg.Grace) {
		return handedBack
	}
	for _, run := range e.inFlight.all() {
		e.deliver(run, result{outcome: interrupted(run.Claimed, ErrStopping), why: "it did not end when its node stopped"})
	}
	return handedBack
}

// waitFor waits until done is closed, and reports whether it was. It gives up after limit, or when
// hurry is closed.
func waitFor(done, hurry <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-hurry:
	case <-timer.C:
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// flush waits until all outcomes are written, but not longer than Heartbeat.
func (e *Engine) flush() error {
	deadline := time.After(e.cfg.Heartbeat)
	for e.outcomes.backlog() > 0 {
		select {
		case <-deadline:
			return fmt.Errorf("stop: the store did not take %d outcomes in time; those jobs will run again when this node's lease has passed", e.outcomes.backlog())
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// leave ends the node's registration, so that other nodes can claim the jobs that the node still
// holds at once.
func (e *Engine) leave(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, e.cfg.Heartbeat)
	defer cancel()
	res, err := e.cfg.Backend.Leave(call, store.LeaveRequest{Node: e.session.number(), After: plan.LostFollowUp})
	if err != nil {
		return fmt.Errorf("leave the cluster: %w (others notice when the lease has passed)", err)
	}
	e.emitTaken(res.Jobs, func(int64) string { return e.cfg.Name })
	return nil
}

func (e *Engine) queueNames() []string { return slices.Sorted(maps.Keys(e.cfg.Queues)) }

// step emits the event of a loop iteration.
func (e *Engine) step(loop, queue string, count int) {
	e.emit(event.Event{Kind: event.Step, Detail: loop, Queue: queue, Count: int64(count)})
}

func (e *Engine) emit(ev event.Event) {
	if e.session != nil {
		ev.Node = e.session.number()
	}
	ev.Time = time.Now()
	e.cfg.Sink(ev)
}
