package postgres

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// The states of a ready job that waits in a lane, out of the way of claims.
const (
	inLane      = -2
	firstInLane = -3 // it goes before the others of its priority
)

const (
	// A claim makes at most mostLaneSteps steps that pass on permits. After fewLaneSteps steps that let jobs wait, jobs of other
	// lanes may overtake the jobs that still have to wait.
	mostLaneSteps = 50
	fewLaneSteps  = 4
	// A claim lets jobs wait for at most parkingShare times as long as it has looked for jobs that overtake them.
	parkingShare = 4
	// A claim whose step met lanes that another transaction had locked comes back after busyLanes.
	busyLanes = 100 * time.Millisecond
)

// limitedQueues are the queues that limits concern whose permits jobs hold, as far as claims have found out. It is safe for
// concurrent use.
type limitedQueues struct {
	mu     sync.Mutex
	queues map[string]bool
	left   map[leftOffKey]leftOff
}

// leftOff is where the steps before a claim have left off, because very many due jobs have to wait. The next claim goes on there, so that
// it does not read the entries in the index again of all jobs that wait now.
type leftOff struct {
	node   int64
	kinds  []string
	from   cursors // where the claim began
	behind cursors
	at     time.Time
}

// leftOffRest is after which time a claim begins at the start again, because jobs may have appeared there.
const leftOffRest = time.Second

// leftOffKey separates claims with cursors from full scans, because both come in turn.
type leftOffKey struct {
	queue string
	full  bool
}

// leave records where the steps before a claim have left off.
func (q *limitedQueues) leave(req *store.ClaimRequest, from, behind cursors) {
	if !resumable(req) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	key := leftOffKey{req.Queue, from == cursors{}}
	next := leftOff{node: req.Node, kinds: req.Kinds, from: from, behind: behind, at: time.Now()}
	if last := q.left[key]; last.fits(req, from) {
		next.at = last.at
	}
	if q.left == nil {
		q.left = map[leftOffKey]leftOff{}
	}
	q.left[key] = next
}

// resume returns where the steps before a claim begin.
func (q *limitedQueues) resume(req *store.ClaimRequest, from cursors) cursors {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := leftOffKey{req.Queue, from == cursors{}}
	last := q.left[key]
	if !last.fits(req, from) {
		delete(q.left, key)
		return from
	}
	for i, at := range last.behind {
		if at.after(from[i]) {
			from[i] = at
		}
	}
	return from
}

// fits reports whether a claim may go on. It may not if it begins before a position where the last claim began.
func (l *leftOff) fits(req *store.ClaimRequest, from cursors) bool {
	for i, at := range l.from {
		if at.after(from[i]) {
			return false
		}
	}
	return resumable(req) && l.node == req.Node && time.Since(l.at) < leftOffRest && slices.Equal(l.kinds, req.Kinds)
}

// resumable reports whether a claim takes all due jobs of its kinds in the order of their priorities, so that the next such claim may go on.
func resumable(req *store.ClaimRequest) bool {
	return len(req.Exact) == 0 && !req.Suspects && req.DueFor == 0
}

func (q *limitedQueues) has(queue string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queues[queue]
}

func (q *limitedQueues) any() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queues) > 0
}

func (q *limitedQueues) set(queue string, limited bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !limited:
		delete(q.queues, queue)
	case q.queues == nil:
		q.queues = map[string]bool{queue: true}
	default:
		q.queues[queue] = true
	}
}

// laneWork is what is to be done before a claim of a queue.
type laneWork struct {
	limited       bool // a limit concerns the queue whose permits jobs hold
	rated         bool // such a limit has a rate
	found         bool // permits are to be passed on
	pauses, ended bool // there are pauses; a pause has ended
	alive         bool // the node that claims
	paused        bool // the queue
	next          time.Time
	fresh         []int64 // jobs that need permits
	behind        cursors // the positions of the last fresh jobs of each priority, or where the search began
	left          bool    // due jobs may be left that have neither permits nor wait
	busy          bool    // as left, because another transaction had locked lanes, so that the step was given up
}

