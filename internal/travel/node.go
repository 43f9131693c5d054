package travel

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Loops is what a node lets its clock do, and see.
type Loops struct {
	Queues []string // that the node serves, also the queues of places
	// Workers returns the present number of workers of a queue; ok: the queue is served by now.
	Workers func(queue string) (n int, ok bool)
	// Wake wakes the loops of the node.
	Wake func(store.Wake)
	// InFlight returns the number of claimed jobs whose outcomes are not written.
	InFlight func() int
	// ReadCancels reads cancel requests and passes them to runs.
	ReadCancels func(context.Context)
	// Heartbeat makes the node send a heartbeat at once, and does not wait for it.
	Heartbeat func()
	// Rescue takes the jobs of the nodes whose leases have ended.
	Rescue func(context.Context)
	// Prune deletes the history that is older than the node keeps it.
	Prune func(context.Context)
}

// Node is a node under a Clock. nil is a node that goes by the clock of the process; of it, only
// BeginClaims, EndClaims and Refused can be called, which do nothing.
type Node struct {
	clock *Clock
	below store.Backend
	loops Loops

	// The mutex of the clock guards the following fields.
	slots    reads
	queues   map[string]*reads
	attempts map[*attempt]bool
	joined   bool // registered, and not leaving
	life     life
}

// reads is what a loop of a node has read: due schedules, or due jobs of a queue.
type reads struct {
	// quiet is the tick at which the last read began that found nothing to do; -1: the last read found
	// something.
	quiet int64
	// next is when the next work is due, after the present, as far as the last read knows.
	next time.Time
	// left identifies the due schedules that the node did not fire when it read them last, because
	// they are for other nodes; 0: none.
	left uint64
	// asked is the tick at which the loop was woken last.
	asked   int64
	askedAt time.Time // by the clock of the process
}

// Join makes the node of an engine a node under the clock of its backend; nil: the backend has no
// Clock.
func Join(b store.Backend, loops Loops) *Node {
	c := Of(b)
	if c == nil {
		return nil
	}
	n := &Node{clock: c, below: b, loops: loops, slots: reads{quiet: -1}, queues: map[string]*reads{}, attempts: map[*attempt]bool{}}
	for _, queue := range loops.Queues {
		n.queues[queue] = &reads{quiet: -1}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes = append(c.nodes, n)
	return n
}

// Backend returns the backend that the node uses.
func (n *Node) Backend() store.Backend { return nodeBackend{n.below, n} }

// Attempt returns the context of an attempt, for Sleep, and a function to call when the attempt has
// ended.
func (n *Node) Attempt(ctx context.Context, job store.Claimed) (_ context.Context, end func()) {
	a := &attempt{node: n, job: job, sleep: map[*sleeper]bool{}}
	c := n.clock
	c.mu.Lock()
	n.attempts[a] = true
	c.mu.Unlock()
	return context.WithValue(ctx, attemptKey{}, a), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(n.attempts, a)
	}
}

// WithTimeout returns a context that ends with cause when the clock of the node has moved by d. The
// error of the context is context.Canceled.
func (n *Node) WithTimeout(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancelCause(ctx)
	stop := n.clock.after(d, func() { cancel(cause) })
	return inner, func() { stop(); cancel(context.Canceled) }
}

// asleep returns how many attempts wait for the clock, and how many of them belong to one queue. The
// caller holds the mutex.
func (n *Node) asleep(queue string) (all, inQueue int) {
	for a := range n.attempts {
		if a.asleep() {
			all++
			if a.job.Queue == queue {
				inQueue++
			}
		}
	}
	return all, inQueue
}

// full reports whether all workers of a queue sleep, so that its loop claims nothing. The caller
// holds the mutex.
func (n *Node) full(queue string) bool {
	_, sleep := n.asleep(queue)
	workers, served := n.loops.Workers(queue)
	return served && sleep >= workers
}

// BeginClaims begins the claims of a loop, and returns what EndClaims needs.
func (n *Node) BeginClaims() (tick int64) {
	if n == nil {
		return 0
	}
	return n.clock.ticked()
}

// EndClaims records the result of the claims of a queue. The node does not get to know when the next job
// is due, because it would wait for that by the clock of the process. failed: the claims failed, or have to be repeated.
func (n *Node) EndClaims(queue string, tick int64, res *store.ClaimResult, failed bool) {
	if n == nil {
		return
	}
	next := res.NextDue
	if next.IsZero() || !res.NextStart.IsZero() && res.NextStart.Before(next) {
		next = res.NextStart
	}
	n.end(n.queues[queue], tick, !failed && len(res.Jobs) == 0, next)
	res.NextDue, res.NextStart = time.Time{}, time.Time{}
}

// Refused records that the program does not let the node claim jobs at present.
func (n *Node) Refused(queue string) {
	if n != nil {
		n.end(n.queues[queue], n.clock.ticked(), true, time.Time{})
	}
}

// nodeBackend is the backend of a node under a Clock. It lets claims and firings through while the
// clock is open.
type nodeBackend struct {
	store.Backend
	node *Node
}

// Unwrap returns the backend below; see store.Able.
func (b nodeBackend) Unwrap() store.Backend { return b.Backend }

