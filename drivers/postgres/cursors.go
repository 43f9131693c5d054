package postgres

import (
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
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
// not claims find jobs. A job that appears behind a cursor, by a late commit or a
// rollback, therefore waits for at most one full scan. (A job that gets another queue
// or priority is due from then on, so that it does not appear behind a cursor.)
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
// In state clear, claims that find too few jobs are not repeated for the sake of
// the next catch-up scan. In state behind and in state clear, full scans and
// catch-up scans are due as they are at the cursors.
//
// If full scans cost more than 50 ms, catch-up scans are rare. Most jobs behind a
// cursor are of transactions that were open for a short time, and lie at a short
// distance behind the clock. Recent scans find them: catch-up scans that read the
// last second, the last 4 seconds and so on, each at intervals of a quarter of
// its reach. See recentScan.
//
// Removing the cursors costs 31 % of BenchmarkDrainUnderSnapshot; removing the catch-up scans alone, so that
// each full scan is a claim, costs 14 % (medians of eleven alternating rounds), and lets some starts wait for 4 to
// 12 s instead of 0.7 s at 1,000 jobs a second with 500,000 dead entries.
//
// It is safe for concurrent use.
type claimScan struct {
	aged bool // of claims of aged jobs (store.ClaimRequest.DueFor), which have the same cursor in each priority
	mu   sync.Mutex
	low  cursors
	// scanned is when the last full or catch-up scan ended, on this process's
	// monotonic clock.
	scanned time.Time
	// costs are how much longer the last full scans took than claims with cursors.
	costs costs
	usual usual
	// compared is true if there was a claim with cursors since the last full scan.
	compared bool

	catchingUpSince time.Time // zero: no catch-up scan is under way
	// behind is where catch-up scans and recent scans found jobs, until a claim has
	// begun there.
	behind map[int16]cursor
	// clear is true if the last catch-up scan found no job, and no claim did since.
	clear bool

	pauses *rowwise.PauseMark // at the last claim that searched; nil: there was none

	now     time.Time // the store's clock at the last claim
	recents [recentScans]recentScan
	recent  int       // which recent scan is under way, if since is not zero
	since   time.Time // when it began, on this process's clock; zero: none is under way
}

// recentScan is the state of the recent scans of one reach.
type recentScan struct {
	began    time.Time // the last scan that read as far back, on this process's clock
	costs    costs
	measured bool // there are costs
}

// costs are what the last scans cost; zero before the first. The least cost counts,
// because the machine may have been busy with something else.
type costs [3]time.Duration

func (c *costs) least() time.Duration { return slices.Min(c[:]) }

// add records a cost. The first cost replaces all.
func (c *costs) add(cost time.Duration, first bool) {
	if first {
		*c = costs{cost, cost, cost}
	}
	*c = costs{c[1], c[2], cost}
}

// step is what is done in addition to a claim with cursors, or instead of it.
type step int

const (
	claimOnly   step = iota
	fullScan         // claim without cursors
	catchUpScan      // scan behind the cursors, concurrently with the claim
)

// behindScan is a scan behind the cursors: a recent scan, or a catch-up scan, which is
// number recentScans.
type behindScan struct {
	number int
	after  time.Time // of jobs with a later run_at, on the store's clock; zero: of all
}

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
	// slack is how far cursors stay behind the clock, because transactions do not
	// commit in the order in which they began.
	slack = 20 * time.Millisecond
	// recentScans is the number of reaches of recent scans.
	recentScans = 5
	// recentScanShare bounds the cost of the recent scans of each reach. All together
	// take at most 1/fullScanShare of the time.
	recentScanShare = fullScanShare * recentScans
	// recentRests is how many times a recent scan is made in the time that it
	// reaches back. A job that its transaction commits T after run_at is found by the
	// first recent scan that reaches back 4/3 T or farther, whenever that scan begins
	// in its interval.
	recentRests = 4
)

// reach is how far behind the store's clock a recent scan reads: 1, 4, 16, 64 and
// 256 seconds.
func reach(number int) time.Duration { return time.Second << (2 * number) }