// claimLimited is claim for a queue that limits concern whose permits jobs hold.
func (b *Backend) claimLimited(ctx context.Context, req store.ClaimRequest, from cursors) (out store.ClaimResult, found claimFound, err error) {
	work, claim, err := b.tendLanes(ctx, req, from)
	if err != nil {
		return store.ClaimResult{}, claimFound{}, err
	}
	b.limited.set(req.Queue, work.limited)
	if claim != nil {
		out, found, err = b.tendAfterClaim(ctx, req, claim.out, claim.found, work.limited)
	} else {
		out, found, err = b.claimTended(ctx, req, from, work.limited)
	}
	switch {
	case work.left:
		found.left, work.next = time.Millisecond, out.Now
	case work.busy:
		found.left, work.next = busyLanes, out.Now
		if req.Now.IsZero() { // the clock of a test may stand still
			work.next = out.Now.Add(busyLanes)
		}
	}
	if err == nil && len(out.Jobs) < req.Limit && !req.Suspects {
		out.NextDue = store.Earlier(out.NextDue, work.next)
	}
	return out, found, err
}

// tendLanes passes on permits, and gives permits to jobs that a claim may take, until nothing is left to do or enough jobs
// can be claimed. The last step makes the claim, if it knows that it is the last; otherwise claim is nil.
func (b *Backend) tendLanes(ctx context.Context, req store.ClaimRequest, from cursors) (laneWork, *madeClaim, error) {
	s := laneSteps{
		b: b, req: req, from: from, behind: b.limited.resume(&req, from),
		narrow: !req.Starts && !req.Permits.Rated() && req.DueFor == 0,
	}
	defer func() {
		if s.work.left {
			b.limited.leave(&req, from, s.behind)
		}
	}()
	for n := range mostLaneSteps {
		if done, claim, err := s.step(ctx, n); err != nil || done {
			return s.work, claim, err
		}
	}
	return s.work, nil, nil
}

// laneSteps are the steps before one claim. If very many due jobs have to wait, jobs of other lanes overtake them after some steps. When the
// steps have let jobs wait for much longer than they have looked for jobs of other lanes, the next claim, which follows at once, goes on. So that most claims need one step, the first is narrow: it looks at little
// more than what the claim takes.
type laneSteps struct {
	b         *Backend
	req       store.ClaimRequest
	from      cursors
	behind    cursors // fresh jobs before these positions have been in a step
	narrow    bool
	tended    bool // to pauses
	claimable int  // how many jobs can be claimed that could not before
	work      laneWork
	overtaken time.Time     // when jobs may have overtaken others
	looked    time.Duration // for how long the claim has looked for such jobs; 0: it has not
}

// step makes one step. done: no step has to follow.
func (s *laneSteps) step(ctx context.Context, n int) (done bool, claim *madeClaim, err error) {
	rows := max(rowwise.FreshRows, s.req.Limit)
	scan := s.req.Limit + rows
	if s.narrow {
		scan = s.req.Limit + s.req.Limit/8 + 16 // the claim is full although some of these jobs have to wait
		rows = scan
	}
	if s.work, err = s.b.lookForLanes(ctx, s.req, s.behind, scan, rows); err != nil || s.work.ends(&s.req) {
		return true, nil, err
	}
	if s.work.pauses && !s.tended {
		s.tended = true
		return false, nil, s.b.tendPauses(ctx, s.req.Now, s.work.ended, true)
	}
	if !s.work.found && len(s.work.fresh) == 0 {
		return true, nil, nil
	}
	all := len(s.work.fresh) < rows && !s.narrow // all fresh jobs that the claim may take
	last := func(passed *rowwise.Passed) bool { return s.isLast(all, passed) }
	made, err := s.b.passOnPermits(ctx, s.req.Now, s.work.fresh, &stepClaim{req: s.req, from: s.from, last: last})
	if codeOf(err) == lockNotAvailable { // the step was rolled back, with its claim
		s.work.busy = true
		return true, nil, nil
	}
	if err != nil {
		return true, nil, err
	}
	passed := made.passed
	if !passed.More { // otherwise the step may have left fresh jobs
		s.behind = s.work.behind
	}
	s.work.next = store.Earlier(s.work.next, passed.Next)
	s.claimable += passed.Claimable
	if made.claim != nil || all && !passed.More {
		return true, made.claim, nil
	}
	if all || s.narrow {
		s.narrow = false
		return false, nil, nil
	}
	done, err = s.letOvertake(ctx, n)
	return done, nil, err
}

