package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

const (
	// A claim makes at most mostLaneSteps steps that pass on permits. After fewLaneSteps steps that let jobs wait, jobs of other
	// lanes may overtake the jobs that still have to wait.
	mostLaneSteps = 50
	fewLaneSteps  = 4
	// A claim spends at most laneShare times the duration of the last search for overtaking jobs on putting jobs into lanes.
	laneShare = 4
	// A claim whose step met lanes that another transaction had locked comes back after busyLanes.
	busyLanes = 100 * time.Millisecond
)

// claimGated makes a claim that passes the gates of package rowwise, in steps. Very many due jobs that have to wait are left to the next claim,
// which goes on where this claim has left off.
func (b *Backend) claimGated(ctx context.Context, req store.ClaimRequest, from cursors) (claimed, error) {
	s := claimSteps{from: from, narrow: !req.Starts && !req.Permits.Rated() && req.DueFor == 0, began: time.Now()}
	s.behind, s.lastSearch = b.gated.resume(&req, from)
	for n := range mostLaneSteps {
		began := time.Now()
		way := s.way(n)
		step, err := b.claimStep(ctx, req, way, s)
		if codeOf(err) == lockNotAvailable { // the step was rolled back, with its claim
			break
		}
		if err != nil {
			return claimed{}, err
		}
		if s.add(&step); !step.Again {
			if step.Soon {
				b.gated.leave(&req, from, s.behind, time.Since(began))
			}
			return b.claimedBy(ctx, &req, &step), nil
		}
	}
	return b.claimBusy(ctx, req, s)
}

// claimBusy claims jobs that need no permits, or hold them: other transactions have locked lanes, or the steps of the claim are used up.
func (b *Backend) claimBusy(ctx context.Context, req store.ClaimRequest, s claimSteps) (claimed, error) {
	step, err := b.claimStep(ctx, req, store.ClaimWay{RowLocks: true, Last: true, Busy: true}, s)
	if err != nil {
		return claimed{}, err
	}
	out := b.claimedBy(ctx, &req, &step)
	out.left = busyLanes
	if req.WantsNextDue(len(out.Jobs)) {
		again := out.Now
		if req.Now.IsZero() { // the clock of a test may stand still
			again = out.Now.Add(busyLanes)
		}
		out.NextDue = store.Earlier(out.NextDue, again)
	}
	return out, nil
}

// claimedBy returns the claim of its last step, and remembers whether the next claim of the queue has to pass gates.
func (b *Backend) claimedBy(ctx context.Context, req *store.ClaimRequest, step *rowwise.ClaimStep) claimed {
	b.gated.set(req.Queue, step.Around.Permits)
	b.wakeAfterPoll(ctx, req, &step.ClaimResult)
	out := claimed{ClaimResult: step.ClaimResult, pauses: step.Around.Mark, searched: step.Searched}
	if step.Soon {
		out.left = time.Millisecond
	}
	return out
}

// claimSteps is where the steps of a claim are.
type claimSteps struct {
	from      cursors
	behind    cursors // fresh jobs before these positions have been in a step
	narrow    bool    // the next step looks at little more than what the claim takes, because most claims need one step
	claimable int     // jobs that can be claimed that could not before
	began     time.Time
	// lastSearch is for how long the claim before has looked for jobs that overtake.
	lastSearch time.Duration
}

// way returns how a step is made.
func (s *claimSteps) way(n int) store.ClaimWay {
	return store.ClaimWay{
		RowLocks: true, Claimable: s.claimable,
		Last: n+1 >= fewLaneSteps && time.Since(s.began) > laneShare*s.lastSearch || n+2 >= mostLaneSteps,
	}
}

// add adds what a step has done.
func (s *claimSteps) add(step *rowwise.ClaimStep) {
	s.claimable += step.Claimable
	s.narrow = s.narrow && len(step.Fresh) == 0
	for i := range step.Fresh {
		job := &step.Fresh[i]
		s.behind[job.Priority-store.FirstPriority].raise(cursor{runAt: job.RunAt, id: job.ID})
	}
}

