package postgres

import (
	"context"
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
	// mostLaneSteps is how many steps pass on permits before one claim, and fewLaneSteps how many of them go on to let jobs wait
	// before other jobs may overtake these.
	mostLaneSteps = 50
	fewLaneSteps  = 4
	// busyLanes is when a claim comes back whose step met lanes that another transaction had locked.
	busyLanes = 100 * time.Millisecond
)

// limitedQueues are the queues that limits concern whose permits jobs hold, as far as claims have found out. It is safe for
// concurrent use.
type limitedQueues struct {
	mu     sync.Mutex
	queues map[string]bool
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
	left          bool    // due jobs may be left that have neither permits nor wait
}

// claimLimited is claim for a queue that limits concern whose permits jobs hold.
func (b *Backend) claimLimited(ctx context.Context, req store.ClaimRequest, from cursors) (store.ClaimResult, claimFound, error) {
	work, err := b.tendLanes(ctx, req, from)
	if err != nil {
		return store.ClaimResult{}, claimFound{}, err
	}
	b.limited.set(req.Queue, work.limited)
	out, found, err := b.claimTended(ctx, req, from, work.limited)
	found.left = work.left
	if err == nil && len(out.Jobs) < req.Limit && !req.Suspects {
		if work.left {
			work.next = out.Now
		}
		out.NextDue = earliest(out.NextDue, work.next)
	}
	return out, found, err
}

// earliest returns the earlier of two instants; zero means none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// tendLanes passes on permits, and gives permits to jobs that a claim may take, until nothing is left to do or enough jobs
// can be claimed. If very many due jobs have to wait, it lets jobs of other lanes overtake them, and leaves what takes much longer than
// to look for such jobs to the next claim, which follows at once.
func (b *Backend) tendLanes(ctx context.Context, req store.ClaimRequest, from cursors) (work laneWork, err error) {
	admitted, tended := 0, false
	var overtaken time.Time // when jobs may have overtaken others
	var looked time.Duration
	for step := range mostLaneSteps {
		if work, err = b.lookForLanes(ctx, req, from); err != nil || !work.limited || !work.alive || work.paused || work.rated && !req.Starts {
			return work, err
		}
		if work.pauses && !tended {
			tended = true
			if err := b.tendPauses(ctx, req.Now, work.ended, true); err != nil {
				return work, err
			}
			continue
		}
		if !work.found && len(work.fresh) == 0 {
			return work, nil
		}
		passed, err := b.passOnPermits(ctx, req.Now, work.fresh)
		if codeOf(err) == lockNotAvailable {
			work.next = time.Now().Add(busyLanes)
			return work, nil
		}
		if err != nil {
			return work, err
		}
		work.next = earliest(work.next, passed.Next)
		admitted += passed.Admitted
		if !passed.More && len(work.fresh) < rowwise.FreshRows {
			return work, nil
		}
		if len(work.fresh) < rowwise.FreshRows {
			continue
		}
		if looked == 0 && admitted < req.Limit && step+1 >= fewLaneSteps && !req.Suspects {
			began := time.Now()
			n, err := b.overtake(ctx, req, from)
			if err != nil {
				return work, err
			}
			admitted += n
			overtaken = time.Now()
			looked = max(overtaken.Sub(began), 1)
		}
		if work.left = looked > 0; admitted >= req.Limit || work.left && time.Since(overtaken) > looked {
			return work, nil
		}
	}
	return work, nil
}

// overtake gives permits to the first jobs in whose lanes no job waits, at most as many as the claim takes, and returns how many jobs
// can be claimed that could not before.
func (b *Backend) overtake(ctx context.Context, req store.ClaimRequest, from cursors) (int, error) {
	lowRunAt, lowID := from.columns()
	name, args := findOvertakers, []any{when(req.Now), req.Queue, req.Kinds, lowRunAt, lowID, req.Suspects, req.Limit}
	if len(req.Exact) > 0 {
		name, args = findExactOvertakers, append(args, exactColumns(req.Exact)...)
	}
	var ids []int64
	err := b.pipeline(ctx, nodeConns, "look for permits", func(s sender) error {
		ids = nil
		var id int64
		var batch pgx.Batch
		batch.Queue(b.q(name), args...).Query(scanEach([]any{&id}, func() { ids = append(ids, id) }))
		return send(ctx, s, &batch)
	})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	passed, err := b.passOnPermits(ctx, req.Now, ids)
	if codeOf(err) == lockNotAvailable {
		return 0, nil
	}
	return passed.Admitted, err
}