// ends reports whether no step is to be made before a claim.
func (w *laneWork) ends(req *store.ClaimRequest) bool {
	return !w.limited || !w.alive || w.paused || w.rated && !req.Starts
}

// isLast reports whether the step that has passed on permits makes the claim. all: the step has all fresh jobs that the claim may take.
func (s *laneSteps) isLast(all bool, passed *rowwise.Passed) bool {
	switch {
	case s.work.rated || s.req.Permits.Rated(): // the claim is a transaction that uses starts
		return false
	case all || s.narrow && passed.Waits == 0:
		return !passed.More
	}
	return s.claimable+passed.Claimable >= s.req.Limit
}

// letOvertake lets jobs of other lanes overtake very many jobs that have to wait, once, and reports whether the claim is to be made now.
func (s *laneSteps) letOvertake(ctx context.Context, n int) (done bool, err error) {
	if s.looked == 0 && s.claimable < s.req.Limit && n+1 >= fewLaneSteps && !s.req.Suspects {
		began := time.Now()
		jobs, err := s.b.overtake(ctx, s.req, s.behind)
		if err != nil {
			return true, err
		}
		s.claimable += jobs
		s.overtaken = time.Now()
		s.looked = max(s.overtaken.Sub(began), 1)
	}
	s.work.left = s.looked > 0
	return s.claimable >= s.req.Limit || s.work.left && time.Since(s.overtaken) > parkingShare*s.looked, nil
}

// stepClaim is a claim in the transaction of a step. Jobs that get their first permits then and are claimed are updated once
// instead of twice.
type stepClaim struct {
	req  store.ClaimRequest
	from cursors
	last func(*rowwise.Passed) bool // reports whether the claim is to be made after a step
}

// madeStep is what a step has done.
type madeStep struct {
	passed rowwise.Passed
	claim  *madeClaim // nil: the step has made no claim
}

// make makes the claim, with the permits of jobs that are not stored yet. It also returns the jobs among them that were not claimed.
func (c *stepClaim) make(ctx context.Context, b *Backend, tx pgx.Tx, claimable []store.Allotment) (claim *madeClaim, rest []store.Allotment, err error) {
	permits := make(map[int64]string, len(claimable))
	for _, a := range claimable {
		permits[a.Job.ID] = arrayOf(a.Held)
	}
	held, err := json.Marshal(permits)
	if err != nil {
		return nil, nil, err
	}
	req := c.req
	req.Starts = false // no rate concerns the queue
	text, args := b.claimStatement(&req, c.from, false, true, string(held))
	made, err := b.sendClaim(ctx, tx, req, text, args)
	if err != nil {
		return nil, nil, err
	}
	for i := range made.out.Jobs {
		delete(permits, made.out.Jobs[i].ID)
	}
	return &made, slices.DeleteFunc(claimable, func(a store.Allotment) bool { _, left := permits[a.Job.ID]; return !left }), nil
}

