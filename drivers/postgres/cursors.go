package postgres

import (
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hourbell/hourbell/store"
)

// priorities is the number of priorities; the first is 1.
const priorities = store.LastPriority - store.FirstPriority + 1

// cursor is a position in the index job_ready, within one queue and priority.
// The zero cursor is before every position.
type cursor struct {
	runAt time.Time
	id    int64
}

// cursors are low-water cursors, one per priority.
type cursors [priorities]cursor

// claimScan remembers, for one node and queue, the positions up to which claims
// have found every due job. A claim begins there and not at the head of the
// index, because the head is full of entries of jobs that have ended but that
// cannot be removed yet: a recent claim, or a report that runs for an hour, can
// still see them.
//
// A cursor is a hint. Whether a job is due is decided by its row alone, and full
// scans, which are claims that ignore the cursors, come by the clock whether or
// not claims find jobs. A job that appears behind a cursor (by a late commit, a
// rollback or a changed priority) therefore waits for at most one full scan.
// Where the index has many dead entries, so that a full scan would delay claims,
// a catch-up scan replaces it: it reads behind the cursors concurrently with the
// claims, and the next claim begins at what it found.
//
//	state            | event                                       | next state
//	-----------------+---------------------------------------------+-------------------
//	at the cursors   | a full scan is due and full scans are cheap | full scan
//	                 | a full scan is due and they are expensive   | catching up
//	                 | a claim finds no job, full scans are cheap  | full scan, at once
//	full scan        | it ends; its cost sets when the next is due | at the cursors
//	catching up      | the scan finds jobs                         | behind
//	(claims go on    | the scan finds none                         | clear
//	at the cursors)  | the scan fails                              | at the cursors
//	behind           | the next claim begins at these jobs         | at the cursors
//	clear            | a claim finds a job                         | at the cursors
//
// In state clear, claims that find too few jobs are not repeated. In state
// behind and in state clear, full scans and catch-up scans are due as they are at
// the cursors.
//
// It is safe for concurrent use.
type claimScan struct {
	mu  sync.Mutex
	low cursors
	// scanned is when the last full or catch-up scan ended, on this process's
	// monotonic clock.
	scanned time.Time
	// costs are how much longer the last full scans took than claims with cursors.
	// The least of them counts, because the machine may have been busy with
	// something else.
	costs [3]time.Duration
	usual usual
	// compared is true if there was a claim with cursors since the last full scan.
	compared bool

	catchingUpSince time.Time // zero: no catch-up scan is under way
	// behind is where the last catch-up scan found jobs, until a claim has begun there.
	behind map[int16]cursor
	// clear is true if the last catch-up scan found no job, and no claim did since.
	clear bool
}

// step is what is done in addition to a claim with cursors, or instead of it.
type step int

const (
	claimOnly   step = iota
	fullScan         // claim without cursors
	catchUpScan      // scan behind the cursors, concurrently with the claim
)

// usual is the last claim with cursors: how many jobs it found, and how long it took.
type usual struct {
	jobs int
	took time.Duration
}

const (
	// fullScanShare bounds the cost of full scans: at most 1/fullScanShare of the time.
	fullScanShare = 20
	// fullScanRest is the least time between full scans. While the index has no dead
	// entries, a full scan costs as much as any other claim.
	fullScanRest = 5 * time.Millisecond
	// cheapFullScan is the cost up to which a full scan follows at once when a
	// claim with cursors finds no job.
	cheapFullScan = time.Millisecond
	// guessedClaim is roughly how long it takes to claim one job of a batch.
	guessedClaim = 10 * time.Microsecond
	// slack is how far cursors stay behind the clock, because transactions do not
	// commit in the order in which they began.
	slack = 20 * time.Millisecond
)

// begin returns where a claim begins: at the cursors or, as a full scan, at the
// start. Between two full scans in short succession there is a claim with
// cursors, to compare them with.
func (s *claimScan) begin() (from cursors, next step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest() <= 0 && s.catchingUpSince.IsZero() && (s.compared || time.Since(s.scanned) > fullScanShare*fullScanRest) {
		if s.cost() <= cheapFullScan {
			return cursors{}, fullScan
		}
		s.catchingUpSince, next = time.Now(), catchUpScan
	}
	from = s.low
	for priority, at := range s.behind {
		if p := &from[priority-store.FirstPriority]; p.after(at) {
			*p = cursor{runAt: at.runAt, id: at.id - 1}
		}
	}
	s.behind = nil
	return from, next
}