// claimStep makes one step of a claim. It does not wait long for other transactions, unless it is the step of a busy claim, or a rate concerns the
// claim: such claims happen one after the other.
func (b *Backend) claimStep(ctx context.Context, req store.ClaimRequest, way store.ClaimWay, s claimSteps) (rowwise.ClaimStep, error) {
	const what = "claim jobs"
	begin := b.workBegin()
	if !way.Busy && !req.Permits.Rated() {
		begin += impatient
	}
	look := func(do func(*claimTx) error) error {
		return b.autoCommit(ctx, nodeConns, what)(func(q querier) error {
			return do(&claimTx{lanesTx: lanesTx{auditTx{b, q}}, req: req, steps: s})
		})
	}
	take := func(do func(*claimTx) error) error {
		return b.transact(ctx, nodeConns, what, begin)(func(tx pgx.Tx) error {
			t := &claimTx{lanesTx: lanesTx{auditTx{b, tx}}, req: req, steps: s, busy: way.Busy}
			if err := do(t); err != nil {
				return err
			}
			return t.end(ctx)
		})
	}
	return rowwise.Claim(ctx, look, take, req, way)
}

// autoCommit is work that only reads, or that is one statement: each statement commits by itself where the connection allows it.
func (b *Backend) autoCommit(ctx context.Context, class connClass, what string) rowwise.Transaction[querier] {
	if !b.pinned {
		return func(do func(q querier) error) error {
			return b.work(ctx, class, what)(func(tx pgx.Tx) error { return do(tx) })
		}
	}
	return func(do func(q querier) error) error {
		return b.alone(ctx, class, what)(func(conn *pgxpool.Conn) error { return do(conn) })
	}
}

// claimTx implements rowwise.ClaimTx, for one transaction or look of a step.
type claimTx struct {
	lanesTx
	req   store.ClaimRequest // before the gates
	steps claimSteps
	busy  bool
	took  bool // TakeJobs has taken jobs

	// What the first message of the transaction or look has found: the gates ask for most of it.
	lanes   store.LaneWork // as find_gates has it
	newJobs []int64        // due jobs that limits concern, that hold no permits, and that a claim may take; of a look: one
	due     bool           // of a look: a job is due

	next   time.Time         // after TakeJobs: when the next job is due
	fresh  []store.Allotment // permits of jobs that had none before and did not wait: the claim writes them together with its jobs
	freed  []string          // queues of jobs that have waited and can be claimed now
	saveAt time.Time
}

// LookAround implements rowwise.ClaimTx.
func (t *claimTx) LookAround(ctx context.Context, req store.ClaimRequest) (found rowwise.Around, err error) {
	var batch pgx.Batch
	t.b.queuePolled(&batch, req.Polled)
	t.queueGates(&batch, req.Node, &found)
	scan, _ := t.window()
	t.queueNewJobs(&batch, findNewLaneJobs, scan, 1)
	lowRunAt, lowID := t.steps.from.columns()
	args := append([]any{when(req.Now), req.Queue, req.Kinds, lowRunAt, lowID, req.DueFor.Microseconds()}, exactColumns(req.Exact)...)
	batch.Queue(t.b.q(findDueJobs), args...).QueryRow(func(row pgx.Row) error { return row.Scan(&t.due) })
	return found, send(ctx, t.tx, &batch)
}

// HoldNode implements rowwise.NodeHolder.
func (t *claimTx) HoldNode(ctx context.Context, node int64) (found rowwise.Around, err error) {
	var now time.Time
	var batch pgx.Batch
	batch.Queue(t.b.q(holdNode), when(t.req.Now), node).QueryRow(func(row pgx.Row) error {
		return nodeAlive(node, row.Scan(into(&now)))
	})
	t.queueGates(&batch, node, &found)
	if !t.busy {
		t.queueNewJobs(&batch, findNewLaneJobs, t.bounds()...)
	}
	return found, send(ctx, t.tx, &batch)
}

