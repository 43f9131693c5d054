package hourbell

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/bound"
	"github.com/hourbell/hourbell/internal/engine"
	"github.com/hourbell/hourbell/internal/fire"
	"github.com/hourbell/hourbell/internal/insert"
	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/internal/share"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// Client is a program's access to Hourbell: it enqueues jobs and, while Run
// runs, is a node of the cluster; its services read and change everything else.
// Concurrent calls are allowed.
//
//	type Greet struct {
//		Name string `json:"name"`
//	}
//
//	func (Greet) Kind() string { return "greet" }
//
//	workers := hourbell.NewWorkers()
//	hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Greet]) error {
//		fmt.Println("hello", job.Args.Name)
//		return nil
//	})
//	backend, err := sqlite.Open(ctx, "hourbell.db")
//	…
//	client, err := hourbell.New(backend, hourbell.Config{Workers: workers})
//	…
//	err = client.Migrate(ctx) // creates the schema, once
//	_, err = client.Enqueue(ctx, Greet{Name: "Ada"})
//	_, err = client.Schedules.Put(ctx, hourbell.Schedule{
//		Name: "morning", Rule: recur.Cron("0 9 * * 1-5").In("Europe/Prague"), Job: Greet{Name: "all"},
//	})
//	err = client.Run(ctx)
type Client struct {
	Jobs      *JobService
	Schedules *ScheduleService
	Calendars *CalendarService
	Handlers  *HandlerService
	Limits    *LimitService
	Groups    *GroupService
	Batches   *BatchService
	Slots     *SlotService
	Queues    *QueueService
	Kinds     *KindService
	Keys      *KeyService
	Nodes     *NodeService
	Events    *EventService
	Audit     *AuditService
	Stats     *StatsService
	Signals   *SignalService

	store   store.Backend // the argument of New: for the engine, which bounds its calls itself
	backend store.Backend // the same store for all other calls, with bounds
	cfg     Config
	relay   relay
	batcher *insert.Batcher

	mu      sync.Mutex
	running bool
	stopped bool
	stop    context.CancelFunc // begins the stop of a running client
	hurry   context.CancelFunc // ends the wait for running jobs
	done    chan struct{}      // closed when Run has returned
	left    chan struct{}      // closed when Run has returned and no worker runs any more

	taken   *engine.State     // see Config.TakeOver; nil: the node is new
	started chan struct{}     // closed when the node is registered
	engine  *engine.Engine    // of a client that has started
	allowed []work.AllowedJob // see Allow
	changed limitsOfNode      // see SetWorkers

	keeps atomic.Pointer[map[string]Keep] // see KeepKinds; nil: none

	followers share.Group[string, followed] // of the feed, by their cursors

	countAgain atomic.Int64 // when estimates may count again, in nanoseconds since 1970; see estimated
	unserved   sync.Map     // the queues that warnUnserved has looked at
}

// New returns a client over a driver's backend. It returns every mistake in cfg
// at once and does not use the store. The backend belongs to the caller: Stop
// does not close it.
func New(backend store.Backend, cfg Config) (*Client, error) {
	if backend == nil {
		return nil, &check.FieldError{Field: "backend", Problem: "is nil", Remedy: "pass the backend that a driver's Open or New returned"}
	}
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	taken, err := readTakeOver(cfg.TakeOver)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if taken != nil {
		cfg.Name = taken.Name
	}
	if observers := callObservers(cfg.Observers); len(observers) > 0 {
		backend = intercept.Timed(backend, func(c event.Call) {
			for _, o := range observers {
				o.ObserveCall(c)
			}
		})
	}
	bounded := bound.New(backend, cfg.CallTimeout)
	c := &Client{
		store: backend, backend: bounded, cfg: cfg, relay: relay{log: event.Log(cfg.Logger, cfg.LogCompleted)},
		batcher: insert.NewBatcher(bounded, cfg.CallTimeout), done: make(chan struct{}), left: make(chan struct{}), taken: taken, started: make(chan struct{}),
	}
	c.relay.observe(cfg.Observers)
	c.relay.onStuck(cfg.OnStuck)
	c.Handlers = &HandlerService{c}
	c.Limits, c.Signals = &LimitService{c}, &SignalService{c}
	c.Jobs, c.Schedules, c.Calendars = &JobService{c}, &ScheduleService{c}, &CalendarService{c}
	c.Groups, c.Batches = &GroupService{c}, &BatchService{c}
	c.Slots, c.Queues, c.Nodes, c.Events = &SlotService{c}, &QueueService{c}, &NodeService{c}, &EventService{c}
	c.Audit, c.Kinds, c.Keys, c.Stats = &AuditService{c}, &KindService{c}, &KeyService{c}, &StatsService{c}
	return c, nil
}

