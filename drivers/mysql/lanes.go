package mysql

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// HasNewLaneJobs implements rowwise.ClaimTx.
func (s *session) HasNewLaneJobs(ctx context.Context, req store.ClaimRequest, now time.Time) (bool, error) {
	fresh, err := s.freshJobs(ctx, findNewLaneJobs, req, 1, now)
	return len(fresh) > 0, err
}

// LockNewLaneJobs implements rowwise.ClaimTx.
func (s *session) LockNewLaneJobs(ctx context.Context, req store.ClaimRequest, work store.LaneWork, way store.ClaimWay,
	now time.Time,
) (fresh rowwise.FreshJobs, err error) {
	s.impatient = !work.Rated // a start under a rate that comes late is lost, so that these claims wait for each other
	ids, err := s.freshJobs(ctx, findNewLaneJobs, req, rowwise.FreshRows, now)
	if err != nil || len(ids) == 0 && !work.Found {
		return fresh, err
	}
	if fresh.Left = len(ids) == rowwise.FreshRows; fresh.Left && way.Last {
		overtaking, err := s.freshJobs(ctx, findOvertakingJobs, req, req.Limit, now)
		if err != nil {
			return fresh, err
		}
		ids = append(ids, overtaking...)
	}
	if fresh.Jobs, err = s.laneJobs(ctx, lockNewLaneJobs, ids); err == nil && s.cluster { // as each claim does, which changes of limits wait for; see TouchJobs
		_, err = s.raiseTokens(ctx, 1)
	}
	return fresh, err
}

// freshJobs returns the numbers of due jobs that limits concern, that hold no permits, and that a claim may take.
func (s *session) freshJobs(ctx context.Context, name statement, req store.ClaimRequest, most int, now time.Time) ([]int64, error) {
	a := args{"queue": req.Queue, "kinds": req.Kinds, "suspects": req.Suspects, "limit": most, "now": sqlrows.Micros(now)}
	addExact(a, req.Exact)
	return s.Numbers(ctx, name, a)
}

// LeaveLanes implements sqlrows.Dialect. Jobs that are tried again, and do not keep their permits, have none afterwards.
func (s *session) LeaveLanes(ctx context.Context, ids []int64, again bool) error {
	vacated, err := s.vacate(ctx, ids, again)
	if err != nil || !again {
		return err
	}
	return s.OnIDs(ctx, vacated, sqlrows.ClearPermits, updateRare)
}

// vacate records that jobs give back their permits, and returns which of them held permits. strict: jobs with a permit of a
// strict limit keep theirs, unless one of their lanes has a rate, or more permits in use than it has, because the limit has begun or has
// become less since its jobs began.
func (s *session) vacate(ctx context.Context, ids []int64, strict bool) (vacated []int64, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	held, err := s.JobPermits(ctx, sqlrows.FindJobPermits, ids)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	var keep, give []int64 // lanes whose permits are kept, and lanes whose permits are given back in any case
	if strict {
		if keep, give, err = s.strictLanes(ctx, held); err != nil {
			return nil, err
		}
	}
	among := func(lanes []int64) func(int64) bool {
		return func(permit int64) bool { return slices.Contains(lanes, permit) }
	}
	var v rowwise.Vacancy
	for i := range held {
		permits := held[i].Lanes
		if !slices.ContainsFunc(permits, among(keep)) || slices.ContainsFunc(permits, among(give)) {
			v.Lanes = append(v.Lanes, held[i].Lanes...)
			vacated = append(vacated, held[i].ID)
		}
	}
	if len(v.Lanes) == 0 {
		return vacated, nil
	}
	return vacated, s.InsertVacancies(ctx, []rowwise.Vacancy{v})
}

