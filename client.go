package hourbell

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/bound"
	"github.com/hourbell/hourbell/internal/engine"
	"github.com/hourbell/hourbell/store"
)

// Client is a program's way to Hourbell: it enqueues jobs, keeps schedules,
// looks at both, and, while Run runs, is a node that works. It is safe for
// concurrent use.
type Client struct {
	store    store.Backend // as New got it: of the engine, which bounds its calls itself
	backend  bound.Backend // the same for all other calls, which end by themselves
	cfg      Config
	feed     feed
	gatherer gatherer

	mu      sync.Mutex
	running bool
	stopped bool
	stop    context.CancelFunc // begins the stop of a running client
	hurry   context.CancelFunc // cuts its drain short
	done    chan struct{}      // closed when Run has returned

	engine   *engine.Engine     // of a client that has run
	admitted []engine.Admission // see Admit
}

// New returns a client over a driver's backend. It reports every mistake in
// cfg at once and does not touch the store. The backend stays the caller's: it
// is not closed by Stop.
func New(backend store.Backend, cfg Config) (*Client, error) {
	if backend == nil {
		return nil, &FieldError{Field: "backend", Problem: "is nil", Remedy: "pass what a driver's Open or New returned"}
	}
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	bounded := bound.New(backend, cfg.CallTimeout)
	return &Client{
		store: backend, backend: bounded, cfg: cfg, feed: feed{log: event.Log(cfg.Logger, cfg.LogCompleted)},
		gatherer: gatherer{backend: bounded, limit: cfg.CallTimeout}, done: make(chan struct{}),
	}, nil
}

// Run makes this process a node and blocks until ctx ends or Stop is called,
// then stops in order: no new claims; running jobs get Config.Drain to end;
// then their contexts end with ErrStopping and they get Config.Grace; what is
// left is handed back with its attempt refunded (a FailOnLoss job fails with
// the reason "lost" instead). It returns nil after a clean stop.
//
// It creates or updates the schema first, unless Config.NoMigrate says not to.
//
// A client runs once: ErrRunning while it does, ErrStopped after that, or if
// Stop came first. A failure to register with the store is returned at once,
// and the client can be run again; later failures of the store are waited out.
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
			return nil // the stop came before it had begun
		}
		return err
	}
	defer c.end(true)
	return e.Run(life, hurry)
}

// start makes the schema and registers the node.
func (c *Client) start(ctx context.Context) (*engine.Engine, error) {
	if !c.cfg.NoMigrate {
		if err := c.Migrate(ctx); err != nil {
			return nil, err
		}
	}
	e := engine.New(c.engineConfig())
	c.mu.Lock()
	c.engine = e
	e.Admit(c.admitted)
	c.mu.Unlock()
	return e, e.Start(ctx)
}

// Migrate creates the schema or brings it up to date; where it is current it
// does nothing, and needs no right to. Run does this too, so that a program
// needs it only to use the store before it runs, or without running.
func (c *Client) Migrate(ctx context.Context) error {
	if _, err := c.backend.MigrateUp(ctx); err != nil {
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

// end is called when Run returns; a client that has not begun can run again,
// unless Stop was called.
func (c *Client) end(begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = false
	c.stopped = c.stopped || begun
	close(c.done)
	if !c.stopped {
		c.done = make(chan struct{})
	}
}

// Stop makes Run stop in order and waits until it has returned. When ctx ends,
// the wait for running jobs is cut short: their contexts end, and Stop returns
// ctx's error without waiting for Run. Stopping twice is harmless; stopping a
// client that has not started makes a later Run return ErrStopped.
func (c *Client) Stop(ctx context.Context) error {
	c.mu.Lock()
	if !c.running {
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
		queues = nil // a node without code claims nothing; it still fires slots
	}
	return engine.Config{
		Backend:     c.store,
		Name:        c.cfg.Name,
		Version:     Version,
		Queues:      queues,
		Kinds:       c.cfg.Workers.kinds(false),
		Restricted:  c.cfg.Workers.kinds(true),
		Work:        c.cfg.Workers.work,
		Timeout:     c.cfg.Workers.timeout,
		Lease:       c.cfg.Lease,
		Heartbeat:   c.cfg.Heartbeat,
		Drain:       c.cfg.Drain,
		Grace:       c.cfg.Grace,
		CallTimeout: max(c.cfg.Lease, 10*time.Second),
		Alone:       time.Minute,
		PollBusy:    min(defaultPollBusy, c.cfg.PollIdle),
		PollIdle:    c.cfg.PollIdle,
		PollPushed:  max(defaultPushed, c.cfg.PollIdle) * time.Duration(max(len(queues), 1)),
		Keep:        c.cfg.Keep.prune(),
		StateDir:    c.cfg.StateDir,
		Sink:        c.feed.send,
	}
}

// Name is the name under which this client's node is listed.
func (c *Client) Name() string { return c.cfg.Name }

// Now reads the store's clock, by which everything is due.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	now, err := c.backend.Now(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the store's clock: %w", err)
	}
	return now, nil
}
