// Package node makes a process a node: it opens the store, keeps the store equal
// to the node's files, answers probes, serves pages and the API, runs jobs, and stops in order at a signal.
//
//	n := node.Node{Store: location, Config: config, Watch: watcher, Commands: node.DeclaredCommands}
//	err := n.Run(ctx)
package node

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/stores"
	"github.com/hourbell/hourbell/dashboard"
	"github.com/hourbell/hourbell/internal/files/watch"
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
	SQL         []stores.SQLConnection // the connections of the kind sql; none: no jobs of this kind are run

	starting string         // the queue of commands that run at the start; empty: there are none
	backend  stores.Backend // the store; nil before it is open
	closing  []func() error // of the connections of the kind sql
}

// Run works until ctx ends or a signal ends it: the first SIGINT or SIGTERM stops
// in order, the second ends the wait for running jobs. SIGHUP has all files read
// again. Call it once.
func (n *Node) Run(ctx context.Context) error {
	defer n.closeSQL()
	if err := n.prepare(); err != nil {
		return err
	}
	reread := make(chan os.Signal, 1)
	signal.Notify(reread, syscall.SIGHUP) // from now on it must not end the process
	defer signal.Stop(reread)
	measured := newMetrics(n.Config.Logger)
	if n.ProbesMetrics || n.Web.Address != "" {
		n.Config.Observers = append(n.Config.Observers, measured.Metrics)
	}
	probe := &probes{}
	if n.ProbesMetrics {
		probe.metrics = measured.handler
	}
	reached := &web{settings: n.Web, metrics: measured.handler, log: n.Config.Logger}
	closeAll, err := n.listen(ctx, probe, reached)
	if err != nil {
		return err
	}
	defer closeAll()
	b, err := n.Store.Open(ctx, n.Migrate)
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
	measured.Watch(client)
	return n.work(ctx, client, probe, reached, reread)
}

// listen answers probes, pages and the API, at the addresses that are given.
func (n *Node) listen(ctx context.Context, probe *probes, reached *web) (closeAll func(), err error) {
	var servers []*http.Server
	closeAll = func() {
		for _, server := range servers {
			server.Close()
		}
	}
	if n.Probes != "" {
		server, addr, err := listen(ctx, n.Probes, "probes", probe.handler(), nil, n.Config.Logger)
		if err != nil {
			return nil, err
		}
		servers = append(servers, server)
		n.Config.Logger.Info("probes answered", "address", addr.String(), "paths", probe.paths())
	}
	if n.Web.Address != "" {
		server, addr, err := listen(ctx, n.Web.Address, "pages and the API", reached.handler(probe.handler()), n.Web.TLS, n.Config.Logger)
		if err != nil {
			closeAll()
			return nil, err
		}
		servers = append(servers, server)
		n.Config.Logger.Info("pages and API answered", "address", addr.String(), "tls", n.Web.TLS != nil, "users", n.Web.Guard != nil)
	}
	return closeAll, nil
}

// files returns what the node knows of its files.
func (n *Node) files() []dashboard.File {
	var shown []dashboard.File
	for _, f := range n.Watch.States() {
		shown = append(shown, dashboard.File(f))
	}
	return shown
}

// prepare completes the configuration and checks it.
func (n *Node) prepare() error {
	workers, err := n.workers()
	if err != nil {
		return err
	}
	n.Config.Workers = workers
	if n.Commands == NoCommands {
		n.Watch.AdmitNothing()
	} else if len(n.Watch.AtStart()) > 0 {
		n.starting = newStartQueue()
		n.Config.Queues[n.starting] = startWidth
	}
	return n.Config.Validate()
}

// work syncs the files to the store and works until a signal ends it.
func (n *Node) work(ctx context.Context, client *hourbell.Client, probe *probes, reached *web, reread <-chan os.Signal) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	begin := func() {
		probe.ending.Store(true)
		stop()
	}
	defer n.onSignals(begin, func() { cutShort(client) })()

	n.Watch.Start(client, n.Config.Logger)
	if err := n.Watch.SyncAll(ctx); ctx.Err() != nil {
		return nil // it was stopped before it began
	} else if err != nil {
		return err
	}
	if err := n.runAtStart(ctx, client); err != nil {
		return err
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() { n.Watch.Run(ctx, reread) })
	probe.client.Store(client)
	reached.start(client, stores.LocksIn(n.backend), n.files)
	return client.Run(ctx)
}