// overtake gives permits to the first jobs in whose lanes no job waits, at most as many as the claim takes, and returns how many jobs
// can be claimed that could not before.
func (b *Backend) overtake(ctx context.Context, req store.ClaimRequest, from cursors) (int, error) {
	lowRunAt, lowID := from.columns()
	name, args := findOvertakers, []any{when(req.Now), req.Queue, req.Kinds, lowRunAt, lowID, req.Suspects, req.Limit}
	if len(req.Exact) > 0 {
		name, args = findExactOvertakers, append(args, exactColumns(req.Exact)...)
	}
	ids, err := rowwise.InTx(b.pipeline(ctx, nodeConns, "look for permits"), func(s sender) (ids []int64, err error) {
		var at cursor
		var priority int16
		var batch pgx.Batch
		batch.Queue(b.q(name), args...).Query(scanEach([]any{&at.id, &priority, into(&at.runAt)}, func() { ids = append(ids, at.id) }))
		err = send(ctx, s, &batch)
		return ids, err
	})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	made, err := b.passOnPermits(ctx, req.Now, ids, nil)
	if codeOf(err) == lockNotAvailable { // the step was rolled back; it is made before a later claim
		return 0, nil
	}
	return made.passed.Claimable, err
}

// lookForLanes finds out what is to be done before a claim, with at most rows fresh jobs among the first scan jobs of each
// priority. It locks nothing.
func (b *Backend) lookForLanes(ctx context.Context, req store.ClaimRequest, from cursors, scan, rows int) (laneWork, error) {
	lowRunAt, lowID := from.columns()
	name := findNewLaneJobs
	args := []any{when(req.Now), req.Queue, req.Kinds, lowRunAt, lowID, req.Suspects, scan, rows}
	if len(req.Exact) > 0 {
		name, args = findNewExactLaneJobs, append(args, exactColumns(req.Exact)...)
	}
	return rowwise.InTx(b.pipeline(ctx, nodeConns, "look for permits"), func(s sender) (work laneWork, err error) {
		work = laneWork{behind: from}
		var at cursor
		var priority int16
		var batch pgx.Batch
		batch.Queue(b.q(findLaneWork), when(req.Now), req.Queue, req.Node).QueryRow(func(row pgx.Row) error {
			return row.Scan(&work.limited, &work.rated, &work.found, &work.pauses, &work.ended, into(&work.next), &work.alive, &work.paused)
		})
		batch.Queue(b.q(name), args...).Query(scanEach([]any{&at.id, &priority, into(&at.runAt)}, func() {
			work.fresh = append(work.fresh, at.id)
			work.behind[priority-store.FirstPriority] = at
		}))
		err = send(ctx, s, &batch)
		return work, err
	})
}

// passOnPermits makes one step; see rowwise.PassOnPermits. fresh are jobs that need permits. It does not wait long for
// other transactions. If claim is not nil, the step may make it.
func (b *Backend) passOnPermits(ctx context.Context, asked time.Time, fresh []int64, claim *stepClaim) (madeStep, error) {
	step := b.transact(ctx, nodeConns, "pass on permits", b.workBegin()+impatient)
	made, err := rowwise.InTx(step, func(tx pgx.Tx) (made madeStep, err error) {
		t := lanesTx{auditTx: auditTx{b, tx}}
		var now time.Time
		if claim == nil {
			now, err = b.instantOf(ctx, tx, asked)
		} else { // a claim locks the row of its node before all else
			t.aside = new([]store.Allotment)
			err = nodeAlive(claim.req.Node, tx.QueryRow(ctx, b.q(holdNode), when(asked), claim.req.Node).Scan(into(&now)))
		}
		if err != nil {
			return made, err
		}
		var jobs []store.LaneJob
		if len(fresh) > 0 {
			if jobs, err = t.laneJobs(ctx, lockNewLaneJobs, fresh); err != nil {
				return made, err
			}
		}
		if made.passed, err = rowwise.PassOnPermits(ctx, t, jobs, now); err != nil {
			return made, err
		}
		if claim != nil {
			rest := *t.aside
			if claim.last(&made.passed) {
				if made.claim, rest, err = claim.make(ctx, b, tx, rest); err != nil {
					return made, err
				}
			}
			if err := t.saveAllotments(ctx, rest, now); err != nil {
				return made, err
			}
		}
		return made, b.wakeQueues(ctx, tx, made.passed.Queues)
	})
	if made.claim != nil {
		b.wakeAfterPoll(ctx, &claim.req, &made.claim.out)
	}
	return made, err
}