// strictLanes returns the lanes of strict limits among the lanes of jobs, and the lanes that have a rate, or more permits in use than they have.
func (s *session) strictLanes(ctx context.Context, held []store.LaneJob) (strict, giving []int64, err error) {
	var lanes []int64
	for i := range held {
		for _, permit := range held[i].Lanes {
			lane, _ := store.PermitOf(permit)
			lanes = append(lanes, lane)
		}
	}
	err = s.Each(ctx, findStrictLanes, args{"ids": lanes}, func(r row) error {
		var id int64
		var used int
		var key, weights string
		var limit store.Limit
		var rated bool
		if err := r.Scan(&id, &used, &key, &limit.Strict, &rated, &limit.Concurrency, &weights); err != nil {
			return err
		}
		if limit.Strict {
			strict = append(strict, id)
		}
		err := limit.DecodeWeights(weights)
		if width := limit.Width(key); rated || width > 0 && used > width {
			giving = append(giving, id)
		}
		return err
	})
	return strict, giving, err
}

// laneJobs runs one of the statements that read or lock jobs by number, and returns the jobs.
func (s *session) laneJobs(ctx context.Context, name statement, ids []int64) ([]store.LaneJob, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	return s.LaneJobs(ctx, name, args{"ids": sqlrows.JSONList(slices.Compact(ids))})
}

// SaveAllotments implements rowwise.LanesTx.
func (s *session) SaveAllotments(ctx context.Context, allotments []store.Allotment, now time.Time) error {
	var waiting []int64
	for _, a := range allotments {
		if a.Wait != 0 {
			waiting = append(waiting, a.Job.ID)
		}
	}
	if err := s.OnIDs(ctx, waiting, insertMissingRare); err != nil {
		return err
	}
	ids := sqlrows.NumbersOf(allotments, func(a *store.Allotment) int64 { return a.Job.ID })
	return s.updateAfter(ctx, ids, s.Session.SaveAllotments(ctx, allotments, now))
}

// errBusyLanes: another transaction has locked lanes that a claim needs.
var errBusyLanes = errors.New("another transaction has locked lanes")

// LockLanes implements rowwise.LanesTx. In a claim its error is errBusyLanes if it would have to wait.
func (s *session) LockLanes(ctx context.Context, ids []int64) ([]store.Lane, error) {
	lock := sqlrows.LockLanes
	if s.impatient {
		lock = lockFreeLanes
	}
	lanes, err := s.ReadLanes(ctx, lock, ids)
	if number := numberOf(err); s.impatient && (number == errLockWaitTimeout || number == errLockedNow) {
		return nil, errBusyLanes
	}
	if err != nil {
		return nil, err
	}
	return lanes, s.touch(ctx, touchLanes, ids)
}

// FindLaneJobs implements rowwise.LanesTx.
func (s *session) FindLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error) {
	ids, err := s.waiting(ctx, lanes, most, now)
	if err != nil {
		return nil, err
	}
	return s.laneJobs(ctx, readLaneJobs, ids)
}

// LockLaneJobs implements rowwise.LanesTx.
func (s *session) LockLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error) {
	ids, err := s.waiting(ctx, lanes, most, now)
	if err != nil {
		return nil, err
	}
	return s.laneJobs(ctx, lockLaneJobs, ids)
}

// waiting returns the numbers of the first jobs that wait in lanes and are not paused, of each lane as many as most has in its place.
func (s *session) waiting(ctx context.Context, lanes []int64, most []int, now time.Time) (ids []int64, err error) {
	each := make([]args, len(lanes))
	for i, lane := range lanes {
		each[i] = args{"lane": lane, "limit": most[i], "now": sqlrows.Micros(now)}
	}
	err = s.unite(ctx, findLaneJobs, each, func(r row) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// LockRunning implements rowwise.LanesTx.
func (s *session) LockRunning(ctx context.Context, limit *store.Limit) ([]store.LaneJob, error) {
	ids, err := s.Numbers(ctx, findRunningLaneJobs, sqlrows.Scope(limit))
	if err != nil {
		return nil, err
	}
	return s.laneJobs(ctx, lockRunningLaneJobs, ids)
}
