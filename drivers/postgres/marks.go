package postgres

import (
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hourbell/hourbell/store"
)

// priorities is how many there are; the first is 1.
const priorities = store.LastPriority - store.FirstPriority + 1

// mark is a place in the index job_ready, within one queue and priority. The
// zero mark lies before everything.
type mark struct {
	runAt time.Time
	id    int64
}

// marks are low-water marks: one a priority.
type marks [priorities]mark

// scan remembers, for one node and queue, up to where its claims have found
// everything that was due. A claim begins there, not at the head of the index,
// which is where the entries of jobs lie that have ended but that cannot be
// removed yet: because a claim of a moment ago still sees them, or a report that
// runs for an hour.
//
// A mark is a hint. What is due is decided by a job's row alone, and a sweep, a
// claim without marks, comes by the clock whether or not claims find something:
// so a job that appears behind a mark (by a late commit, a rollback, a priority
// that was changed) waits for one sweep at most. Where much lies dead, and a sweep
// would hold up the claims, a look behind the marks takes its place: it is made
// beside the claims, and what it finds is where the next one begins.
//
// It is safe for concurrent use.
type scan struct {
	mu    sync.Mutex
	low   marks
	swept time.Time // when the last sweep ended, on this process's monotonic clock
	// costs are how much longer the last sweeps took than claims with marks. The
	// least of them counts: the machine may have been busy with something else.
	costs [3]time.Duration
	usual usual
	// compared says that there was a claim with marks since the last sweep.
	compared bool

	lookingSince time.Time // zero: no look is under way
	// behind is where the last look found something that no claim has begun at yet.
	// clear says that it found nothing, and no claim did since.
	behind map[int16]mark
	clear  bool
}

// step is what is to be done beside a claim with marks, or in its stead.
type step int

const (
	nothing step = iota
	sweep        // claim without marks
	look         // look behind the marks meanwhile
)

// usual is the last claim with marks: what it found, and how long it took.
type usual struct {
	jobs int
	took time.Duration
}

const (
	// sweepShare bounds what sweeps cost: one part in so many.
	sweepShare = 20
	// sweepRest is the least time between sweeps. While nothing lies dead they
	// cost what other claims cost.
	sweepRest = 5 * time.Millisecond
	// cheapSweep is a sweep that is made at once where a claim with marks finds
	// nothing.
	cheapSweep = time.Millisecond
	// guessedClaim is what claiming one job of a batch takes, roughly.
	guessedClaim = 10 * time.Microsecond
	// slack is how far behind the clock marks stay, since transactions commit
	// out of the order in which they began.
	slack = 20 * time.Millisecond
)

// begin returns where a claim is to begin: at the marks, or, as a sweep, before
// everything. Between two sweeps in short succession there is a claim with marks,
// to compare them with.
func (s *scan) begin() (from marks, next step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest() <= 0 && s.lookingSince.IsZero() && (s.compared || time.Since(s.swept) > sweepShare*sweepRest) {
		if s.cost() <= cheapSweep {
			return marks{}, sweep
		}
		s.lookingSince, next = time.Now(), look
	}
	from = s.low
	for priority, at := range s.behind {
		if p := &from[priority-store.FirstPriority]; p.after(at) {
			*p = mark{runAt: at.runAt, id: at.id - 1}
		}
	}
	s.behind = nil
	return from, next
}

// looked learns from a look behind the marks: the first job that it found of each
// priority, and how long it took.
func (s *scan) looked(behind map[int16]mark, took time.Duration, ok bool) {
	s.sweptIn(0, took)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookingSince = time.Time{}
	if ok {
		s.behind, s.clear = behind, len(behind) == 0
	}
}

// rest is how long it is to the next sweep. The caller holds mu.
func (s *scan) rest() time.Duration {
	if s.swept.IsZero() {
		return 0
	}
	return max(sweepRest, sweepShare*s.cost()) - time.Since(s.swept)
}