// begin returns where a claim begins: at the cursors or, as a full scan, at the
// start; and, in step catchUpScan, what is scanned concurrently. Between two full
// scans in short succession there is a claim with cursors, to compare them with.
func (s *claimScan) begin() (from cursors, next step, behind behindScan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest() <= 0 && s.catchingUpSince.IsZero() && (s.compared || time.Since(s.scanned) > fullScanShare*fullScanRest) {
		if s.cost() <= cheapFullScan {
			return cursors{}, fullScan, behindScan{}
		}
		s.catchingUpSince, next, behind = time.Now(), catchUpScan, behindScan{number: recentScans}
	} else if number, ok := s.recentDue(); ok {
		s.recent, s.since, next, behind = number, time.Now(), catchUpScan, behindScan{number, s.now.Add(-reach(number))}
		s.reached(number, s.since)
	}
	from = s.low
	for priority, at := range s.behind {
		if p := &from[priority-store.FirstPriority]; p.after(at) {
			*p = cursor{runAt: at.runAt, id: at.id - 1}
		}
	}
	s.behind = nil
	return from, next, behind
}

// caughtUp records a catch-up scan or a recent scan: the first job that it found of
// each priority, how long it took in the database, and whether it succeeded. A scan
// that took no time got no connection: the known costs stay, and the next scan is due
// after them.
func (s *claimScan) caughtUp(scan behindScan, found map[int16]cursor, took time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if scan.number == recentScans {
		if took > 0 {
			s.addFullScan(0, took)
		} else {
			s.scanned = time.Now()
		}
		s.catchingUpSince = time.Time{}
		s.clear = s.clear || ok
	} else {
		if recent := &s.recents[scan.number]; took > 0 {
			recent.costs.add(max(took-cheapFullScan, 0), !recent.measured)
			recent.measured = true
		}
		s.since = time.Time{}
	}
	for priority, at := range found {
		if other, known := s.behind[priority]; !known || other.after(at) {
			if s.behind == nil {
				s.behind = map[int16]cursor{}
			}
			s.behind[priority] = at
		}
	}
	s.clear = s.clear && len(s.behind) == 0
}

// recentDue returns the recent scan that is due and reaches farthest. No recent scan
// is due while another is under way, and none while catch-up scans are frequent. The
// caller holds mu.
func (s *claimScan) recentDue() (number int, ok bool) {
	if !s.since.IsZero() || !s.rare() {
		return 0, false
	}
	for number := recentScans - 1; number >= 0; number-- {
		if s.within(number) && s.recentRest(number) <= 0 {
			return number, true
		}
	}
	return 0, false
}

// within reports whether a cursor lies within the reach of a recent scan. While
// claims work off a backlog that is older, the cursors are farther behind the clock:
// the whole reach is ahead of them, and the claims themselves read it. The caller
// holds mu.
func (s *claimScan) within(number int) bool {
	after := cursor{runAt: s.now.Add(-reach(number))}
	return slices.ContainsFunc(s.low[:], func(c cursor) bool { return c.after(after) })
}

// recentRest returns the time until a recent scan is due. The caller holds mu.
func (s *claimScan) recentRest(number int) time.Duration {
	scan := &s.recents[number]
	return max(reach(number)/recentRests, recentScanShare*scan.costs.least()) - time.Since(scan.began)
}

// reached records that a scan began that includes the reach of a recent scan. The
// caller holds mu.
func (s *claimScan) reached(number int, began time.Time) {
	for i := range number + 1 {
		if s.recents[i].began.Before(began) {
			s.recents[i].began = began
		}
	}
}

// recentWait returns after how long a claim is needed because of recent scans: for the
// result of the scan that is under way, or to begin the next one. The shortest
// reach is not waited for: its scans are made with claims that are made anyway, as
// at a wake-up. The caller holds mu.
func (s *claimScan) recentWait() (wait time.Duration, ok bool) {
	if !s.since.IsZero() {
		return s.recents[s.recent].costs.least() + 2*cheapFullScan - time.Since(s.since), true
	}
	for number := 1; number < recentScans; number++ {
		if rest := s.recentRest(number); s.within(number) && (!ok || rest < wait) {
			wait, ok = rest, true
		}
	}
	return wait, ok
}

// rest returns the time until the next full scan. The caller holds mu.
func (s *claimScan) rest() time.Duration {
	if s.scanned.IsZero() {
		return 0
	}
	return max(fullScanRest, fullScanShare*s.cost()) - time.Since(s.scanned)
}

// cost returns the cost of a full scan. The caller holds mu.
func (s *claimScan) cost() time.Duration { return s.costs.least() }

// rare reports whether full scans are so expensive that catch-up scans come less than
// once in a second, so that recent scans come before them. The caller holds mu.
func (s *claimScan) rare() bool { return fullScanShare*s.cost() > reach(1)/recentRests }