// caughtUp records a catch-up scan: the first job that it found of each priority,
// how long it took, and whether it succeeded.
func (s *claimScan) caughtUp(behind map[int16]cursor, took time.Duration, ok bool) {
	s.recordFullScan(0, took)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchingUpSince = time.Time{}
	if ok {
		s.behind, s.clear = behind, len(behind) == 0
	}
}

// rest returns the time until the next full scan. The caller holds mu.
func (s *claimScan) rest() time.Duration {
	if s.scanned.IsZero() {
		return 0
	}
	return max(fullScanRest, fullScanShare*s.cost()) - time.Since(s.scanned)
}

// cost returns the cost of a full scan. The caller holds mu.
func (s *claimScan) cost() time.Duration { return slices.Min(s.costs[:]) }

// again returns the time after which a claim with cursors that got fewer jobs
// than it asked for is repeated. 0 means a full scan at once, because the claim
// found no job and full scans are cheap. With over, no claim is needed, because
// no job lies behind the cursors.
func (s *claimScan) again(jobs int) (wait time.Duration, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.clear:
		return 0, true
	case !s.catchingUpSince.IsZero():
		return max(s.cost()-time.Since(s.catchingUpSince), time.Millisecond), false
	case jobs == 0 && s.cost() <= cheapFullScan:
		return 0, false
	}
	return max(s.rest(), time.Millisecond), false
}

// found records a committed claim: its jobs in their order, whether it got as many
// as it asked for, and the store's clock.
func (s *claimScan) found(jobs []store.Claimed, full bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear = s.clear && len(jobs) == 0
	horizon := now.Add(-slack)
	last := int16(store.LastPriority + 1) // where the claim stopped
	if full {
		last = jobs[len(jobs)-1].Priority
	}
	for p := range last - store.FirstPriority {
		s.low[p].raise(cursor{runAt: horizon})
	}
	for i, job := range jobs {
		if i+1 < len(jobs) && jobs[i+1].Priority == job.Priority {
			continue
		}
		at := cursor{runAt: job.RunAt, id: job.ID}
		if at.runAt.After(horizon) {
			at = cursor{runAt: horizon}
		}
		if p := &s.low[job.Priority-store.FirstPriority]; job.Priority == last {
			*p = at // possibly moved back, because the next claim goes on from the jobs that a full scan found behind the cursor
		} else {
			p.raise(at)
		}
	}
}

// recordClaim records how long a claim with cursors took.
func (s *claimScan) recordClaim(jobs int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usual, s.compared = usual{jobs: jobs, took: took}, true
}

// recordFullScan records how long a full scan took. Its cost does not include the
// time that a claim with cursors takes for the same number of jobs.
func (s *claimScan) recordFullScan(jobs int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	expected := cheapFullScan + time.Duration(jobs)*guessedClaim
	if s.usual.jobs > 0 {
		expected = min(expected, max(cheapFullScan, s.usual.took*time.Duration(jobs)/time.Duration(s.usual.jobs)))
	}
	cost := max(took-expected, 0)
	if s.scanned.IsZero() {
		s.costs = [...]time.Duration{cost, cost, cost}
	}
	s.scanned, s.compared = time.Now(), false
	s.costs = [...]time.Duration{s.costs[1], s.costs[2], cost}
}

// raise moves a cursor forward, never back.
func (c *cursor) raise(to cursor) {
	if to.after(*c) {
		*c = to
	}
}

// after reports whether c comes after other in the order of the index.
func (c cursor) after(other cursor) bool {
	return c.runAt.After(other.runAt) || c.runAt.Equal(other.runAt) && c.id > other.id
}

// columns returns the cursors as arguments of a statement, in the order of the priorities.
func (c cursors) columns() (runAt []pgtype.Timestamptz, id []int64) {
	for _, at := range c {
		t := pgtype.Timestamptz{Time: at.runAt, Valid: true}
		if at.runAt.IsZero() {
			t = pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
		}
		runAt, id = append(runAt, t), append(id, at.id)
	}
	return runAt, id
}

// claimScans holds the scans of this process's nodes. It is safe for concurrent use.
type claimScans struct {
	mu  sync.Mutex
	all map[claimScanKey]*claimScan
}

type claimScanKey struct {
	node  int64
	queue string
}

// of returns a node's scan of a queue, and makes the scan if there is none.
func (s *claimScans) of(node int64, queue string) *claimScan {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := claimScanKey{node, queue}
	if s.all[key] == nil {
		if s.all == nil {
			s.all = map[claimScanKey]*claimScan{}
		}
		s.all[key] = &claimScan{}
	}
	return s.all[key]
}

// forget removes the scans of a node that is gone.
func (s *claimScans) forget(node int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.all {
		if key.node == node {
			delete(s.all, key)
		}
	}
}
