package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// solo lets one suspect at a time have the node for itself: a job that was lost
// several times in a row, and may be what ended its nodes (see store.SuspectLosses).
// While it is closed nothing is claimed but the suspect. It is safe for concurrent use.
type solo struct {
	mu          sync.Mutex
	looking     bool          // a fetcher looks for a suspect, or has one
	opened      chan struct{} // closed when the node fills up again; nil: it is open
	claims      int           // under way, with the statements by which their jobs begin
	pausedUntil instant       // until then only an empty node looks for suspects
	suspect     *Run          // the last suspect; while it runs no other is looked for
}

// enter begins a claim, unless a suspect has the node. leave ends it.
func (s *solo) beginClaim() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != nil {
		return false
	}
	s.claims++
	return true
}

func (s *solo) endClaim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims--
}

// closed returns what ends when the node fills up again; nil: it is open.
func (s *solo) closed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		return nil
	}
	return s.opened
}

// take gives the caller the right to look for a suspect, unless another has it, the
// last suspect runs on, or the node rests and is not empty: held is what it has in hand.
func (s *solo) startLooking(inFlight int, now instant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looking || inFlight > 0 && now < s.pausedUntil || s.suspect != nil && !s.suspect.delivered.Load() {
		return false
	}
	s.looking = true
	return true
}

// shut keeps others from claiming, for the sake of a suspect, until give.
func (s *solo) close(suspect *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened, s.suspect = make(chan struct{}), suspect
}

// quiet reports whether no claim is under way.
func (s *solo) noClaims() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claims == 0
}

// give opens the node again. With a rest, no suspect empties it until then.
func (s *solo) open(rest instant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looking, s.pausedUntil = false, rest
	if s.opened != nil {
		close(s.opened)
		s.opened = nil
	}
}

const (
	soloCheckInterval = 5 * time.Millisecond // how often a node that is to be empty is looked at
	// soloRest is how many times Config.Alone a node that did not get empty in time
	// rests before it is emptied again.
	soloPauseFactor = 10
)

// suspectsTurn looks once in a heartbeat for a suspect of the queue, gives it the node
// for itself, and reports whether there was one. The suspect begins when nothing else
// of its node has begun, or not at all; it has the node for itself until it ends or
// has lived for Config.Alone.
func (f *fetcher) runSuspect(ctx context.Context) bool {
	e, now := f.engine, monotonic()
	if now.sub(f.suspectsReadAt) < e.cfg.Heartbeat {
		return false
	}
	f.suspectsReadAt = now
	if !e.solo.startLooking(e.inFlight.len(), now) {
		return false
	}
	rest := instant(0)
	defer func() { e.solo.open(rest) }()
	res, session, err := f.ask(ctx, store.ClaimRequest{Limit: 1, Ahead: 1, Suspects: true})
	if err != nil || len(res.Jobs) == 0 {
		return false
	}
	suspect := slices.Clone(f.addRuns(session, res)) // held changes its own list
	run := suspect[0]
	e.solo.close(run)
	empty := func() bool { return e.solo.noClaims() && e.inFlight.len() <= 1 }
	if !f.waitAlone(ctx, empty) {
		rest = monotonic().add(soloPauseFactor * e.cfg.Alone)
		f.releaseRuns(suspect, "it has to begin alone, and other jobs ran on its node")
		return true
	}
	if !f.begin(ctx, res.Batch, suspect) {
		f.releaseRuns(suspect, "it could not begin in time")
		return true
	}
	f.start(suspect)
	f.waitAlone(ctx, run.delivered.Load)
	return true
}

// waitAlone waits for something while the node is shut, for Config.Alone at most, and
// reports whether it came about.
func (f *fetcher) waitAlone(ctx context.Context, come func() bool) bool {
	for began := monotonic(); began.elapsed() < f.engine.cfg.Alone; {
		if come() {
			return true
		}
		if f.prefetchIsStale() {
			f.releaseUnstarted()
		}
		if sleep(ctx, soloCheckInterval) != nil {
			return false
		}
	}
	return come()
}

// awaitOpening waits while a suspect has the node.
func (f *fetcher) awaitOpening(ctx context.Context, opened <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-f.stalePrefetchTimer():
	case <-opened:
	}
}
