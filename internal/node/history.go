package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// ErrSuspended is returned while the store is suspended: it went back in time, and no operator has
// accepted that.
var ErrSuspended = errors.New("the store went back in time (a restored backup, or a failover that lost commits): confirm with `hourbell nodes accept-history`")

// history contains the store's position as this node has seen it, and decides whether the store
// went back in time. It is safe for concurrent use.
//
//	state      suspended  failures             the node
//	trusted    false      = failuresChecked    claims and fires
//	unchecked  false      > failuresChecked    waits for a heartbeat, because a failover may have lost commits
//	suspended  true       any                  neither claims nor fires
//
//	from       event                                                              to
//	trusted    an operation on the store failed: storeFailed                      unchecked
//	unchecked  a heartbeat sent after the failure shows a position not behind     trusted
//	any        an answer shows a position behind one that was known before the    suspended
//	           call, or that another node reported such a loss: learn
//	suspended  an answer shows that an operator accepted the loss: learn          trusted
//
// When the node is suspended, it loses its lease, so that its jobs end, and registers under a new
// number, because the store may give its old number to another node. When the suspension ends, it
// registers under another one, because a restore that was not complete may have overwritten the
// registration.
type history struct {
	mu sync.Mutex
	// seen contains the greatest numbers that this process has seen, or an earlier process, as read
	// from the state file.
	seen          store.Position
	lastHeartbeat int64 // number of the last confirmed heartbeat of the present registration
	stateFileRead bool  // the state file was read, if there is one

	// failures counts failed operations on the store; after each, a failover may have happened.
	// failuresChecked is how many of them a later heartbeat has shown to be harmless.
	failures, failuresChecked int

	suspended       bool
	reported        store.Position // the value of seen that was reported to the store; zero: none
	foundHere       bool           // this node found the loss, or that the store has no report of it; false: another node reported it
	suspensionCount int            // number of suspensions so far
	renumber        bool           // another node may have the node's number now
}

// knownBefore is what was known before a call was sent.
type knownBefore struct {
	seen          store.Position
	lastHeartbeat int64
	failures      int
}

func (h *history) known() knownBefore {
	h.mu.Lock()
	defer h.mu.Unlock()
	return knownBefore{h.seen, h.lastHeartbeat, h.failures}
}

// blocked reports whether claiming and firing have to wait: the state is unchecked or suspended, or the node has no number of its
// own now.
func (h *history) blocked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.suspended || h.renumber || h.failures > h.failuresChecked
}

// storeFailed records a failed operation on the store.
func (h *history) storeFailed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures++
}

// tokenSeen records a token. Every answer to a call that is sent from now on contains at least this
// token.
func (h *history) tokenSeen(token int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen.Token = max(h.seen.Token, token)
}

// suspensions returns the number of suspensions of this node.
func (h *history) suspensions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.suspensionCount
}

// mustRenumber reports whether the node has to register under a new number.
func (h *history) mustRenumber() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.renumber
}

// registered records that the node has a new number.
func (h *history) registered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastHeartbeat, h.renumber = 0, false
}

// goneBack returns how a position is behind one that was seen before the call that returned it;
// empty: it is not behind.
func goneBack(now, seen store.Position) string {
	switch {
	case now.Store != seen.Store: // positions of two stores cannot be compared
		return ""
	case now.Accepted < seen.Accepted:
		return fmt.Sprintf("its count of accepted losses of history is %d, and was %d before", now.Accepted, seen.Accepted)
	case now.Token < seen.Token:
		return fmt.Sprintf("its last token is %d, and this node has seen %d", now.Token, seen.Token)
	case now.Node < seen.Node:
		return fmt.Sprintf("its last node had the number %d, and this node has seen %d", now.Node, seen.Node)
	}
	return ""
}

// furthest returns the greatest numbers of two positions of one store, and b for positions of two
// stores.
func furthest(a, b store.Position) store.Position {
	if a.Store == b.Store {
		b.Token, b.Node, b.Accepted = max(a.Token, b.Token), max(a.Node, b.Node), max(a.Accepted, b.Accepted)
	}
	b.LostAt = time.Time{}
	return b
}

// historyFinding is what an answer of the store shows about its history.
type historyFinding struct {
	loss   string // how the store went back in time; empty: it did not
	began  bool   // the suspension begins with this answer
	report bool   // the loss has to be reported to the store
	ended  bool   // the suspension ends with this answer
	seen   store.Position
}

