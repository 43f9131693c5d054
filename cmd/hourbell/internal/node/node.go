// Package node makes a process a node: it opens the store, keeps the store equal
// to the node's files, answers probes, serves pages and the API, runs jobs, and stops in order at a signal.
//
//	n := node.Node{Store: location, Config: config, Watch: watcher, Commands: node.DeclaredCommands}
//	err := n.Run(ctx)
package node

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/watch"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
	"github.com/hourbell/hourbell/dashboard"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/plan"
)

// Node is what a node works with: everything has been read, and nothing is open
// yet. Config.Logger, Config.Queues and Watch must be set; Run sets
// Config.Workers.
type Node struct {
	Store    stores.Location
	Migrate  bool // migrate the schema of the store when it is opened
	Config   hourbell.Config
	Watch    *watch.Watcher
	Commands Commands
	Probes   string // the address of the probes, host:port; empty: there are none
	Web      Web    // the pages and the API
	// ProbesMetrics answers /metrics at the address of the probes, too, without access rules.
	ProbesMetrics bool
	// HTTPPrivate lets HTTP calls that are not in the node's own files reach
	// private addresses.
	HTTPPrivate bool
	// Mail is the program that mails the output of crontabs' lines, with the arguments of sendmail;
	// empty: nothing is mailed.
	Mail string
	SQL  []stores.SQLConnection // the connections of the kind sql; none: no jobs of this kind are run
	// Limits are the settings of how much work the node takes, which may be read from files. MaxRunning is, for each kind, how many
	// of its jobs may run at a time when the node starts.
	Limits     Limits
	MaxRunning map[string]int
	// Taken is what the program before has handed over in this process; nil: the process begins as a
	// node.
	Taken *Message
	// Env is the environment with which the program was started; the next program gets it.
	Env []string

	manager  *manager
	sites    []*site
	starting starting
	idle     []string       // the queues that begin without workers
	backend  stores.Backend // the store; nil before it is open
	ended    endedCalls
	closing  []func() error // of the connections of the kind sql
}

// Run works until ctx ends or a signal ends it: the first SIGINT or SIGTERM stops
// in order, the second ends the wait for running jobs. SIGHUP has all files read
// again. SIGUSR2 replaces the program (see upgrade.go). Call it once.
func (n *Node) Run(ctx context.Context) error {
	asks := newAsks()
	asks.hear() // from now on they must not end the process
	defer asks.close()
	defer n.closeSQL()
	if err := n.prepare(); err != nil {
		return err
	}
	n.manager = newManager(cmp.Or(n.Config.Heartbeat, n.Config.Lease/3), n.Config.Logger)
	n.Config.Observers = append(n.Config.Observers, n.manager, &n.ended)
	ended := make(chan struct{})
	defer close(ended)
	go n.manager.feed(ended)
	measured := newMetrics(n.Config.Logger)
	if n.ProbesMetrics || n.Web.Address != "" {
		n.Config.Observers = append(n.Config.Observers, measured.Metrics)
	}
	probe := &probes{}
	if n.ProbesMetrics {
		probe.metrics = measured.handler
	}
	reached := &web{settings: n.Web, metrics: measured.handler, log: n.Config.Logger}
	begun := gate{}
	if n.Taken != nil {
		begun.opened = make(chan struct{})
		n.Config.TakeOver = n.Taken.Client
	}
	defer n.closeSites()
	if err := n.listen(ctx, probe, reached, begun); err != nil {
		return err
	}
	b, err := n.open(ctx)
	if err != nil {
		return fmt.Errorf("open the store %s: %w", n.Store, err)
	}
	defer b.Close()
	n.backend = b
	n.Config.Logger.Info("store opened", "store", n.Store.String())
	client, err := hourbell.New(b, n.Config)
	if err != nil {
		return err
	}
	for _, queue := range n.idle {
		if err := client.SetWorkers(queue, 0); err != nil {
			return err
		}
	}
	measured.Watch(client)
	return n.work(ctx, client, probe, reached, asks, begun)
}

// retryOpen is how long a node that was handed over waits after a failure of its store.
const retryOpen = 100 * time.Millisecond