// passOnSoon passes on permits after a transaction that may have given some back, if jobs may wait for them. What it does not do is
// done before later claims.
func (b *Backend) passOnSoon(ctx context.Context, asked *time.Time) {
	if asked != nil || !b.limited.any() {
		return
	}
	for range mostLaneSteps {
		found, err := rowwise.InTx(b.pipeline(ctx, nodeConns, "look for permits"), func(s sender) (found bool, err error) {
			var batch pgx.Batch
			batch.Queue(b.q(findLaneWaits), asked).QueryRow(func(row pgx.Row) error { return row.Scan(&found) })
			err = send(ctx, s, &batch)
			return found, err
		})
		if err != nil || !found {
			return
		}
		if made, err := b.passOnPermits(ctx, time.Time{}, nil, nil); err != nil || !made.passed.More {
			return
		}
	}
}

// lanesTx implements rowwise.LanesTx.
type lanesTx struct {
	auditTx
	// aside, if not nil, gets the permits of jobs that had none before and did not wait, instead of the store: see stepClaim.
	aside *[]store.Allotment
}

// laneJobColumns are the columns that lanesTx.laneJobs scans.
const laneJobColumns = "id lane first run_at queue kind job_key priority"

func (t lanesTx) laneJobs(ctx context.Context, name statement, args ...any) ([]store.LaneJob, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (j store.LaneJob, err error) {
		err = r.Scan(&j.ID, &j.Lane, &j.First, into(&j.RunAt), &j.Queue, &j.Kind, &j.Key, &j.Priority)
		return j, err
	}, t.b.q(name), args...)
}

// ReadLimits implements rowwise.LanesTx.
func (t lanesTx) ReadLimits(ctx context.Context) (store.Limits, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (l store.Limit, err error) {
		err = scanLimit(r, &l)
		return l, err
	}, t.b.q(readLimits))
}

// TakeVacancies implements rowwise.LanesTx.
func (t lanesTx) TakeVacancies(ctx context.Context, limit int) ([]rowwise.Vacancy, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (v rowwise.Vacancy, err error) {
		err = r.Scan(&v.Limit, &v.DoneTo, &v.Lanes)
		return v, err
	}, t.b.q(takeVacancies), limit)
}

// InsertVacancies implements rowwise.LanesTx.
func (t lanesTx) InsertVacancies(ctx context.Context, vacancies []rowwise.Vacancy) error {
	if len(vacancies) == 0 {
		return nil
	}
	limits, doneTos := make([]int64, len(vacancies)), make([]int64, len(vacancies))
	for i, v := range vacancies {
		limits[i], doneTos[i] = v.Limit, v.DoneTo
	}
	_, err := t.tx.Exec(ctx, t.b.q(insertVacancies), limits, doneTos)
	return err
}

// FindLanes implements rowwise.LanesTx.
func (t lanesTx) FindLanes(ctx context.Context, limit, after int64, most int) ([]int64, error) {
	return collect(ctx, t.tx, pgx.RowTo[int64], t.b.q(findLanes), limit, after, most)
}

// FindDueLanes implements rowwise.LanesTx.
func (t lanesTx) FindDueLanes(ctx context.Context, now time.Time, most int) ([]int64, error) {
	return collect(ctx, t.tx, pgx.RowTo[int64], t.b.q(findDueLanes), when(now), most)
}

// MakeLanes implements rowwise.LanesTx.
func (t lanesTx) MakeLanes(ctx context.Context, keys []store.LaneKey) (map[store.LaneKey]int64, error) {
	ids := make(map[store.LaneKey]int64, len(keys))
	if err := t.findLaneKeys(ctx, keys, ids); err != nil || len(ids) == len(keys) {
		return ids, err
	}
	missing := slices.DeleteFunc(slices.Clone(keys), func(key store.LaneKey) bool { _, found := ids[key]; return found })
	limits, names := laneColumns(missing)
	if _, err := t.tx.Exec(ctx, t.b.q(insertLanes), limits, names); err != nil {
		return nil, err
	}
	return ids, t.findLaneKeys(ctx, missing, ids)
}