// queueGates adds find_gates to a batch.
func (t *claimTx) queueGates(batch *pgx.Batch, node int64, found *rowwise.Around) {
	batch.Queue(t.b.q(findGates), when(t.req.Now), t.req.Queue, t.req.Limited(), node).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&found.Alive, into(&found.Now), &found.Handled, &found.Mark.Count, into(&found.Mark.Last), &found.Limited,
			&found.Permits, &t.lanes.Rated, &t.lanes.Found, into(&t.lanes.Next))
		found.Pauses, t.lanes.Limited = found.Mark.Count > 0, found.Permits
		return err
	})
}

// Now implements rowwise.ClaimTx.
func (t *claimTx) Now(ctx context.Context, asked time.Time) (time.Time, error) {
	return t.b.instantOf(ctx, t.tx, asked)
}

// QueueRates implements rowwise.ClaimTx.
func (t *claimTx) QueueRates(ctx context.Context, queue string, lock bool) (q store.QueueRates, err error) {
	var batch pgx.Batch
	if lock && t.req.Permits.Rated() {
		batch.Queue(t.b.q(insertRateLanes), queue)
		batch.Queue(t.b.q(lockRateLanes), queue)
	}
	var limit store.Limit
	var per int64
	var tat, notBefore time.Time
	batch.Queue(t.b.q(findQueueRates), queue).Query(scanEach(
		[]any{&limit.ID, &limit.Revision, &limit.Rate, &per, &limit.Burst, into(&tat), into(&notBefore)}, func() {
			limit.Per = time.Duration(per) * time.Microsecond
			q.Add(&limit, tat, notBefore)
		}))
	return q, send(ctx, t.tx, &batch)
}

// SaveRate implements rowwise.ClaimTx.
func (t *claimTx) SaveRate(ctx context.Context, limit int64, tat time.Time) error {
	_, err := t.tx.Exec(ctx, t.b.q(updateRateLanes), limit, when(tat))
	return err
}

// FindPauseWork implements rowwise.ClaimTx.
func (t *claimTx) FindPauseWork(ctx context.Context, now time.Time) (found bool, err error) {
	err = t.tx.QueryRow(ctx, t.b.q(findPauseWork), when(now)).Scan(&found)
	return found, err
}

// TendPauses implements rowwise.ClaimTx. A busy claim leaves that to later claims.
func (t *claimTx) TendPauses(ctx context.Context, now time.Time) (step store.PauseStep, err error) {
	if t.busy {
		return step, nil
	}
	released, ended, err := t.b.endPauses(ctx, t.tx, now)
	if err != nil {
		return step, err
	}
	t.lanes.Found = t.lanes.Found || t.lanes.Limited && ended
	parked, err := t.b.park(ctx, t.tx, now)
	return store.PauseStep{Released: int(released), Parked: int(parked), More: parked >= pauseStep}, err
}

// FindPauses implements rowwise.ClaimTx.
func (t *claimTx) FindPauses(ctx context.Context, now time.Time) ([]store.Pause, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (p store.Pause, err error) {
		err = r.Scan((*int16)(&p.Subject), &p.Name)
		return p, err
	}, t.b.q(findPauses), when(now))
}

// FindLaneWork implements rowwise.ClaimTx: find_gates has found it.
func (t *claimTx) FindLaneWork(context.Context, string, time.Time) (store.LaneWork, error) {
	return t.lanes, nil
}

// HasNewLaneJobs implements rowwise.ClaimTx. Paused kinds, which the pauses take out of the claim, are not among the jobs that were found.
func (t *claimTx) HasNewLaneJobs(context.Context, store.ClaimRequest, time.Time) (bool, error) {
	return len(t.newJobs) > 0, nil
}