// learn compares a position with what was known before the call that returned it. why is another
// reason to conclude that the store went back in time, or empty.
func (h *history) learn(before knownBefore, now store.Position, why string) historyFinding {
	h.mu.Lock()
	defer h.mu.Unlock()
	if why == "" {
		why = goneBack(now, before.seen)
	}
	f := historyFinding{loss: why}
	switch {
	case why != "":
		h.foundHere = true
	case now.Suspended():
		f.loss = "another node reported it"
	case h.suspended && now.Store == h.seen.Store && now.Accepted <= h.seen.Accepted: // no report reached the store, or the restore overwrote it
		h.foundHere = true
	default:
		f.ended = h.suspended
		h.renumber = h.renumber || f.ended
		h.suspended, h.foundHere, h.reported = false, false, store.Position{}
		h.seen = furthest(h.seen, now)
		h.failuresChecked = max(h.failuresChecked, before.failures)
		return f
	}
	if !h.suspended {
		f.began, h.suspended, h.renumber = true, true, true
		h.suspensionCount++
	}
	if h.seen.Store == "" {
		h.seen.Store = now.Store
	}
	if h.seen.Store == now.Store { // an acceptance that comes next has a greater number, also after a restore of this one
		h.seen.Accepted = max(h.seen.Accepted, now.Accepted)
	}
	f.seen = h.seen
	f.report = h.foundHere && (!now.Suspended() || h.reported != h.seen)
	return f
}

// reportAccepted records that the store has the report with seen.
func (h *history) reportAccepted(seen store.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reported = seen
}

// heartbeatConfirmed records a confirmed heartbeat. It returns why the number of the heartbeat
// shows that the store went back in time; empty: it does not show that.
func (h *history) heartbeatConfirmed(before knownBefore, beat int64) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastHeartbeat = max(h.lastHeartbeat, beat)
	if beat <= before.lastHeartbeat {
		return fmt.Sprintf("the count of heartbeats in this node's row is %d, and %d was confirmed", beat, before.lastHeartbeat)
	}
	return ""
}

// storeFailed records a failed operation on the store. After a failover, the store may be another
// server without all commits of the former server. So the next call is a heartbeat, and claims wait
// for its answer.
func (n *Node) storeFailed(what string, err error) {
	if errors.Is(err, store.ErrRejected) {
		return
	}
	n.history.storeFailed()
	if what != "heartbeat" && what != "register" { // these are repeated soon in any case
		n.heartbeatNow.Notify()
	}
}

// checkHistory evaluates the position in an answer of the store: it suspends the node if the store
// went back in time, and ends the suspension if that was accepted. It must not be called
// concurrently.
func (n *Node) checkHistory(ctx context.Context, before knownBefore, now store.Position, why string) {
	f := n.history.learn(before, now, why)
	if f.began {
		n.report.Emit(event.Event{Kind: event.HistoryLost, Count: int64(n.cfg.Claims.Len()), Detail: f.loss})
		n.loseLease("the store went back in time")
	}
	if f.report {
		_, err := n.cfg.Store.ReportLoss(ctx, store.ReportLossRequest{Accepted: now.Accepted, Seen: f.seen})
		if err != nil {
			n.report.StoreFailed("report a loss of history", err)
			return
		}
		n.report.StoreWorks("report a loss of history")
		n.history.reportAccepted(f.seen)
	}
	if f.ended {
		n.expiry.clear()
		n.report.Emit(event.Event{Kind: event.HistoryAccepted, Detail: fmt.Sprintf("tokens go on above %d", now.Token)})
		n.cfg.Wakes.Wake(store.Wake{})
	}
}

// CheckHistory returns an error that wraps ErrSuspended if no slot of a store may fire, because the
// store went back in time and no operator has accepted that. The store's own record and the state
// file in stateDir show it ("": no state file).
func CheckHistory(ctx context.Context, backend store.Listings, stateDir string) error {
	now, err := store.ReadPosition(ctx, backend)
	if err != nil {
		return err
	}
	if now.Suspended() {
		return fmt.Errorf("%w (a node reported it at %s)", ErrSuspended, now.LostAt.Format(time.RFC3339))
	}
	if stateDir == "" {
		return nil
	}
	seen, err := readSeen(stateDir, now.Store)
	if err != nil {
		return nil //nolint:nilerr // a running node logs a state file that cannot be read; it prevents nothing
	}
	if loss := goneBack(now, seen); loss != "" {
		return fmt.Errorf("%w: %s", ErrSuspended, loss)
	}
	return nil
}