// findLaneKeys adds the numbers of lanes to ids; a lane that does not exist has none.
func (t lanesTx) findLaneKeys(ctx context.Context, keys []store.LaneKey, ids map[store.LaneKey]int64) error {
	limits, names := laneColumns(keys)
	var key store.LaneKey
	var id int64
	return each(ctx, t.tx, []any{&key.Limit, &key.Key, &id}, func() { ids[key] = id }, t.b.q(findLaneKeys), limits, names)
}

// laneColumns returns the limits and the keys of lanes.
func laneColumns(keys []store.LaneKey) (limits []int64, names []string) {
	limits, names = make([]int64, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		limits[i], names[i] = key.Limit, key.Key
	}
	return limits, names
}

// LockLanes implements rowwise.LanesTx.
func (t lanesTx) LockLanes(ctx context.Context, ids []int64) ([]store.Lane, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (l store.Lane, err error) {
		err = r.Scan(&l.ID, &l.Limit, &l.Key, &l.Used, &l.Starts, &l.Waiting, into(&l.TAT), into(&l.NotBefore), into(&l.LookAt))
		return l, err
	}, t.b.q(lockLanes), ids)
}

// FindLaneJobs implements rowwise.LanesTx.
func (t lanesTx) FindLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error) {
	return t.laneJobs(ctx, findLaneJobs, when(now), lanes, most)
}

// LockLaneJobs implements rowwise.LanesTx.
func (t lanesTx) LockLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error) {
	return t.laneJobs(ctx, lockLaneJobs, when(now), lanes, most)
}

// FindOccupied implements rowwise.LanesTx.
func (t lanesTx) FindOccupied(ctx context.Context, lanes []int64) ([]int64, error) {
	return collect(ctx, t.tx, pgx.RowTo[int64], t.b.q(findOccupiedLanes), lanes)
}

// SaveAllotments implements rowwise.LanesTx.
func (t lanesTx) SaveAllotments(ctx context.Context, allotments []store.Allotment, now time.Time) error {
	if t.aside != nil {
		var stored []store.Allotment
		for _, a := range allotments {
			if a.Job.Lane == 0 && len(a.Held) > 0 {
				*t.aside = append(*t.aside, a)
			} else {
				stored = append(stored, a)
			}
		}
		allotments = stored
	}
	return t.saveAllotments(ctx, allotments, now)
}

// saveAllotments stores what becomes of jobs.
func (t lanesTx) saveAllotments(ctx context.Context, allotments []store.Allotment, now time.Time) error {
	n := len(allotments)
	if n == 0 {
		return nil
	}
	ids, states, lanes, permits := make([]int64, n), make([]int16, n), make([]int64, n), make([]string, n)
	for i, a := range allotments {
		ids[i], lanes[i], permits[i] = a.Job.ID, a.Wait, arrayOf(a.Held)
		switch {
		case a.Wait != 0 && a.Job.First:
			states[i] = firstInLane
		case a.Wait != 0:
			states[i] = inLane
		}
	}
	_, err := t.tx.Exec(ctx, t.b.q(allotPermits), when(now), ids, states, lanes, permits)
	return err
}

// arrayOf is the text of an array of numbers; empty for none.
func arrayOf(lanes []int64) string {
	if len(lanes) == 0 {
		return ""
	}
	var text strings.Builder
	for i, lane := range lanes {
		text.WriteByte("{,"[min(i, 1)])
		text.WriteString(strconv.FormatInt(lane, 10))
	}
	text.WriteByte('}')
	return text.String()
}

