package work

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// solo lets one suspect at a time run alone on the node. A suspect is a job that was lost several
// times in a row, so that it may have ended its nodes (see store.SuspectLosses). solo is safe for
// concurrent use.
//
//	state     looking  opened   what happens
//	open      false    nil      all fetchers claim jobs
//	looking   true     nil      one fetcher claims a suspect; the other fetchers claim jobs
//	emptying  true     not nil  no claims; the suspect waits until no other job is in flight
//	alone     true     not nil  no claims; the suspect runs
//
//	from      event                                               to
//	open      startLooking, at most once per heartbeat and queue  looking
//	looking   the queue has no suspect                            open
//	looking   the claim returned a suspect: close                 emptying
//	emptying  no other job is in flight: begin                    alone
//	emptying  Config.Alone has passed: the suspect is released    open, paused
//	emptying  begin failed: the suspect is released               open
//	alone     the suspect ended, or Config.Alone has passed       open
//
// While solo is paused, only a node without jobs in flight looks for suspects. While a suspect runs
// on after Config.Alone, the node looks for no other suspect.
type solo struct {
	mu          sync.Mutex
	looking     bool          // a fetcher looks for a suspect or has claimed a suspect
	opened      chan struct{} // closed by open; nil: fetchers may claim jobs
	claims      int           // claims in progress, including the statements that let their jobs begin
	pausedUntil loop.Instant  // until then, only a node without jobs in flight looks for suspects
	suspect     *Run          // the last suspect
}

// beginClaim reports whether a claim may be sent: no suspect has the node. If it may, endClaim has
// to be called after it.
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

// closed returns a channel that open closes; nil: fetchers may claim jobs.
func (s *solo) closed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		return nil
	}
	return s.opened
}

// startLooking reports whether the caller may look for a suspect: no other fetcher does, the last
// suspect has ended, and solo is not paused or no job is in flight.
func (s *solo) startLooking(inFlight int, now loop.Instant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looking || inFlight > 0 && now < s.pausedUntil || s.suspect != nil && !s.suspect.delivered.Load() {
		return false
	}
	s.looking = true
	return true
}

// close stops the claims of all fetchers for suspect, until open is called.
func (s *solo) close(suspect *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened, s.suspect = make(chan struct{}), suspect
}

// noClaims reports whether no claim is in progress.
func (s *solo) noClaims() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claims == 0
}

// open lets fetchers claim again, and pauses solo until rest; 0: no pause.
func (s *solo) open(rest loop.Instant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looking, s.pausedUntil = false, rest
	if s.opened != nil {
		close(s.opened)
		s.opened = nil
	}
}

const (
	soloCheckInterval = 5 * time.Millisecond // interval at which waitAlone checks its condition
	// soloPauseFactor times Config.Alone is the pause after the node did not become empty in time.
	soloPauseFactor = 10
)

// runSuspect claims a suspect of the queue, at most once per heartbeat, unless the last claim found that
// there is none, runs it alone on the node, and reports whether there was a suspect. The suspect begins when no other job of the node is in
// flight, or is released. The node claims no other job until the suspect has ended or Config.Alone
// has passed.
func (f *fetcher) runSuspect(ctx context.Context) bool {
	r, now := f.runner, loop.Now()
	if r.cfg.Travel != nil {
		return f.runSuspectAmongOthers(ctx)
	}
	if f.noSuspects || now.Sub(f.suspectsReadAt) < r.cfg.Heartbeat {
		return false
	}
	f.suspectsReadAt = now
	f.permits.ask(ctx, f, 1)
	if f.permits.reserve(f, 1) == 0 {
		return false
	}
	defer f.permits.release(f)
	if !r.solo.startLooking(r.inFlight.Len(), now) {
		return false
	}
	rest := loop.Instant(0)
	defer func() { r.solo.open(rest) }()
	suspect := f.claimSuspect(ctx)
	if suspect == nil {
		return false
	}
	run := suspect[0]
	run.beginBy = 0 // it begins when the node is empty
	f.permits.release(f)
	r.solo.close(run)
	empty := func() bool { return r.solo.noClaims() && r.inFlight.Len() <= 1 }
	if !f.waitAlone(ctx, empty) {
		rest = loop.Now().Add(soloPauseFactor * r.cfg.Alone)
		f.releaseRuns(suspect, "it has to run alone, and other jobs of its node did not end in time")
		return true
	}
	if f.startSuspect(ctx, suspect) {
		f.waitAlone(ctx, run.delivered.Load)
	}
	return true
}

// runSuspectAmongOthers claims a suspect of the queue by the clock of a test, and starts it, and reports whether there was one. The clock
// stands still while jobs run, so that a suspect alone might keep the node from all other jobs for ever.
func (f *fetcher) runSuspectAmongOthers(ctx context.Context) bool {
	if f.noSuspects || f.full() {
		return false
	}
	f.permits.ask(ctx, f, 1)
	if f.permits.reserve(f, 1) == 0 {
		return false
	}
	defer f.permits.release(f)
	suspect := f.claimSuspect(ctx)
	if suspect == nil {
		return false
	}
	suspect[0].beginBy = 0
	f.startSuspect(ctx, suspect)
	return true
}

// claimSuspect claims a suspect of the queue, and returns its run; nil: there is none.
func (f *fetcher) claimSuspect(ctx context.Context) []*Run {
	res, session, err := f.ask(ctx, store.ClaimRequest{Limit: 1, Ahead: 1, Suspects: true}, nil)
	if err != nil || len(res.Jobs) == 0 {
		return nil
	}
	return slices.Clone(f.addRuns(session, res)) // a copy, because inFlight changes the list that it was given
}

// startSuspect starts a suspect, and reports whether it could begin; if not, it is released.
func (f *fetcher) startSuspect(ctx context.Context, suspect []*Run) bool {
	if suspect[0].starts == nil && !f.begin(ctx, suspect) {
		f.releaseRuns(suspect, "it could not begin in time")
		return false
	}
	f.start(suspect)
	return true
}

// waitAlone waits until come returns true, but not longer than Config.Alone, and reports whether
// come returned true.
func (f *fetcher) waitAlone(ctx context.Context, come func() bool) bool {
	for began := loop.Now(); began.Elapsed() < f.runner.cfg.Alone; {
		if come() {
			return true
		}
		if f.prefetchIsStale() {
			f.releaseUnstarted(notInTime)
		}
		if loop.Sleep(ctx, soloCheckInterval) != nil {
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
