package postgres

import (
	"context"
	"slices"
	"strconv"
	"strings"
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

// passOnSoon passes on permits after a transaction that may have given some back, if jobs may wait for them. What it does not do is
// done before later claims.
func (b *Backend) passOnSoon(ctx context.Context, asked *time.Time) {
	if asked != nil || !b.gated.any() {
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
		if more, err := b.passOnPermits(ctx); err != nil || !more {
			return
		}
	}
}

// passOnPermits makes one step of rowwise.PassOnPermits without a claim. It does not wait long for other transactions.
func (b *Backend) passOnPermits(ctx context.Context) (more bool, err error) {
	return rowwise.InTx(b.transact(ctx, nodeConns, "pass on permits", b.workBegin()+impatient), func(tx pgx.Tx) (more bool, err error) {
		now, err := b.instantOf(ctx, tx, time.Time{})
		if err != nil {
			return false, err
		}
		passed, err := rowwise.PassOnPermits(ctx, lanesTx{auditTx{b, tx}}, nil, now)
		if err != nil {
			return false, err
		}
		return passed.More, b.wakeQueues(ctx, tx, passed.Queues)
	})
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
	_, err := t.tx.Exec(ctx, t.b.q(deleteLanes), slices.Sorted(slices.Values(ids)))
	return err
}

// DeleteEndedLimits implements rowwise.LanesTx.
func (t lanesTx) DeleteEndedLimits(ctx context.Context) error {
	_, err := t.tx.Exec(ctx, t.b.q(deleteEndedLimits))
	return err
}