// Run makes this process a node and blocks until ctx ends or Stop is called.
// Then it stops in order: no new claims; running jobs get Config.Drain to end;
// then their contexts end with ErrStopping and the jobs get Config.Grace. Jobs
// that end with an error then are handed back with their attempt refunded (a
// FailOnLoss job fails with the reason "lost" instead). After a stop Run returns nil,
// also if the store was away: what the store did not take is then the event
// stop_unwritten, and other nodes take over the jobs when the lease has passed.
// Before Run returns, Config.Observers have up to a second to receive the last
// events.
//
// Run also returns nil if workers have not returned after Config.Grace, because
// they ignore their contexts. Then the node stays in the cluster: it keeps the jobs
// of these workers and their permits, so that nothing runs elsewhere that must not
// run concurrently, until the workers have returned (Done) or the process exits.
// In the latter case the jobs start elsewhere when the lease has passed.
//
// Run first creates or updates the schema, unless Config.NoMigrate is set.
//
// A client runs once. Run returns ErrRunning while the client runs, and
// ErrStopped after that, or if Stop was called first. A failure to register
// with the store is returned at once, and the client can be run again; after
// later failures of the store the client waits until the store works again.
func (c *Client) Run(ctx context.Context) error {
	life, stop := context.WithCancel(ctx)
	defer stop()
	hurry, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	if err := c.begin(stop, cut); err != nil {
		return err
	}
	e, err := c.start(life)
	if err != nil {
		c.end(false)
		if life.Err() != nil {
			return nil // stopped before it began
		}
		return err
	}
	defer c.end(true)
	defer c.flushObservers()
	defer c.flushAtEnd(ctx)
	go func() { // after e.Run has begun, Run does not run again
		<-e.Left()
		<-c.done
		close(c.left)
	}()
	e.Run(life, hurry)
	return nil
}

// flushObservers gives observers a second to receive the last events.
func (c *Client) flushObservers() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c.relay.flush(ctx)
}

// start creates the schema and registers the node.
func (c *Client) start(ctx context.Context) (*engine.Engine, error) {
	if !c.cfg.NoMigrate {
		if err := c.Migrate(ctx); err != nil {
			return nil, err
		}
	}
	e := engine.New(c.engineConfig())
	c.mu.Lock()
	c.engine = e
	e.SetAllowList(c.allowed)
	c.changed.apply(e)
	c.mu.Unlock()
	if err := e.Start(ctx); err != nil {
		return nil, err
	}
	close(c.started) // once: the client does not start again
	return e, nil
}

// Migrate creates the schema or updates it; if the schema is current, Migrate
// does nothing and needs no right to change it. Run does this too, so a program
// needs Migrate only to use the store before it runs, or without running.
func (c *Client) Migrate(ctx context.Context) error {
	if _, err := bound.MigrateUp(ctx, c.store, c.cfg.CallTimeout); err != nil {
		return fmt.Errorf("create or update the schema: %w", err)
	}
	return nil
}

func (c *Client) begin(stop, hurry context.CancelFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.running:
		return ErrRunning
	case c.stopped:
		return ErrStopped
	}
	c.running, c.stop, c.hurry = true, stop, hurry
	return nil
}

// Started returns a channel that is closed when Run has registered the node, or has taken it over.
// If Run fails before, the channel stays open.
func (c *Client) Started() <-chan struct{} { return c.started }