// open opens the store. A node that was handed over tries for half of its lease: its commands run.
func (n *Node) open(ctx context.Context) (stores.Backend, error) {
	for began := time.Now(); ; {
		b, err := n.Store.Open(ctx, n.Migrate)
		if err == nil || n.Taken == nil || ctx.Err() != nil || time.Since(began) > n.Config.Lease/2 {
			return b, err
		}
		n.Config.Logger.Warn("store not opened; trying again", "store", n.Store.String(), "error", plain.OneLine(err.Error()))
		time.Sleep(retryOpen)
	}
}

// listen answers probes, pages and the API, at the addresses that are given, when
// begun is open.
func (n *Node) listen(ctx context.Context, probe *probes, reached *web, begun gate) error {
	add := func(addr string, s *site) error {
		s.handler, s.log = begun.handler(s.handler), n.Config.Logger
		if file := n.Taken.socket(s.name); file != nil {
			if err := s.take(file); err != nil {
				return err
			}
		} else if err := s.open(ctx, addr); err != nil {
			return err
		}
		n.sites = append(n.sites, s)
		return nil
	}
	if n.Probes != "" {
		s := &site{name: "probes", what: "probes", handler: probe.handler()}
		if err := add(n.Probes, s); err != nil {
			return err
		}
		n.Config.Logger.Info("probes answered", "address", s.address(), "paths", probe.paths())
	}
	if n.Web.Address != "" {
		s := &site{name: "web", what: "pages and the API", handler: reached.handler(probe.handler()), secure: n.Web.TLS}
		if err := add(n.Web.Address, s); err != nil {
			return err
		}
		n.Config.Logger.Info("pages and API answered", "address", s.address(), "tls", n.Web.TLS != nil, "users", n.Web.Guard != nil)
	}
	return nil
}

// closeSites ends all sites.
func (n *Node) closeSites() {
	for _, s := range n.sites {
		s.close()
	}
}

// files returns what the node knows of its files.
func (n *Node) files() []dashboard.File {
	var shown []dashboard.File
	for _, f := range n.Watch.States() {
		shown = append(shown, dashboard.File(f))
	}
	return shown
}

// host returns the name of the host that the node runs on.
func (n *Node) host() string { return cmp.Or(n.Config.Host, plan.DefaultHost()) }

// prepare completes the configuration and checks it.
func (n *Node) prepare() error {
	workers, err := n.workers()
	if err != nil {
		return err
	}
	n.Config.Workers = workers
	n.idle = n.Limits.idle(n.Config.Queues)
	if n.Commands == NoCommands {
		n.Watch.KeepAllowList()
		return n.Config.Validate()
	}
	n.starting = starting{host: n.host(), boot: bootID()}.serving(n.Watch.AtStart())
	if n.Taken != nil {
		n.starting.queue = n.Taken.StartQueue
	}
	if n.starting.queue != "" {
		n.Config.Queues[n.starting.queue] = startWidth
	}
	return n.Config.Validate()
}

// work syncs the files to the store and works until a signal ends it.
func (n *Node) work(ctx context.Context, client *hourbell.Client, probe *probes, reached *web, asks *asks, begun gate) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	begin := func() {
		probe.ending.Store(true)
		n.manager.stops()
		stop()
	}
	defer n.onSignals(begin, func() { cutShort(client) })()

	n.Watch.OnReread = n.manager.rereads
	n.Watch.Start(client, n.Config.Logger)
	if n.Taken != nil {
		n.Watch.SyncLater()
	} else if err := n.begin(ctx, client); ctx.Err() != nil {
		return nil // it was stopped before it began
	} else if err != nil {
		return err
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() { n.Watch.Run(ctx, asks.reread) })
	watching.Go(func() { n.reportProblems(ctx, client) })
	watching.Go(func() { n.upgrades(ctx, client, asks) })
	watching.Go(func() { n.followLimits(ctx, client, asks.resize) })
	probe.client.Store(client)
	reached.start(client, stores.LocksIn(n.backend), n.files)
	watching.Go(func() {
		select {
		case <-client.Started():
		case <-ctx.Done():
		}
		begun.open()
	})
	return client.Run(ctx)
}

// begin syncs the files to the store, and enqueues the commands that they run at the start of a node.
func (n *Node) begin(ctx context.Context, client *hourbell.Client) error {
	if err := n.Watch.SyncAll(ctx); err != nil {
		return err
	}
	return n.runAtStart(ctx, client)
}