// lookForLanes finds out what is to be done before a claim. It locks nothing.
func (b *Backend) lookForLanes(ctx context.Context, req store.ClaimRequest, from cursors) (work laneWork, err error) {
	lowRunAt, lowID := from.columns()
	name := findNewLaneJobs
	args := []any{when(req.Now), req.Queue, req.Kinds, lowRunAt, lowID, req.Suspects, req.Limit + rowwise.FreshRows, rowwise.FreshRows}
	if len(req.Exact) > 0 {
		name, args = findNewExactLaneJobs, append(args, exactColumns(req.Exact)...)
	}
	err = b.pipeline(ctx, nodeConns, "look for permits", func(s sender) error {
		work = laneWork{}
		var id int64
		var batch pgx.Batch
		batch.Queue(b.q(findLaneWork), when(req.Now), req.Queue, req.Node).QueryRow(func(row pgx.Row) error {
			return row.Scan(&work.limited, &work.rated, &work.found, &work.pauses, &work.ended, into(&work.next), &work.alive, &work.paused)
		})
		batch.Queue(b.q(name), args...).Query(scanEach([]any{&id}, func() { work.fresh = append(work.fresh, id) }))
		return send(ctx, s, &batch)
	})
	return work, err
}

// passOnPermits makes one step; see rowwise.PassOnPermits. fresh are jobs that need permits. It does not wait long for
// other transactions.
func (b *Backend) passOnPermits(ctx context.Context, asked time.Time, fresh []int64) (passed rowwise.Passed, err error) {
	err = b.transact(ctx, nodeConns, "pass on permits", b.workBegin()+impatient, func(tx pgx.Tx) error {
		now, err := b.instantOf(ctx, tx, asked)
		if err != nil {
			return err
		}
		t := lanesTx{auditTx{b, tx}}
		var jobs []store.LaneJob
		if len(fresh) > 0 {
			if jobs, err = t.laneJobs(ctx, lockNewLaneJobs, fresh); err != nil {
				return err
			}
		}
		if passed, err = rowwise.PassOnPermits(ctx, t, jobs, now); err != nil {
			return err
		}
		return b.wakeQueues(ctx, tx, passed.Queues)
	})
	return passed, err
}

// passOnSoon passes on permits after a transaction that may have given some back. What it does not do is done before later claims.
func (b *Backend) passOnSoon(ctx context.Context, asked *time.Time) {
	if asked != nil || !b.limited.any() {
		return
	}
	for range mostLaneSteps {
		var work laneWork
		err := b.pipeline(ctx, nodeConns, "look for permits", func(s sender) error {
			var batch pgx.Batch
			batch.Queue(b.q(findLaneWork), nil, "", 0).QueryRow(func(row pgx.Row) error {
				return row.Scan(&work.limited, &work.rated, &work.found, &work.pauses, &work.ended, into(&work.next), &work.alive, &work.paused)
			})
			return send(ctx, s, &batch)
		})
		if err != nil || !work.found {
			return
		}
		if passed, err := b.passOnPermits(ctx, time.Time{}, nil); err != nil || !passed.More {
			return
		}
	}
}

// lanesTx implements rowwise.LanesTx.
type lanesTx struct{ auditTx }

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
	limits, names := make([]int64, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		limits[i], names[i] = key.Limit, key.Key
	}
	if _, err := t.tx.Exec(ctx, t.b.q(insertLanes), limits, names); err != nil {
		return nil, err
	}
	ids := make(map[store.LaneKey]int64, len(keys))
	var key store.LaneKey
	var id int64
	err := each(ctx, t.tx, []any{&key.Limit, &key.Key, &id}, func() { ids[key] = id }, t.b.q(findLaneKeys), limits, names)
	return ids, err
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

// Admit implements rowwise.LanesTx.
func (t lanesTx) Admit(ctx context.Context, admissions []store.Admission, now time.Time) error {
	n := len(admissions)
	ids, states, lanes, permits := make([]int64, n), make([]int16, n), make([]int64, n), make([]string, n)
	for i, a := range admissions {
		ids[i], lanes[i], permits[i] = a.Job.ID, a.Wait, arrayOf(a.Held)
		switch {
		case a.Wait != 0 && a.Job.First:
			states[i] = firstInLane
		case a.Wait != 0:
			states[i] = inLane
		}
	}
	_, err := t.tx.Exec(ctx, t.b.q(admitJobs), when(now), ids, states, lanes, permits)
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
