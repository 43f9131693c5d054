package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// ErrSuspended: the store went back in time, and no operator has accepted it yet.
var ErrSuspended = errors.New("the store went back in time (a restored backup, or a failover that lost commits): confirm with `hourbell nodes accept-history`")

// history is what this node has seen of how far the store has come. While the
// store is behind that, or another node says so, the node neither claims nor fires. It is
// safe for concurrent use.
type history struct {
	mu sync.Mutex
	// seen are the greatest numbers that were seen, by this process or, as its state
	// file says, by one before.
	seen          store.Position
	lastHeartbeat int64 // the last heartbeat of the present number that was confirmed
	stateFileRead bool  // the state file was read

	// doubts counts failures of the store: behind each may be a failover. settled is how
	// many of them a heartbeat has followed.
	failures, failuresChecked int

	suspended       bool
	accepted        int64          // of the store's position when the suspension began
	reported        store.Position // what the store knows of seen; zero: nothing
	foundHere       bool           // this node found the loss; else another one reported it
	suspensionCount int            // suspensions so far
	renumber        bool           // the node's number may be another node's now
}

// glance is what was known before a call was sent.
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

// closed reports whether claiming and firing have to wait: the store went back in
// time, or it failed and no heartbeat has shown since that it did not.
func (h *history) blocked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.suspended || h.failures > h.failuresChecked
}

// doubt records a failure of the store.
func (h *history) storeFailed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures++
}

// claimed records a token. The store's own last value is not behind it in any answer
// to a call that is sent from now on.
func (h *history) tokenSeen(token int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen.Token = max(h.seen.Token, token)
}

// suspensions counts the losses of history that this node has met.
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

// registered records a new number.
func (h *history) registered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastHeartbeat, h.renumber = 0, false
}

// goneBack says in which way a position is behind one that was seen before it was
// asked for, or is empty.
func goneBack(now, seen store.Position) string {
	switch {
	case now.Store != seen.Store: // numbers of two stores cannot be compared
		return ""
	case now.Accepted < seen.Accepted:
		return fmt.Sprintf("it has accepted %d losses of history, and %d were accepted before", now.Accepted, seen.Accepted)
	case now.Token < seen.Token:
		return fmt.Sprintf("its last token is %d, and this node has seen %d", now.Token, seen.Token)
	case now.Node < seen.Node:
		return fmt.Sprintf("its last node had the number %d, and this node has seen %d", now.Node, seen.Node)
	}
	return ""
}

// furthest are the greatest numbers of two positions of one store; of two stores it
// is the second.
func furthest(a, b store.Position) store.Position {
	if a.Store == b.Store {
		b.Token, b.Node, b.Accepted = max(a.Token, b.Token), max(a.Node, b.Node), max(a.Accepted, b.Accepted)
	}
	b.LostAt = time.Time{}
	return b
}

// finding is what an answer of the store says about its history.
type historyFinding struct {
	loss   string // in which way the store went back; empty: it did not
	began  bool   // the suspension begins with this
	report bool   // the store has to be told
	ended  bool   // the suspension ends with this
	seen   store.Position
}

// learn compares a position with what was known before it was asked for; why is
// another reason to believe that the store went back, or empty.
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
	case h.suspended && h.foundHere && h.reported == store.Position{} && now.Accepted <= h.accepted: // the report did not get through
	case now.Suspended():
		f.loss = "another node reported it"
	default:
		f.ended = h.suspended
		h.suspended, h.foundHere, h.reported = false, false, store.Position{}
		h.seen = furthest(h.seen, now)
		h.failuresChecked = max(h.failuresChecked, before.failures)
		return f
	}
	if !h.suspended {
		f.began, h.renumber = true, true
		h.suspended, h.accepted = true, now.Accepted
		h.suspensionCount++
	}
	f.seen = h.seen
	f.report = h.foundHere && (!now.Suspended() || h.reported != h.seen)
	return f
}

// told records what the store knows now.
func (h *history) reportAccepted(seen store.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reported = seen
}

// beaten records a heartbeat that was confirmed, and says why it shows that the store
// went back, or is empty.
func (h *history) heartbeatConfirmed(before knownBefore, beat int64) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastHeartbeat = max(h.lastHeartbeat, beat)
	if beat <= before.lastHeartbeat {
		return fmt.Sprintf("this node's row counts %d heartbeats, and %d were confirmed", beat, before.lastHeartbeat)
	}
	return ""
}

// mistrust records a failure of the store. What answers after it may be another
// server, which has not got all of what this one committed: so the next thing that
// is asked is a heartbeat, and claims wait for it.
func (e *Engine) storeFailed(what string, err error) {
	if errors.Is(err, store.ErrRejected) {
		return
	}
	e.history.storeFailed()
	if what != "heartbeat" && what != "register" { // these are sent again by themselves
		e.heartbeatNow.notify()
	}
}

// observe draws the consequences of an answer of the store: it suspends the node
// where the store went back in time, and resumes when that was accepted. It must
// not be called from several goroutines at once.
func (e *Engine) checkHistory(ctx context.Context, before knownBefore, now store.Position, why string) {
	f := e.history.learn(before, now, why)
	if f.began {
		e.emit(event.Event{Kind: event.HistoryLost, Count: int64(e.inFlight.len()), Detail: f.loss})
		e.loseLease("the store went back in time")
	}
	if f.report {
		_, err := e.cfg.Backend.ReportLoss(ctx, store.ReportLossRequest{Accepted: now.Accepted, Seen: f.seen})
		if err != nil {
			e.storeErrors.add("report a loss of history", err)
			return
		}
		e.storeErrors.clear("report a loss of history")
		e.history.reportAccepted(f.seen)
	}
	if f.ended {
		e.expiry.clear()
		e.emit(event.Event{Kind: event.HistoryAccepted, Detail: fmt.Sprintf("tokens go on above %d", now.Token)})
		e.wakes.wake(store.Wake{})
	}
}

// CheckHistory returns an error that wraps ErrSuspended if no slot of a store may
// fire: the store went back in time, by its own record or by the state file in a folder
// ("": there is none), and no operator has accepted that.
func CheckHistory(ctx context.Context, backend store.History, stateDir string) error {
	now, err := backend.Position(ctx)
	if err != nil {
		return err
	}
	if now.Suspended() {
		return fmt.Errorf("%w (a node reported it at %s)", ErrSuspended, now.LostAt.Format(time.RFC3339))
	}
	if stateDir == "" {
		return nil
	}
	seen, err := ReadSeen(stateDir, now.Store)
	if err != nil {
		return nil //nolint:nilerr // a file that cannot be read is told by the node, and stops nothing
	}
	if loss := goneBack(now, seen); loss != "" {
		return fmt.Errorf("%w: %s", ErrSuspended, loss)
	}
	return nil
}