// cost is what a sweep costs. The caller holds mu.
func (s *scan) cost() time.Duration { return slices.Min(s.costs[:]) }

// again says after how long another claim is to follow one with marks that got
// less than it asked for. 0: a sweep at once, for it found nothing and sweeps are
// cheap; or, over, none, for nothing lies behind the marks.
func (s *scan) again(jobs int) (wait time.Duration, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.clear:
		return 0, true
	case !s.lookingSince.IsZero():
		return max(s.cost()-time.Since(s.lookingSince), time.Millisecond), false
	case jobs == 0 && s.cost() <= cheapSweep:
		return 0, false
	}
	return max(s.rest(), time.Millisecond), false
}

// found learns from a committed claim: its jobs in their order, whether it got
// as many as it asked for, and the store's clock.
func (s *scan) found(jobs []store.Claimed, full bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear = s.clear && len(jobs) == 0
	horizon := now.Add(-slack)
	last := int16(store.LastPriority + 1) // where the claim stopped
	if full {
		last = jobs[len(jobs)-1].Priority
	}
	for p := range last - store.FirstPriority {
		s.low[p].raise(mark{runAt: horizon})
	}
	for i, job := range jobs {
		if i+1 < len(jobs) && jobs[i+1].Priority == job.Priority {
			continue
		}
		at := mark{runAt: job.RunAt, id: job.ID}
		if at.runAt.After(horizon) {
			at = mark{runAt: horizon}
		}
		if p := &s.low[job.Priority-store.FirstPriority]; job.Priority == last {
			*p = at // it may have fallen: what a sweep found behind it goes on from here
		} else {
			p.raise(at)
		}
	}
}

// used notes how long a claim with marks took.
func (s *scan) used(jobs int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usual, s.compared = usual{jobs: jobs, took: took}, true
}

// sweptIn notes how long a sweep took. What a claim with marks takes for as many
// jobs is no cost.
func (s *scan) sweptIn(jobs int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	expected := cheapSweep + time.Duration(jobs)*guessedClaim
	if s.usual.jobs > 0 {
		expected = min(expected, max(cheapSweep, s.usual.took*time.Duration(jobs)/time.Duration(s.usual.jobs)))
	}
	cost := max(took-expected, 0)
	if s.swept.IsZero() {
		s.costs = [...]time.Duration{cost, cost, cost}
	}
	s.swept, s.compared = time.Now(), false
	s.costs = [...]time.Duration{s.costs[1], s.costs[2], cost}
}

// raise moves a mark forward, never back.
func (m *mark) raise(to mark) {
	if to.after(*m) {
		*m = to
	}
}

// after says whether m lies behind other in the order of the index.
func (m mark) after(other mark) bool {
	return m.runAt.After(other.runAt) || m.runAt.Equal(other.runAt) && m.id > other.id
}

// columns are the marks as arguments, in the order of the priorities.
func (m marks) columns() (runAt []pgtype.Timestamptz, id []int64) {
	for _, at := range m {
		t := pgtype.Timestamptz{Time: at.runAt, Valid: true}
		if at.runAt.IsZero() {
			t = pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
		}
		runAt, id = append(runAt, t), append(id, at.id)
	}
	return runAt, id
}

// scans are those of the nodes of this process. It is safe for concurrent use.
type scans struct {
	mu  sync.Mutex
	all map[scanKey]*scan
}

type scanKey struct {
	node  int64
	queue string
}

// of returns a node's scan of a queue, a new one at first.
func (s *scans) of(node int64, queue string) *scan {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := scanKey{node, queue}
	if s.all[key] == nil {
		if s.all == nil {
			s.all = map[scanKey]*scan{}
		}
		s.all[key] = &scan{}
	}
	return s.all[key]
}

// forget drops the scans of a node that is gone.
func (s *scans) forget(node int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.all {
		if key.node == node {
			delete(s.all, key)
		}
	}
}