// Done returns a channel that is closed when Run has returned and no worker of this
// client runs any more, except of attempts that were abandoned (AbandonAfter). A program that goes on after Run closes the backend after that;
// if it closes the backend earlier, the node loses its lease while workers run, and
// their jobs start elsewhere. While the client has neither run nor been stopped, the
// channel is open.
func (c *Client) Done() <-chan struct{} { return c.left }

// end is called when Run returns; a client that has not begun can run again,
// unless Stop was called.
func (c *Client) end(begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = false
	c.stopped = c.stopped || begun
	close(c.done)
	switch {
	case !c.stopped:
		c.done = make(chan struct{})
	case !begun: // stopped before it began
		close(c.left)
	}
}

// Stop makes Run stop in order and waits until Run has returned. When ctx ends,
// the wait for running jobs ends early: their contexts end, and Stop returns
// ctx's error without waiting for Run. Stopping twice does no harm; after
// stopping a client that has not started, Run returns ErrStopped.
func (c *Client) Stop(ctx context.Context) error {
	c.mu.Lock()
	if !c.running {
		if !c.stopped {
			close(c.left)
		}
		c.stopped = true
		c.mu.Unlock()
		return nil
	}
	c.stopped = true
	stop, hurry, done := c.stop, c.hurry, c.done
	c.mu.Unlock()
	stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		hurry()
		return fmt.Errorf("stop: running jobs were cut short: %w", context.Cause(ctx))
	}
}

func (c *Client) engineConfig() engine.Config {
	queues := c.cfg.Queues
	if len(c.cfg.Workers.byKind) == 0 {
		queues = nil // a node without workers claims nothing; it still fires slots
	}
	return engine.Config{
		Backend:      c.store,
		Name:         c.cfg.Name,
		Version:      build,
		Host:         c.cfg.Host,
		Labels:       c.cfg.labels(),
		Queues:       queues,
		MaxRunning:   c.cfg.Workers.maxRunning(),
		Ageing:       c.cfg.Ageing,
		Admission:    c.cfg.Admission,
		Kinds:        c.cfg.Workers.claimed(),
		Restricted:   c.cfg.Workers.kinds(true),
		Carried:      c.cfg.Workers.carried(),
		Work:         c.cfg.Workers.work(c, c.cfg.WorkMiddleware),
		Timeout:      c.cfg.Workers.timeout,
		Backoff:      c.cfg.Workers.backoff,
		TxTimeout:    c.cfg.TxTimeout,
		KeepFor:      c.keepFor,
		AbandonAfter: c.cfg.Workers.abandonAfter,
		Lease:        c.cfg.Lease,
		Heartbeat:    c.cfg.Heartbeat,
		Drain:        c.cfg.Drain,
		Grace:        c.cfg.Grace,
		CallTimeout:  max(c.cfg.Lease, 10*time.Second),
		Alone:        time.Minute,
		PollBusy:     min(defaultPollBusy, c.cfg.PollIdle),
		PollIdle:     c.cfg.PollIdle,
		PollPushed:   max(defaultPushed, c.cfg.PollIdle) * time.Duration(max(len(queues), 1)),
		Keep:         c.cfg.Keep.prune(),
		StateDir:     c.cfg.StateDir,
		NoStats:      c.cfg.NoStats,
		Sink:         c.relay.send,
		TakeOver:     c.taken,
	}
}

// settler accounts for due slots before schedules change.
func (c *Client) settler(tx store.Tx) fire.Settler {
	return fire.Settler{Store: c.backend, Tx: tx, StateDir: c.cfg.StateDir}
}

// Name returns the name of this client's node in lists of nodes.
func (c *Client) Name() string { return c.cfg.Name }

// Host returns the host of this client's node (Config.Host).
func (c *Client) Host() string { return c.cfg.Host }

// Now reads the store's clock, which decides what is due.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	now, err := c.backend.Now(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the store's clock: %w", err)
	}
	return now, nil
}