// SaveLanes implements rowwise.LanesTx.
func (t lanesTx) SaveLanes(ctx context.Context, lanes []store.Lane) error {
	n := len(lanes)
	ids, used, starts, waiting := make([]int64, n), make([]int32, n), make([]int32, n), make([]bool, n)
	tats, notBefores, lookAts := make([]*time.Time, n), make([]*time.Time, n), make([]*time.Time, n)
	for i, l := range lanes {
		ids[i], used[i], starts[i], waiting[i] = l.ID, int32(l.Used), int32(l.Starts), l.Waiting
		tats[i], notBefores[i], lookAts[i] = when(l.TAT), when(l.NotBefore), when(l.LookAt)
	}
	_, err := t.tx.Exec(ctx, t.b.q(updateLanes), ids, used, starts, waiting, tats, notBefores, lookAts)
	return err
}

// UseStarts implements rowwise.LanesTx.
func (t lanesTx) UseStarts(ctx context.Context, jobs []int64) ([]rowwise.UsedStart, error) {
	return collect(ctx, t.tx, pgx.RowToStructByPos[rowwise.UsedStart], t.b.q(useStarts), jobs)
}

// CapRate implements rowwise.LanesTx.
func (t lanesTx) CapRate(ctx context.Context, limit int64, greatest time.Time) error {
	_, err := t.tx.Exec(ctx, t.b.q(capRate), greatest, limit)
	return err
}

// LockRunning implements rowwise.LanesTx.
func (t lanesTx) LockRunning(ctx context.Context, limit *store.Limit) ([]store.LaneJob, error) {
	return t.laneJobs(ctx, lockRunningLaneJobs, limit.Queue, limit.Kind, limit.ByKey)
}

// AddPermits implements rowwise.LanesTx.
func (t lanesTx) AddPermits(ctx context.Context, jobs []store.LaneJob) error {
	ids, lanes := make([]int64, len(jobs)), make([]int64, len(jobs))
	for i := range jobs {
		ids[i], lanes[i] = jobs[i].ID, jobs[i].Lane
	}
	_, err := t.tx.Exec(ctx, t.b.q(addPermits), ids, lanes)
	return err
}

// LockUnclaimed implements rowwise.LanesTx.
func (t lanesTx) LockUnclaimed(ctx context.Context, limit *store.Limit, after int64, most int) ([]store.LaneJob, int64, error) {
	return t.holders(ctx, most, lockPermittedJobs, limit.Queue, limit.Kind, limit.ByKey, after, most)
}

// holders returns the jobs that a statement locks, at most a number, with the permits that they hold, and the number of the last if there
// may be more.
func (t lanesTx) holders(ctx context.Context, most int, name statement, args ...any) (jobs []store.LaneJob, to int64, err error) {
	jobs, err = collect(ctx, t.tx, func(r pgx.CollectableRow) (j store.LaneJob, err error) {
		err = r.Scan(&j.ID, &j.Lanes)
		return j, err
	}, t.b.q(name), args...)
	if len(jobs) == most {
		to = jobs[most-1].ID
	}
	return jobs, to, err
}

// LockHolders implements rowwise.LanesTx.
func (t lanesTx) LockHolders(ctx context.Context, lanes []int64, most int) ([]store.LaneJob, int64, error) {
	return t.holders(ctx, most, lockLaneHolders, lanes, most)
}

// LockIdleLanes implements rowwise.LanesTx.
func (t lanesTx) LockIdleLanes(ctx context.Context, most int) ([]int64, error) {
	return collect(ctx, t.tx, pgx.RowTo[int64], t.b.q(lockIdleLanes), most)
}

// DeleteLanes implements rowwise.LanesTx.
func (t lanesTx) DeleteLanes(ctx context.Context, ids []int64) error {
	if len(ids) > 0 {
		if _, err := t.tx.Exec(ctx, t.b.q(deleteLanes), slices.Sorted(slices.Values(ids))); err != nil {
			return err
		}
	}
	_, err := t.tx.Exec(ctx, t.b.q(deleteEndedLimits))
	return err
}
