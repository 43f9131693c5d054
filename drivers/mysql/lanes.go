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
	s.claims = !work.Rated // a start under a rate that comes late is lost, so that these claims wait for each other
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
	if fresh.Jobs, err = s.laneJobs(ctx, lockNewLaneJobs, ids); err == nil && s.cluster { // as each claim does, which changes of limits wait for; see touchJobs
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

// laneJobColumns are the columns that session.laneJobs scans.
const laneJobColumns = "id lane first run_at queue kind job_key priority"

// laneJobs runs one of the statements that read or lock jobs by number, and returns the jobs.
func (s *session) laneJobs(ctx context.Context, name statement, ids []int64) (jobs []store.LaneJob, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	err = s.Each(ctx, name, args{"ids": sqlrows.JSONList(ids)}, func(r row) error {
		var j store.LaneJob
		err := r.Scan(&j.ID, &j.Lane, &j.First, sqlrows.IntoTime(&j.RunAt), &j.Queue, &j.Kind, &j.Key, &j.Priority)
		jobs = append(jobs, j)
		return err
	})
	return jobs, err
}

// TakeVacancies implements rowwise.LanesTx.
func (s *session) TakeVacancies(ctx context.Context, limit int) (vacancies []rowwise.Vacancy, err error) {
	var ids []int64
	err = s.Each(ctx, takeVacancies, args{"limit": limit}, func(r row) error {
		var id int64
		var v rowwise.Vacancy
		err := r.Scan(&id, &v.Limit, &v.DoneTo, sqlrows.IntoList(&v.Lanes))
		ids, vacancies = append(ids, id), append(vacancies, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return vacancies, s.OnIDs(ctx, ids, deleteVacancies)
}

// InsertVacancies implements rowwise.LanesTx.
func (s *session) InsertVacancies(ctx context.Context, vacancies []rowwise.Vacancy) error {
	rows := make([]args, len(vacancies))
	for i, v := range vacancies {
		rows[i] = args{"limit": sqlrows.OrNull(v.Limit), "done_to": v.DoneTo, "lanes": sqlrows.JSONList(v.Lanes)}
	}
	err := s.insertRows(ctx, sqlrows.InsertVacancies, rows)
	return err
}

// leaveLanes records that jobs, which are locked, give back their permits. again: the jobs are tried again, keep their permits if
// one of them is of a strict limit and none of a limit with a rate, and otherwise have none afterwards.
func (s *session) leaveLanes(ctx context.Context, ids []int64, again bool) error {
	vacated, err := s.vacate(ctx, ids, again)
	if err != nil || !again {
		return err
	}
	return s.OnIDs(ctx, vacated, sqlrows.ClearPermits, updateRare)
}

// vacate records that jobs give back their permits, and returns which of them held permits. strict: jobs with a permit of a
// strict limit keep theirs.
func (s *session) vacate(ctx context.Context, ids []int64, strict bool) (vacated []int64, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	held, err := s.permitsOf(ctx, findJobPermits, ids)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	var strictLanes, ratedLanes []int64
	if strict {
		var lanes []int64
		for i := range held {
			for _, permit := range held[i].Lanes {
				lane, _ := store.PermitOf(permit)
				lanes = append(lanes, lane)
			}
		}
		err := s.Each(ctx, findStrictLanes, args{"ids": lanes}, func(r row) error {
			var id int64
			var strict, rated bool
			err := r.Scan(&id, &strict, &rated)
			if strict {
				strictLanes = append(strictLanes, id)
			}
			if rated {
				ratedLanes = append(ratedLanes, id)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	among := func(lanes []int64) func(int64) bool {
		return func(permit int64) bool { return slices.Contains(lanes, permit) }
	}
	var v rowwise.Vacancy
	for i := range held {
		permits := held[i].Lanes
		if !slices.ContainsFunc(permits, among(strictLanes)) || slices.ContainsFunc(permits, among(ratedLanes)) {
			v.Lanes = append(v.Lanes, held[i].Lanes...)
			vacated = append(vacated, held[i].ID)
		}
	}
	if len(v.Lanes) == 0 {
		return vacated, nil
	}
	return vacated, s.InsertVacancies(ctx, []rowwise.Vacancy{v})
}

// permitsOf runs one of the statements that return the permits of jobs by number.
func (s *session) permitsOf(ctx context.Context, name statement, ids []int64) (jobs []store.LaneJob, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.Each(ctx, name, args{"ids": sqlrows.JSONList(slices.Sorted(slices.Values(ids)))}, func(r row) error {
		var j store.LaneJob
		err := r.Scan(&j.ID, sqlrows.IntoList(&j.Lanes))
		jobs = append(jobs, j)
		return err
	})
	return jobs, err
}

// MakeLanes implements rowwise.LanesTx.
func (s *session) MakeLanes(ctx context.Context, keys []store.LaneKey) (map[store.LaneKey]int64, error) {
	ids, err := s.laneNumbers(ctx, keys)
	if err != nil || len(ids) == len(keys) {
		return ids, err
	}
	var missing []args
	for _, key := range keys {
		if _, found := ids[key]; !found {
			missing = append(missing, args{"limit": key.Limit, "key": key.Key})
		}
	}
	if err := s.insertRows(ctx, sqlrows.InsertLanes, missing); err != nil {
		return nil, err
	}
	return s.laneNumbers(ctx, keys)
}

// laneNumbers returns the numbers of lanes; a lane that does not exist has none.
func (s *session) laneNumbers(ctx context.Context, keys []store.LaneKey) (map[store.LaneKey]int64, error) {
	type laneName struct {
		Limit int64  `json:"limit"`
		Key   string `json:"key"`
	}
	names := make([]laneName, len(keys))
	for i, key := range keys {
		names[i] = laneName(key)
	}
	ids := make(map[store.LaneKey]int64, len(keys))
	err := s.Each(ctx, sqlrows.FindLaneKeys, args{"lanes": sqlrows.JSONList(names)}, func(r row) error {
		var key store.LaneKey
		var id int64
		err := r.Scan(&key.Limit, &key.Key, &id)
		ids[key] = id
		return err
	})
	return ids, err
}

// errBusyLanes: another transaction has locked lanes that a claim needs.
var errBusyLanes = errors.New("another transaction has locked lanes")

// LockLanes implements rowwise.LanesTx. In a claim its error is errBusyLanes if it would have to wait.
func (s *session) LockLanes(ctx context.Context, ids []int64) (lanes []store.Lane, err error) {
	lock := sqlrows.LockLanes
	if s.claims {
		lock = lockFreeLanes
	}
	err = s.Each(ctx, lock, args{"ids": sqlrows.JSONList(slices.Sorted(slices.Values(ids)))}, func(r row) error {
		var l store.Lane
		err := r.Scan(&l.ID, &l.Limit, &l.Key, &l.Used, &l.Starts, &l.Waiting, sqlrows.IntoTime(&l.TAT), sqlrows.IntoTime(&l.NotBefore), sqlrows.IntoTime(&l.LookAt))
		lanes = append(lanes, l)
		return err
	})
	if number := numberOf(err); s.claims && (number == errLockWaitTimeout || number == errLockedNow) {
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

// allotment is a job on its way to allot_permits.sql.
type allotment struct {
	ID      int64   `json:"id"`
	State   int     `json:"state"`
	Lane    int64   `json:"lane"`
	Permits *string `json:"permits"` // a JSON text
	Waited  int     `json:"waited"`  // 1: the job leaves its lane
}

// SaveAllotments implements rowwise.LanesTx.
func (s *session) SaveAllotments(ctx context.Context, allotments []store.Allotment, now time.Time) error {
	rows, ids := make([]allotment, len(allotments)), make([]int64, len(allotments))
	var waiting []int64
	for i, a := range allotments {
		if ids[i] = a.Job.ID; a.Wait != 0 {
			waiting = append(waiting, a.Job.ID)
		}
		rows[i] = allotment{ID: a.Job.ID, Lane: a.Wait, Permits: listOrNull(a.Held)}
		switch {
		case a.Wait != 0 && a.Job.First:
			rows[i].State = sqlrows.FirstInLane
		case a.Wait != 0:
			rows[i].State = sqlrows.InLane
		case a.Job.Lane != 0:
			rows[i].Waited = 1
		}
	}
	if err := s.OnIDs(ctx, waiting, insertMissingRare); err != nil {
		return err
	}
	return s.updateAfter(ctx, ids, s.Exec(ctx, sqlrows.AllotPermits, args{"jobs": sqlrows.JSON(rows), "now": sqlrows.Micros(now)}))
}

// UseStarts implements rowwise.LanesTx.
func (s *session) UseStarts(ctx context.Context, jobs []int64) ([]rowwise.UsedStart, error) {
	held, err := s.permitsOf(ctx, findJobPermits, jobs)
	if err != nil {
		return nil, err
	}
	var starts []rowwise.UsedStart
	var rows []allotment
	for i := range held {
		n := len(starts)
		permits := slices.DeleteFunc(slices.Clone(held[i].Lanes), func(permit int64) bool {
			lane, start := store.PermitOf(permit)
			if start {
				starts = append(starts, rowwise.UsedStart{Job: held[i].ID, Lane: lane})
			}
			return start
		})
		if len(starts) > n {
			rows = append(rows, allotment{ID: held[i].ID, Permits: listOrNull(permits)})
		}
	}
	if len(starts) == 0 {
		return nil, nil
	}
	return starts, s.Exec(ctx, sqlrows.UseStarts, args{"jobs": sqlrows.JSON(rows)})
}

// scope are the parameters that have which jobs a limit concerns.
func scope(l *store.Limit) args { return args{"queue": l.Queue, "kind": l.Kind, "by_key": l.ByKey} }

// LockRunning implements rowwise.LanesTx.
func (s *session) LockRunning(ctx context.Context, limit *store.Limit) ([]store.LaneJob, error) {
	ids, err := s.Numbers(ctx, findRunningLaneJobs, scope(limit))
	if err != nil {
		return nil, err
	}
	return s.laneJobs(ctx, lockRunningLaneJobs, ids)
}

// LockUnclaimed implements rowwise.LanesTx.
func (s *session) LockUnclaimed(ctx context.Context, limit *store.Limit, after int64, most int) ([]store.LaneJob, int64, error) {
	a := scope(limit)
	a["after_id"] = after
	return s.holders(ctx, most, findPermittedJobs, a)
}

// holders locks the jobs that a statement finds, at most a number, and returns them with the permits that they hold, and the number of
// the last that it has found if there may be more.
func (s *session) holders(ctx context.Context, most int, name statement, a args) (jobs []store.LaneJob, to int64, err error) {
	a["limit"] = most
	ids, err := s.Numbers(ctx, name, a)
	if err != nil {
		return nil, 0, err
	}
	if len(ids) == most {
		to = ids[most-1]
	}
	jobs, err = s.permitsOf(ctx, sqlrows.LockPermittedJobs, ids)
	return jobs, to, err
}

// LockHolders implements rowwise.LanesTx.
func (s *session) LockHolders(ctx context.Context, lanes []int64, most int) ([]store.LaneJob, int64, error) {
	return s.holders(ctx, most, findLaneHolders, args{"lanes": lanes})
}

// returnPausedPermits takes the permits from jobs of a subject that no node has claimed.
func (s *session) returnPausedPermits(ctx context.Context, of store.PauseSubject, name string) error {
	ids, err := s.Numbers(ctx, sqlrows.FindPausedPermits, args{"subject": int16(of), "name": name})
	if err != nil {
		return err
	}
	_, err = s.takePermits(ctx, ids)
	return err
}

// DeleteLanes implements rowwise.LanesTx.
func (s *session) DeleteLanes(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, slices.Sorted(slices.Values(ids)), sqlrows.DeleteLanes)
}

// DeleteEndedLimits implements rowwise.LanesTx.
func (s *session) DeleteEndedLimits(ctx context.Context) error {
	return s.Exec(ctx, sqlrows.DeleteEndedLimits, nil)
}
