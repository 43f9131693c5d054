package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// Causes for which a node ends the contexts of its runs.
var (
	ErrStopping  = errors.New("the node is stopping")
	ErrClaimLost = errors.New("the claim could not be held")
)

// Config is the configuration of a node. StateDir may be empty.
type Config struct {
	Store Store
	Sink  event.Sink
	Wakes *loop.Wakes
	// Claims are the claims of the node.
	Claims Claims

	// AfterLoss returns the follow-up of a job that failed because its node died; nil: none.
	AfterLoss func(store.LostJob) *store.FollowUp

	Name    string // for people; need not be unique
	Version string
	Host    string   // on which it runs
	Labels  []string // KEY=VALUE, as they are listed in the store
	Queues  []string // as they are listed in the store
	Kinds   []string // as they are listed in the store

	Lease     time.Duration
	Heartbeat time.Duration
	// CallTimeout limits one call of the store. Heartbeats are limited by Heartbeat instead.
	CallTimeout time.Duration
	// StateDir is the folder of the state file, in which the node keeps the store's position;
	// empty: no file.
	StateDir string
	// TakeOver is the node as the program before has handed it over; nil: the node is new.
	TakeOver *State
}

// Store is the part of a store that a node uses. If it is also a store.Listener, the node receives
// its wake-ups.
type Store interface {
	store.Nodes
	store.History
}

// Claims are the claims of a node, as far as its heartbeats concern them. Concurrent calls are
// allowed.
type Claims interface {
	// Len returns the number of claims in flight.
	Len() int
	// TakeEnded returns the numbers of the batches whose claims have all ended since the last call;
	// a heartbeat passes them to the store. PutBackEnded returns them after a heartbeat that failed.
	TakeEnded() []int64
	PutBackEnded(batches []int64)
}

// Node is a node of the cluster. Concurrent calls are allowed after Start.
type Node struct {
	cfg            Config
	around         loop.Ambient
	report         *loop.Report
	session        *session
	history        history
	inherited      context.Context // of the runs that were taken over
	expiry         expiry
	heartbeatError heartbeatError
	stopping       atomic.Bool
	zones          zones
	problems       problems
	registering    sync.Mutex // see continueRegistration

	heartbeatNow loop.Signal
	rescueNow    loop.Signal
}

// New returns a node that is not registered.
func New(cfg Config) *Node {
	around := loop.Around(cfg.Store)
	n := &Node{
		cfg: cfg, around: around, session: newSession(cfg.Lease, around.Uptime),
		heartbeatNow: loop.NewSignal(), rescueNow: loop.NewSignal(),
	}
	n.report = loop.NewReport(cfg.Sink, n.Number, n.storeFailed)
	return n
}

// Start registers the node. If Start fails, nothing is running. ctx limits the call of the store;
// its values are the values of the contexts of runs.
func (n *Node) Start(ctx context.Context) error {
	n.session.base = context.WithoutCancel(ctx)
	call, cancel := context.WithTimeout(ctx, n.cfg.CallTimeout)
	defer cancel()
	begin := n.register
	if n.cfg.TakeOver != nil {
		begin = n.takeOver
	}
	if err := begin(call); err != nil {
		return fmt.Errorf("register this node: %w", err)
	}
	return nil
}

// Live keeps the node alive until ctx ends: it sends heartbeats, watches the lease, receives
// wake-ups and writes the state file. After each confirmed heartbeat it calls after.
func (n *Node) Live(ctx context.Context, after func(context.Context)) {
	var loops sync.WaitGroup
	loops.Go(func() { n.heartbeats(ctx, after) })
	loops.Go(func() { n.watchLease(ctx) })
	loops.Go(func() { n.listen(ctx) })
	loops.Go(func() { n.keepStateFile(ctx) })
	loops.Wait()
}

