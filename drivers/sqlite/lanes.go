package sqlite

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// HasNewLaneJobs implements rowwise.ClaimTx.
func (s *session) HasNewLaneJobs(ctx context.Context, req store.ClaimRequest, now time.Time) (bool, error) {
	fresh, err := s.freshJobs(ctx, req, now)
	return len(fresh) > 0, err
}

// LockNewLaneJobs implements rowwise.ClaimTx.
func (s *session) LockNewLaneJobs(ctx context.Context, req store.ClaimRequest, _ store.LaneWork, way store.ClaimWay,
	now time.Time,
) (fresh rowwise.FreshJobs, err error) {
	fresh.Jobs, err = s.freshJobs(ctx, req, now)
	fresh.Left = len(fresh.Jobs) == rowwise.FreshRows
	if err != nil || !fresh.Left || !way.Last || req.Suspects {
		return fresh, err
	}
	overtaking, err := s.overtakingJobs(ctx, req, now)
	for i := range overtaking {
		if id := overtaking[i].ID; !slices.ContainsFunc(fresh.Jobs, func(j store.LaneJob) bool { return j.ID == id }) {
			fresh.Jobs = append(fresh.Jobs, overtaking[i])
		}
	}
	return fresh, err
}

// freshJobs returns due jobs that limits concern, that hold no permits, and that a claim may take, at most rowwise.FreshRows.
func (s *session) freshJobs(ctx context.Context, req store.ClaimRequest, now time.Time) ([]store.LaneJob, error) {
	a := args{"queue": req.Queue, "limit": rowwise.FreshRows, "now": sqlrows.Micros(now)}
	if req.Suspects {
		a["kinds"] = sqlrows.JSONList(req.Kinds)
		addExact(a, req.Exact)
		return s.laneJobs(ctx, lockNewLaneSuspects, a)
	}
	due, err := s.FindDue(ctx, req, now)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	a["streams"], a["scan"] = sqlrows.JSON(due), req.Limit+rowwise.FreshRows
	return s.laneJobs(ctx, lockNewLaneJobs, a)
}

// overtakingJobs returns the first of these jobs in whose lanes no job waits, at most as many as the claim takes.
func (s *session) overtakingJobs(ctx context.Context, req store.ClaimRequest, now time.Time) ([]store.LaneJob, error) {
	due, err := s.FindDue(ctx, req, now)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	return s.laneJobs(ctx, findOvertakingJobs, args{"queue": req.Queue, "limit": req.Limit, "now": sqlrows.Micros(now), "streams": sqlrows.JSON(due)})
}

// laneJobColumns are the columns that session.laneJobs scans.
const laneJobColumns = "id lane first run_at queue kind job_key priority"

func (s *session) laneJobs(ctx context.Context, name statement, a args) (jobs []store.LaneJob, err error) {
	err = s.Each(ctx, name, a, func(r row) error {
		var j store.LaneJob
		err := r.Scan(&j.ID, &j.Lane, &j.First, sqlrows.IntoTime(&j.RunAt), &j.Queue, &j.Kind, &j.Key, &j.Priority)
		jobs = append(jobs, j)
		return err
	})
	return jobs, err
}

// TakeVacancies implements rowwise.LanesTx.
func (s *session) TakeVacancies(ctx context.Context, limit int) (vacancies []rowwise.Vacancy, err error) {
	err = s.Each(ctx, takeVacancies, args{"limit": limit}, func(r row) error {
		var v rowwise.Vacancy
		var lanes string
		if err := r.Scan(&v.Limit, &v.DoneTo, &lanes); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(lanes), &v.Lanes)
		vacancies = append(vacancies, v)
		return err
	})
	return vacancies, err
}

// newVacancy is a changed limit on its way to insert_vacancies.sql.
type newVacancy struct {
	Limit  int64 `json:"limit"`
	DoneTo int64 `json:"done_to"`
}

// InsertVacancies implements rowwise.LanesTx.
func (s *session) InsertVacancies(ctx context.Context, vacancies []rowwise.Vacancy) error {
	if len(vacancies) == 0 {
		return nil
	}
	rows := make([]newVacancy, len(vacancies))
	for i, v := range vacancies {
		rows[i] = newVacancy{v.Limit, v.DoneTo}
	}
	return s.Exec(ctx, sqlrows.InsertVacancies, args{"vacancies": sqlrows.JSON(rows)})
}

// leaveLanes records that jobs give back their permits. again: the jobs are tried again, and keep the permits of strict limits.
func (s *session) leaveLanes(ctx context.Context, ids []int64, again bool) error {
	if len(ids) == 0 {
		return nil
	}
	return s.Exec(ctx, insertJobVacancies, args{"ids": ids, "strict": again})
}

// laneName names a lane in the JSON of a parameter.
type laneName struct {
	Limit int64  `json:"limit"`
	Key   string `json:"key"`
}

// MakeLanes implements rowwise.LanesTx.
func (s *session) MakeLanes(ctx context.Context, keys []store.LaneKey) (map[store.LaneKey]int64, error) {
	names := make([]laneName, len(keys))
	for i, key := range keys {
		names[i] = laneName(key)
	}
	a := args{"lanes": sqlrows.JSONList(names)}
	if err := s.Exec(ctx, sqlrows.InsertLanes, a); err != nil {
		return nil, err
	}
	ids := make(map[store.LaneKey]int64, len(keys))
	err := s.Each(ctx, sqlrows.FindLaneKeys, a, func(r row) error {
		var key store.LaneKey
		var id int64
		err := r.Scan(&key.Limit, &key.Key, &id)
		ids[key] = id
		return err
	})
	return ids, err
}