// again returns the time after which a claim with cursors that got fewer jobs
// than it asked for is repeated. 0 means a full scan at once, because the claim
// found no job and full scans are cheap. With over, no claim is needed, because
// no job lies behind the cursors. While catch-up scans are rare, that is known for
// about a second only, because transactions may have committed since.
func (s *claimScan) again(jobs int) (wait time.Duration, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.clear:
		over = true
	case len(s.behind) > 0:
		return time.Millisecond, false
	case !s.catchingUpSince.IsZero():
		wait = s.cost() - time.Since(s.catchingUpSince)
	case jobs == 0 && s.cost() <= cheapFullScan:
		return 0, false
	default:
		wait = s.rest()
	}
	if s.rare() {
		if recent, ok := s.recentWait(); ok && (over || recent < wait) {
			wait, over = recent, false
		}
	}
	if over {
		return 0, true
	}
	return max(wait, time.Millisecond), false
}

// found records a committed claim: its jobs in their order, whether it got as many
// as it asked for, and by when they were due (store.ClaimRequest.DueBy), on the store's clock.
func (s *claimScan) found(jobs []store.Claimed, full bool, dueBy time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear, s.now = s.clear && len(jobs) == 0, dueBy
	horizon := cursor{runAt: dueBy.Add(-slack)}
	if s.aged && full { // the claim stopped at the same position in each priority
		at := furthest(jobs)
		for p := range s.low {
			s.low[p] = at
		}
		return
	}
	last := int16(store.LastPriority + 1) // where the claim stopped
	if full {
		last = jobs[len(jobs)-1].Priority
	}
	for p := range last - store.FirstPriority {
		s.low[p].raise(horizon)
	}
	for i, job := range jobs {
		if i+1 < len(jobs) && jobs[i+1].Priority == job.Priority {
			continue
		}
		at := cursor{runAt: job.RunAt, id: job.ID}
		if at.runAt.After(horizon.runAt) {
			at = horizon
		}
		if p := &s.low[job.Priority-store.FirstPriority]; job.Priority == last {
			*p = at // possibly moved back, because the next claim goes on from the jobs that a full scan found behind the cursor
		} else {
			p.raise(at)
		}
	}
}

// furthest returns the position of the last of some jobs, whatever their priorities.
func furthest(jobs []store.Claimed) (at cursor) {
	for _, job := range jobs {
		at.raise(cursor{runAt: job.RunAt, id: job.ID})
	}
	return at
}

// pausesChanged reports whether pauses differ from the pauses at the last claim. Then the scan
// forgets all positions, so that the next claim is a full scan.
func (s *claimScan) pausesChanged(now rowwise.PauseMark) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.pauses != nil && (s.pauses.Count != now.Count || !s.pauses.Last.Equal(now.Last))
	s.pauses = &now
	if changed {
		s.low, s.behind, s.clear, s.scanned = cursors{}, nil, false, time.Time{}
	}
	return changed
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
	s.addFullScan(jobs, took)
}

// addFullScan is recordFullScan for a caller that holds mu.
func (s *claimScan) addFullScan(jobs int, took time.Duration) {
	expected := cheapFullScan
	switch {
	case s.usual.jobs > 0:
		expected = max(expected, s.usual.took*time.Duration(jobs)/time.Duration(s.usual.jobs))
	case jobs > 0:
		expected = took // there is no claim to compare with
	default: // neither has found a job, so that the claim with cursors shows what a claim takes anyway, also on a busy machine
		expected = max(expected, s.usual.took)
	}
	s.costs.add(max(took-expected, 0), s.scanned.IsZero())
	s.scanned, s.compared = time.Now(), false
	s.reached(recentScans-1, s.scanned.Add(-took))
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
		runAt, id = append(runAt, orNegativeInfinity(at.runAt)), append(id, at.id)
	}
	return runAt, id
}

// orNegativeInfinity returns t as an argument of a statement, and -infinity for the zero time.
func orNegativeInfinity(t time.Time) pgtype.Timestamptz {
	if t.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: t, Valid: true}
}

// claimScans holds the scans of this process's nodes. It is safe for concurrent use.
type claimScans struct {
	mu  sync.Mutex
	all map[claimScanKey]*claimScan
}

type claimScanKey struct {
	node  int64
	queue string
	aged  bool
}

// of returns a node's scan of a queue, or of its claims of aged jobs, and makes the scan if there is none.
func (s *claimScans) of(node int64, queue string, aged bool) *claimScan {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := claimScanKey{node, queue, aged}
	if s.all[key] == nil {
		if s.all == nil {
			s.all = map[claimScanKey]*claimScan{}
		}
		s.all[key] = &claimScan{aged: aged}
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