// register registers the node in the store under a new number.
func (n *Node) register(ctx context.Context) error {
	sent, before := n.around.Uptime(), n.history.known()
	res, err := n.cfg.Store.Register(ctx, n.registration())
	if err != nil {
		return err
	}
	n.session.confirm(res.Node, 0, sent, n.around.Uptime(), res.Now)
	if n.readStateFile(res.Position.Store) {
		before = n.history.known()
	}
	position := res.Position
	position.Node = min(position.Node, res.Node-1) // the node's own number is new; earlier numbers are smaller
	n.checkHistory(ctx, before, position, "")
	n.history.registered()
	return nil
}

// registration returns what the store records of the node.
func (n *Node) registration() store.RegisterRequest {
	return store.RegisterRequest{
		Name: n.cfg.Name, Lease: n.cfg.Lease, Version: n.cfg.Version, Host: n.cfg.Host, Labels: n.cfg.Labels,
		Queues: n.cfg.Queues, Kinds: n.cfg.Kinds, Zones: n.zones.known(), Problems: n.problems.known(),
	}
}

// Leave ends the node's registration, so that other nodes can claim the jobs that the node still
// holds at once.
func (n *Node) Leave(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, n.cfg.Heartbeat)
	defer cancel()
	res, err := n.cfg.Store.Leave(call, store.LeaveRequest{Node: n.Number(), After: n.cfg.AfterLoss})
	if err != nil {
		return fmt.Errorf("leave the cluster: %w (others notice when the lease has passed)", err)
	}
	n.emitTaken(res.Jobs, func(int64) string { return n.cfg.Name })
	return nil
}

// Report returns the report of the node's events and store errors.
func (n *Node) Report() *loop.Report { return n.report }

// Name returns the name of the node.
func (n *Node) Name() string { return n.cfg.Name }

// Host returns the host of the node.
func (n *Node) Host() string { return n.cfg.Host }

// Number returns the number of the node; 0: it was never registered.
func (n *Node) Number() int64 { return n.session.number() }

// Session returns the number of the node and the parent context of new runs; ok is false while the
// lease is not trusted.
func (n *Node) Session() (number int64, ctx context.Context, ok bool) { return n.session.current() }

// Trusted reports whether the lease may be trusted at now, the present instant. After the process
// or the machine was stopped, Trusted is correct at once; the contexts of runs end later.
func (n *Node) Trusted(now loop.Instant) bool { return n.session.trusted(now) }

// StoreNow returns about what the store's clock shows now, from the answer to the last heartbeat. It is for what is counted, never for
// decisions.
func (n *Node) StoreNow() time.Time { return n.session.storeNow() }

// Left returns how long the lease may be trusted from now on if no further heartbeat succeeds, and
// the length of the lease.
func (n *Node) Left() (left, lease time.Duration) { return n.session.left() }

// Blocked reports whether claiming, firing and pruning have to wait, because the store went back in
// time or may have gone back.
func (n *Node) Blocked() bool { return n.history.blocked() }

// Suspensions returns how often the node was suspended because the store went back in time. When
// the number changes, everything that was read from the store is out of date.
func (n *Node) Suspensions() int { return n.history.suspensions() }

// TokenSeen records a token that the store gave to a claim of this node.
func (n *Node) TokenSeen(token int64) { n.history.tokenSeen(token) }

// StoreID returns the identity of the store; empty before the node has registered for the first time.
func (n *Node) StoreID() string { return n.history.known().seen.Store }

// HeartbeatNow makes the node send a heartbeat at once.
func (n *Node) HeartbeatNow() { n.heartbeatNow.Notify() }

// BeginStop records that the node begins to stop: runs that have not begun do not begin.
func (n *Node) BeginStop() { n.stopping.Store(true) }

// Stopping reports whether the node stops.
func (n *Node) Stopping() bool { return n.stopping.Load() }

// EndRuns cancels the contexts of all runs with the cause ErrStopping.
func (n *Node) EndRuns() { n.session.lose(ErrStopping) }