// LockLanes implements rowwise.LanesTx.
func (s *session) LockLanes(ctx context.Context, ids []int64) (lanes []store.Lane, err error) {
	err = s.Each(ctx, sqlrows.LockLanes, args{"ids": sqlrows.JSONList(ids)}, func(r row) error {
		var l store.Lane
		err := r.Scan(&l.ID, &l.Limit, &l.Key, &l.Used, &l.Starts, &l.Waiting, sqlrows.IntoTime(&l.TAT), sqlrows.IntoTime(&l.NotBefore), sqlrows.IntoTime(&l.LookAt))
		lanes = append(lanes, l)
		return err
	})
	return lanes, err
}

// FindLaneJobs implements rowwise.LanesTx.
func (s *session) FindLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error) {
	byMost := map[int][]int64{}
	for i, lane := range lanes {
		byMost[most[i]] = append(byMost[most[i]], lane)
	}
	var jobs []store.LaneJob
	for n, lanes := range byMost {
		some, err := s.laneJobs(ctx, lockLaneJobs, args{"lanes": sqlrows.JSONList(lanes), "limit": n, "now": sqlrows.Micros(now)})
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, some...)
	}
	return jobs, nil
}

// LockLaneJobs implements rowwise.LanesTx.
func (s *session) LockLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error) {
	return s.FindLaneJobs(ctx, lanes, most, now)
}

// allotment is a job on its way to allot_permits.sql.
type allotment struct {
	ID      int64   `json:"id"`
	State   int     `json:"state"`
	Lane    int64   `json:"lane"`
	Permits []int64 `json:"permits"`
}

// SaveAllotments implements rowwise.LanesTx.
func (s *session) SaveAllotments(ctx context.Context, allotments []store.Allotment, now time.Time) error {
	rows := make([]allotment, len(allotments))
	for i, a := range allotments {
		rows[i] = allotment{ID: a.Job.ID, Lane: a.Wait, Permits: a.Held}
		switch {
		case a.Wait != 0 && a.Job.First:
			rows[i].State = sqlrows.FirstInLane
		case a.Wait != 0:
			rows[i].State = sqlrows.InLane
		}
	}
	return s.Exec(ctx, sqlrows.AllotPermits, args{"jobs": sqlrows.JSON(rows), "now": sqlrows.Micros(now)})
}

// UseStarts implements rowwise.LanesTx.
func (s *session) UseStarts(ctx context.Context, jobs []int64) (starts []rowwise.UsedStart, err error) {
	a := args{"ids": sqlrows.JSONList(jobs)}
	err = s.Each(ctx, findStarts, a, func(r row) error {
		var start rowwise.UsedStart
		err := r.Scan(&start.Job, &start.Lane)
		starts = append(starts, start)
		return err
	})
	if err != nil || len(starts) == 0 {
		return nil, err
	}
	return starts, s.Exec(ctx, sqlrows.UseStarts, a)
}

// scope are the parameters that have which jobs a limit concerns.
func scope(l *store.Limit) args { return args{"queue": l.Queue, "kind": l.Kind, "by_key": l.ByKey} }

// LockRunning implements rowwise.LanesTx.
func (s *session) LockRunning(ctx context.Context, limit *store.Limit) ([]store.LaneJob, error) {
	return s.laneJobs(ctx, lockRunningLaneJobs, scope(limit))
}

// LockUnclaimed implements rowwise.LanesTx.
func (s *session) LockUnclaimed(ctx context.Context, limit *store.Limit, after int64, most int) ([]store.LaneJob, int64, error) {
	a := scope(limit)
	a["after_id"] = after
	return s.holders(ctx, most, sqlrows.LockPermittedJobs, a)
}

// LockHolders implements rowwise.LanesTx.
func (s *session) LockHolders(ctx context.Context, lanes []int64, most int) ([]store.LaneJob, int64, error) {
	return s.holders(ctx, most, lockLaneHolders, args{"lanes": sqlrows.JSONList(lanes)})
}

// holders returns the jobs that a statement finds, at most a number, with the permits that they hold, and the number of the last if
// there may be more.
func (s *session) holders(ctx context.Context, most int, name statement, a args) (jobs []store.LaneJob, to int64, err error) {
	a["limit"] = most
	err = s.Each(ctx, name, a, func(r row) error {
		var j store.LaneJob
		var lanes string
		if err := r.Scan(&j.ID, &lanes); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(lanes), &j.Lanes)
		jobs = append(jobs, j)
		return err
	})
	if len(jobs) == most {
		to = jobs[most-1].ID
	}
	return jobs, to, err
}

// returnPausedPermits takes the permits from jobs of a subject that no node has claimed.
func (s *session) returnPausedPermits(ctx context.Context, of store.PauseSubject, name string) error {
	ids, err := s.Numbers(ctx, sqlrows.FindPausedPermits, args{"subject": int16(of), "name": name})
	if err != nil {
		return err
	}
	if err := s.leaveLanes(ctx, ids, false); err != nil {
		return err
	}
	return s.OnIDs(ctx, ids, sqlrows.ClearPermits)
}

// DeleteLanes implements rowwise.LanesTx.
func (s *session) DeleteLanes(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, sqlrows.DeleteLanes)
}

// DeleteEndedLimits implements rowwise.LanesTx.
func (s *session) DeleteEndedLimits(ctx context.Context) error {
	return s.Exec(ctx, sqlrows.DeleteEndedLimits, nil)
}