// window returns how many of the first due jobs of each priority a step looks at, and how many of them it takes.
func (t *claimTx) window() (scan, most int) {
	limit := t.req.Limit
	if t.steps.narrow {
		scan = limit + limit/8 + 16 // the claim is full although some of these jobs have to wait
		return scan, scan
	}
	most = max(rowwise.FreshRows, limit)
	return limit + most, most
}

// bounds are the bounds of a search for the new jobs of a step.
func (t *claimTx) bounds() []any {
	scan, most := t.window()
	return []any{scan, most}
}

// queueNewJobs adds a search for due jobs that limits concern, that hold no permits, and that a claim may take.
func (t *claimTx) queueNewJobs(batch *pgx.Batch, name statement, bounds ...any) {
	lowRunAt, lowID := t.steps.behind.columns()
	args := append([]any{when(t.req.Now), t.req.Queue, t.req.Kinds, lowRunAt, lowID, t.req.Suspects}, bounds...)
	var id int64
	batch.Queue(t.b.q(name), append(args, exactColumns(t.req.Exact)...)...).Query(scanEach([]any{&id}, func() { t.newJobs = append(t.newJobs, id) }))
}

// LockNewLaneJobs implements rowwise.ClaimTx.
func (t *claimTx) LockNewLaneJobs(
	ctx context.Context, req store.ClaimRequest, work store.LaneWork, way store.ClaimWay, now time.Time,
) (fresh rowwise.FreshJobs, err error) {
	if work.Rated { // a start under a rate that comes late is lost, so that these claims wait for each other
		if _, err := t.tx.Exec(ctx, "set local lock_timeout = 0"); err != nil {
			return fresh, err
		}
	}
	if len(t.newJobs) == 0 {
		return fresh, nil
	}
	scan, most := t.window()
	if fresh.Left = len(t.newJobs) == most; t.steps.narrow {
		fresh.Left, fresh.Looked = true, scan
	}
	if fresh.Left && way.Last {
		var batch pgx.Batch
		t.queueNewJobs(&batch, findOvertakers, req.Limit)
		if err := send(ctx, t.tx, &batch); err != nil {
			return fresh, err
		}
	}
	fresh.Jobs, err = t.laneJobs(ctx, lockNewLaneJobs, t.newJobs)
	return fresh, err
}

// SaveAllotments implements rowwise.LanesTx.
func (t *claimTx) SaveAllotments(ctx context.Context, allotments []store.Allotment, now time.Time) error {
	stored := make([]store.Allotment, 0, len(allotments))
	for _, a := range allotments {
		if a.Job.Lane == 0 && len(a.Held) > 0 {
			t.fresh = append(t.fresh, a)
			continue
		}
		if stored = append(stored, a); a.Claimable() {
			t.freed = append(t.freed, a.Job.Queue)
		}
	}
	t.saveAt = now
	return t.lanesTx.SaveAllotments(ctx, stored, now)
}

// FindSuspect implements rowwise.ClaimTx.
func (t *claimTx) FindSuspect(ctx context.Context, queue string, now time.Time) (found bool, err error) {
	err = t.tx.QueryRow(ctx, t.b.q(findSuspect), when(now), queue).Scan(&found)
	return found, err
}

// FindDue implements rowwise.ClaimTx. The jobs of a queue are one stream. A transaction that takes jobs looks for them in TakeJobs.
func (t *claimTx) FindDue(context.Context, store.ClaimRequest, time.Time) (due []rowwise.Stream, err error) {
	if t.due {
		due = []rowwise.Stream{{}}
	}
	return due, nil
}

// NextDue implements rowwise.ClaimTx.
func (t *claimTx) NextDue(ctx context.Context, queue string, now time.Time) (time.Time, error) {
	if t.took {
		return t.next, nil
	}
	var next nextDue
	err := t.tx.QueryRow(ctx, t.b.q(findNextDue), when(now), queue, "").Scan(next.targets()...)
	return next.at, err
}