// begin begins a read of the store. tick is for end; ok is false if the node must not read now.
func (n *Node) begin(claims bool) (tick int64, only store.ExactJob, id int64, ok bool) {
	c := n.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tick, c.kind, c.only, c.open && (claims || c.only == 0)
}

// end records the end of a read, unless it may have been turned away, as the polls of a node between
// two calls of Settle.
func (n *Node) end(r *reads, tick int64, quiet bool, next time.Time) {
	c := n.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open || tick < c.opened {
		return
	}
	if r.next = next; quiet {
		r.quiet = max(r.quiet, tick)
	} else {
		r.quiet, r.asked = -1, -1
	}
	c.note()
}

// Register implements store.Nodes.
func (b nodeBackend) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	res, err := b.Backend.Register(ctx, req)
	if err == nil {
		b.node.registered(res.Node, req.Lease)
		b.node.setJoined(true)
	}
	return res, err
}

// Leave implements store.Nodes.
func (b nodeBackend) Leave(ctx context.Context, req store.LeaveRequest) (store.RescueResult, error) {
	b.node.setJoined(false)
	return b.Backend.Leave(ctx, req)
}

func (n *Node) setJoined(joined bool) {
	c := n.clock
	c.mu.Lock()
	if joined && !n.joined { // a node registers again when its time-zone data change
		c.joined++
	}
	n.joined = joined
	c.mu.Unlock()
	c.note()
}

// Claim implements store.Jobs.
func (b nodeBackend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	res, err := b.claim(ctx, req)
	b.node.claimed(res.Jobs)
	return res, err
}

func (b nodeBackend) claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	_, only, id, ok := b.node.begin(true)
	none := store.ClaimResult{Now: b.node.clock.Now()}
	switch {
	case !ok || id == taken || id != 0 && req.Suspects:
		return none, nil
	case id == 0:
		return b.Backend.Claim(ctx, req)
	case !slices.Contains(req.Kinds, only.Kind) && !slices.ContainsFunc(req.Exact,
		func(e store.ExactJob) bool { return e.SHA256 == only.SHA256 && e.Kind == only.Kind }):
		return none, nil
	}
	req.Kinds, req.Exact = nil, []store.ExactJob{only}
	res, err := b.Backend.Claim(ctx, req)
	if err != nil {
		return res, err
	}
	res, err = b.keepOnly(ctx, res, id)
	if len(res.Jobs) > 0 {
		b.node.clock.take()
	}
	return res, err
}

// keepOnly hands back all claimed jobs except one, which may be equal to others that were enqueued
// before.
func (b nodeBackend) keepOnly(ctx context.Context, res store.ClaimResult, id int64) (store.ClaimResult, error) {
	var back []store.Outcome
	res.Jobs = slices.DeleteFunc(res.Jobs, func(job store.Claimed) bool {
		if job.ID == id {
			return false
		}
		back = append(back, store.Outcome{ID: job.ID, Token: job.Token, Result: store.Release})
		return true
	})
	if len(back) == 0 {
		return res, nil
	}
	_, err := b.Backend.Finish(ctx, store.FinishRequest{Outcomes: back})
	return res, err
}

// Finish implements store.Jobs.
func (b nodeBackend) Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	lost := b.node.refuse(&req)
	if len(lost) > 0 && len(req.Outcomes) == 0 {
		return store.FinishResult{Refused: lost}, nil
	}
	res, err := b.Backend.Finish(ctx, req)
	if err != nil {
		return res, err
	}
	res.Refused = append(res.Refused, lost...)
	c := b.node.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range req.Outcomes {
		if o.Job != nil && !slices.Contains(res.Refused, store.ClaimRef{ID: o.ID, Token: o.Token}) {
			c.ended = append(c.ended, Ended{*o.Job, o})
		}
	}
	return res, nil
}

// DueSchedules implements store.Schedules. It reads nothing ahead: each slot is decided on when the
// clock has reached it.
func (b nodeBackend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	n := b.node
	tick, _, _, ok := n.begin(false)
	if !ok || req.Ahead > 0 {
		return store.DueSchedulesResult{Now: n.clock.Now()}, nil
	}
	res, err := b.Backend.DueSchedules(ctx, req)
	left := identify(res.Schedules)
	n.end(&n.slots, tick, err == nil && n.sameLeft(left), res.Next)
	res.Next = time.Time{}
	return res, err
}

// sameLeft records which schedules are due, and reports whether there are none, or the same as at
// the last read without a firing since then.
func (n *Node) sameLeft(due uint64) bool {
	n.clock.mu.Lock()
	defer n.clock.mu.Unlock()
	same := due == n.slots.left
	n.slots.left = due
	return due == 0 || same
}

// identify returns a number for a list of due schedules; 0: the list is empty.
func identify(due []store.Schedule) uint64 {
	if len(due) == 0 {
		return 0
	}
	sum := fnv.New64a()
	for _, s := range due {
		_ = binary.Write(sum, binary.BigEndian, [3]int64{s.ID, s.Revision, s.NextAt.UnixMicro()}) // never fails
	}
	return sum.Sum64() | 1
}
