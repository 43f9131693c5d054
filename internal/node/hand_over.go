package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
)

// State is a node as it is handed over to the next program of its process. Releases add fields only,
// or change handover.Format.
type State struct {
	Number int64 `json:"number"`
	// The fields of leaseClock.
	TrustedUntil uptime.Instant `json:"trusted_until"`
	SteadySince  uptime.Instant `json:"steady_since"`
	Steady       bool           `json:"steady"`
	LastBeat     uptime.Instant `json:"last_beat"`
	LastStore    time.Time      `json:"last_store"`
	// The fields of history.
	Seen          store.Position `json:"seen"`
	LastHeartbeat int64          `json:"last_heartbeat"`
}

// retryTakeOver is how long a node that takes over waits after a failure of the store.
const retryTakeOver = 100 * time.Millisecond

// State sends a last heartbeat, so that the next program has a whole lease to begin, and returns the
// node for it. Live must have ended. An error means that the node cannot be handed over now.
func (n *Node) State(ctx context.Context) (State, error) {
	number := n.Number()
	if !n.heartbeat(ctx, func(context.Context) {}) {
		return State{}, fmt.Errorf("the store does not confirm the lease: %s", n.heartbeatError.explain("no heartbeat got through"))
	}
	if _, _, trusted := n.session.current(); !trusted || n.Number() != number || n.Blocked() {
		return State{}, errors.New("the lease is not confirmed")
	}
	known, clock := n.history.known(), n.session.lease()
	return State{
		Number:       number,
		TrustedUntil: clock.trustedUntil, SteadySince: clock.steadySince, Steady: clock.steady,
		LastBeat: clock.lastBeat, LastStore: clock.lastStore,
		Seen: known.seen, LastHeartbeat: known.lastHeartbeat,
	}, nil
}

// takeOver makes this process go on as the node that the program before has handed over. If the store
// fails, it tries again while the lease may be trusted. If the node was declared dead, its runs have
// lost their claims, and it registers under a new number.
func (n *Node) takeOver(ctx context.Context) error {
	from := n.cfg.TakeOver
	n.inherited = n.session.restore(from)
	n.history.restore(from)
	n.readStateFile(from.Seen.Store)
	n.ExpireLease()
	for {
		err := n.goOn(ctx)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, store.ErrNodeGone):
			n.loseLease("another node declared this one dead while its program was replaced")
			return n.register(ctx)
		case !n.Trusted(loop.Now()):
			n.ExpireLease()
			return err
		}
		n.report.StoreFailed("register", err)
		if loop.Sleep(ctx, retryTakeOver) != nil {
			return err
		}
	}
}

// goOn continues the node's registration in the store.
func (n *Node) goOn(ctx context.Context) error {
	sent, before := n.around.Uptime(), n.history.known()
	req := n.registration()
	req.Continue = n.Number()
	res, err := n.cfg.Store.Register(ctx, req)
	if err != nil {
		return err
	}
	n.report.StoreWorks("register")
	n.session.confirm(res.Node, 0, sent, n.around.Uptime(), res.Now)
	n.checkHistory(ctx, before, res.Position, "")
	return nil
}

// Inherited returns the parent context of the runs that were taken over.
func (n *Node) Inherited() context.Context { return n.inherited }

// restore gives the session the state of a node that was handed over, and returns the parent context
// of its runs.
func (s *session) restore(from *State) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.node.Store(from.Number)
	s.clock.trustedUntil, s.clock.steadySince, s.clock.steady = from.TrustedUntil, from.SteadySince, from.Steady
	s.clock.lastBeat, s.clock.lastStore = from.LastBeat, from.LastStore
	s.trustedUntil.Store(int64(from.TrustedUntil))
	s.ctx, s.cancel = context.WithCancelCause(s.base)
	return s.ctx
}

// lease returns a copy of the clock of the lease.
func (s *session) lease() leaseClock {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock
}

// restore adds what the program before has seen.
func (h *history) restore(from *State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen, h.lastHeartbeat = from.Seen, from.LastHeartbeat
}