// TakeJobs implements rowwise.ClaimTx.
func (t *claimTx) TakeJobs(
	ctx context.Context, req store.ClaimRequest, _ []rowwise.Stream, _ bool, now time.Time,
) (jobs []store.Claimed, batch int64, err error) {
	held := make(map[string]string, len(t.fresh))
	fresh := make([]int64, len(t.fresh))
	for i, a := range t.fresh {
		fresh[i], held[strconv.FormatInt(a.Job.ID, 10)] = a.Job.ID, arrayOf(a.Held)
	}
	ids, err := t.lockDue(ctx, &req, fresh, now)
	if err != nil || len(ids) == 0 {
		return nil, 0, err
	}
	permits, err := json.Marshal(held)
	if err != nil {
		return nil, 0, err
	}
	var both pgx.Batch
	both.Queue(t.b.q(takeJobs), when(now), req.Node, req.Limit-req.Ahead, ids, string(permits)).Query(func(rows pgx.Rows) (err error) {
		jobs, batch, err = scanClaimed(rows, req)
		return err
	})
	var next nextDue
	both.Queue(t.b.q(findNextDue), when(now), req.Queue, "").QueryRow(func(row pgx.Row) error { return row.Scan(next.targets()...) })
	if err := send(ctx, t.tx, &both); err != nil {
		return nil, 0, err
	}
	t.took, t.next = true, next.at
	slices.SortFunc(jobs, store.CompareClaimed)
	t.fresh = slices.DeleteFunc(t.fresh, func(a store.Allotment) bool { _, taken := slices.BinarySearch(ids, a.Job.ID); return taken })
	return jobs, batch, nil
}

// lockDue locks the jobs that a claim takes, also of those that get the permits that they need together with the claim, and returns
// their numbers, ascending.
func (t *claimTx) lockDue(ctx context.Context, req *store.ClaimRequest, fresh []int64, now time.Time) ([]int64, error) {
	name := lockDueJobs
	if req.Suspects {
		name = lockSuspects
	}
	jobs, err := collect(ctx, t.tx, func(r pgx.CollectableRow) (j store.Claimed, err error) {
		err = r.Scan(&j.ID, &j.Priority, into(&j.RunAt))
		return j, err
	}, t.b.q(name), lockDueArgs(req, t.steps.from, fresh, now)...)
	if err != nil {
		return nil, err
	}
	jobs = store.LongestDue(jobs, req.Limit)
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
	}
	slices.Sort(ids)
	return ids, nil
}

// lockDueArgs are the arguments of lockDueJobs and lockSuspects.
func lockDueArgs(req *store.ClaimRequest, from cursors, fresh []int64, now time.Time) []any {
	most := req.Limit
	if req.DueFor > 0 {
		most *= priorities // the jobs that have been due for longest may have any priority
	}
	lowRunAt, lowID := from.columns()
	return append([]any{
		when(now), req.Queue, req.Kinds, lowRunAt, lowID, req.DueFor.Microseconds(), req.Limit, most, fresh,
	}, exactColumns(req.Exact)...)
}

// ReadStart implements rowwise.ClaimTx.
func (t *claimTx) ReadStart(ctx context.Context, asked time.Time, out *store.ClaimResult) (now time.Time, err error) {
	if out.StartsFrom.IsZero() {
		out.StartsFrom = time.Now()
	}
	err = t.tx.QueryRow(ctx, t.b.q(readClockAgain), when(asked)).Scan(into(&now))
	return now, err
}

// end stores permits of jobs that were not claimed, and wakes other nodes for jobs that can be claimed now.
func (t *claimTx) end(ctx context.Context) error {
	return cmp.Or(t.lanesTx.SaveAllotments(ctx, t.fresh, t.saveAt), t.b.wakeQueues(ctx, t.tx, t.freed))
}
