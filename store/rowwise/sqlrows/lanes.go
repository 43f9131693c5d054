package sqlrows

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// FindLanes implements rowwise.LanesTx.
func (s *Session) FindLanes(ctx context.Context, limit, after int64, most int) ([]int64, error) {
	return s.Numbers(ctx, findLanes, Args{"limit_id": limit, "after_id": after, "limit": most})
}

// FindDueLanes implements rowwise.LanesTx.
func (s *Session) FindDueLanes(ctx context.Context, now time.Time, most int) ([]int64, error) {
	return s.Numbers(ctx, findDueLanes, Args{"now": Micros(now), "limit": most})
}

// FindOccupied implements rowwise.LanesTx.
func (s *Session) FindOccupied(ctx context.Context, lanes []int64) ([]int64, error) {
	return s.Numbers(ctx, findOccupiedLanes, Args{"ids": lanes})
}

// LaneJobColumns are the columns that LaneJobs scans.
const LaneJobColumns = "id lane first run_at queue kind job_key priority"

// LaneJobs runs a statement that returns jobs that limits concern.
func (s *Session) LaneJobs(ctx context.Context, name Statement, a Args) ([]store.LaneJob, error) {
	return collect(ctx, s, name, nil, a, func(r Row) (j store.LaneJob, err error) {
		err = r.Scan(&j.ID, &j.Lane, &j.First, IntoTime(&j.RunAt), &j.Queue, &j.Kind, &j.Key, &j.Priority)
		return j, err
	})
}

// TakeVacancies implements rowwise.LanesTx.
func (s *Session) TakeVacancies(ctx context.Context, limit int) (vacancies []rowwise.Vacancy, err error) {
	var ids []int64
	err = s.Each(ctx, takeVacancies, Args{"limit": limit}, func(r Row) error {
		var id int64
		var v rowwise.Vacancy
		err := r.Scan(&id, &v.Limit, &v.DoneTo, IntoList(&v.Lanes))
		ids, vacancies = append(ids, id), append(vacancies, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return vacancies, s.OnIDs(ctx, ids, deleteVacancies)
}

// InsertVacancies implements rowwise.LanesTx.
func (s *Session) InsertVacancies(ctx context.Context, vacancies []rowwise.Vacancy) error {
	rows := make([]Args, len(vacancies))
	for i, v := range vacancies {
		rows[i] = Args{"limit": OrNull(v.Limit), "done_to": v.DoneTo, "lanes": JSONList(v.Lanes)}
	}
	return s.InsertRows(ctx, insertVacancies, rows)
}

// JobPermits runs one of the statements that return the permits of jobs by number, and returns the jobs that hold permits.
func (s *Session) JobPermits(ctx context.Context, name Statement, ids []int64) (jobs []store.LaneJob, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return collect(ctx, s, name, nil, Args{"ids": JSONList(slices.Sorted(slices.Values(ids)))}, func(r Row) (j store.LaneJob, err error) {
		err = r.Scan(&j.ID, IntoList(&j.Lanes))
		return j, err
	})
}

// TakePermits implements Dialect, where the copies of jobs need no update.
func (s *Session) TakePermits(ctx context.Context, ids []int64) (taken []int64, err error) {
	held, err := s.JobPermits(ctx, lockPermittedJobs, ids)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	var v rowwise.Vacancy
	for i := range held {
		v.Lanes, taken = append(v.Lanes, held[i].Lanes...), append(taken, held[i].ID)
	}
	if err := s.InsertVacancies(ctx, []rowwise.Vacancy{v}); err != nil {
		return nil, err
	}
	return taken, s.OnIDs(ctx, taken, ClearPermits)
}

// ReturnPausedPermits takes the permits from jobs of a subject that no node has claimed.
func (s *Session) ReturnPausedPermits(ctx context.Context, of store.PauseSubject, name string) error {
	ids, err := s.Numbers(ctx, findPausedPermits, Args{"subject": int16(of), "name": name})
	if err != nil {
		return err
	}
	_, err = s.Dialect.TakePermits(ctx, ids)
	return err
}

// MakeLanes implements rowwise.LanesTx.
func (s *Session) MakeLanes(ctx context.Context, keys []store.LaneKey) (map[store.LaneKey]int64, error) {
	ids, err := s.laneNumbers(ctx, keys)
	if err != nil || len(ids) == len(keys) {
		return ids, err
	}
	var missing []Args
	for _, key := range keys {
		if _, found := ids[key]; !found {
			missing = append(missing, Args{"limit": key.Limit, "key": key.Key})
		}
	}
	if err := s.InsertRows(ctx, InsertLanes, missing); err != nil {
		return nil, err
	}
	return s.laneNumbers(ctx, keys)
}

// laneNumbers returns the numbers of lanes; a lane that does not exist has none.
func (s *Session) laneNumbers(ctx context.Context, keys []store.LaneKey) (map[store.LaneKey]int64, error) {
	type laneName struct {
		Limit int64  `json:"limit"`
		Key   string `json:"key"`
	}
	names := make([]laneName, len(keys))
	for i, key := range keys {
		names[i] = laneName(key)
	}
	ids := make(map[store.LaneKey]int64, len(keys))
	err := s.Each(ctx, findLaneKeys, Args{"lanes": JSONList(names)}, func(r Row) error {
		var key store.LaneKey
		var id int64
		err := r.Scan(&key.Limit, &key.Key, &id)
		ids[key] = id
		return err
	})
	return ids, err
}

// ReadLanes runs a statement that returns lanes by number.
func (s *Session) ReadLanes(ctx context.Context, name Statement, ids []int64) ([]store.Lane, error) {
	return collect(ctx, s, name, nil, Args{"ids": JSONList(slices.Sorted(slices.Values(ids)))}, func(r Row) (l store.Lane, err error) {
		err = r.Scan(&l.ID, &l.Limit, &l.Key, &l.Used, &l.Starts, &l.Waiting, IntoTime(&l.TAT), IntoTime(&l.NotBefore), IntoTime(&l.LookAt))
		return l, err
	})
}

// allotment is a job on its way to allot_permits.sql and use_starts.sql.
type allotment struct {
	ID      int64   `json:"id"`
	State   int     `json:"state"`
	Lane    int64   `json:"lane"`
	Permits *string `json:"permits"` // a JSON text
	Waited  int     `json:"waited"`  // 1: the job leaves its lane
}

// SaveAllotments implements rowwise.LanesTx.
func (s *Session) SaveAllotments(ctx context.Context, allotments []store.Allotment, now time.Time) error {
	rows := make([]allotment, len(allotments))
	for i, a := range allotments {
		rows[i] = allotment{ID: a.Job.ID, Lane: a.Wait, Permits: listOrNull(a.Held)}
		switch {
		case a.Wait != 0 && a.Job.First:
			rows[i].State = FirstInLane
		case a.Wait != 0:
			rows[i].State = InLane
		case a.Job.Lane != 0:
			rows[i].Waited = 1
		}
	}
	return s.Exec(ctx, AllotPermits, Args{"jobs": JSON(rows), "now": Micros(now)})
}

// UseStarts implements rowwise.LanesTx.
func (s *Session) UseStarts(ctx context.Context, jobs []int64) ([]rowwise.UsedStart, error) {
	held, err := s.JobPermits(ctx, FindJobPermits, jobs)
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
	return starts, s.Exec(ctx, useStarts, Args{"jobs": JSON(rows)})
}

// Scope are the parameters that have which jobs a limit concerns.
func Scope(l *store.Limit) Args { return Args{"queue": l.Queue, "kind": l.Kind, "by_key": l.ByKey} }

// LockUnclaimed implements rowwise.LanesTx.
func (s *Session) LockUnclaimed(ctx context.Context, limit *store.Limit, after int64, most int) ([]store.LaneJob, int64, error) {
	a := Scope(limit)
	a["after_id"] = after
	return s.holders(ctx, most, findPermittedJobs, a)
}

// LockHolders implements rowwise.LanesTx.
func (s *Session) LockHolders(ctx context.Context, lanes []int64, most int) ([]store.LaneJob, int64, error) {
	return s.holders(ctx, most, findLaneHolders, Args{"lanes": lanes})
}

// holders locks the jobs that a statement finds, at most a number, and returns them with the permits that they hold, and the number of
// the last that it has found if there may be more.
func (s *Session) holders(ctx context.Context, most int, name Statement, a Args) (jobs []store.LaneJob, to int64, err error) {
	a["limit"] = most
	ids, err := s.Numbers(ctx, name, a)
	if err != nil {
		return nil, 0, err
	}
	if len(ids) == most {
		to = ids[most-1]
	}
	jobs, err = s.JobPermits(ctx, lockPermittedJobs, ids)
	return jobs, to, err
}

// DeleteLanes implements rowwise.LanesTx.
func (s *Session) DeleteLanes(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, deleteLanes)
}

// DeleteEndedLimits implements rowwise.LanesTx.
func (s *Session) DeleteEndedLimits(ctx context.Context) error {
	return s.Exec(ctx, deleteEndedLimits, nil)
}

// savedLane is a lane on its way to update_lanes.sql.
type savedLane struct {
	ID        int64  `json:"id"`
	Used      int    `json:"used"`
	Starts    int    `json:"starts"`
	Waiting   bool   `json:"waiting"`
	TAT       *int64 `json:"tat"`
	NotBefore *int64 `json:"not_before"`
	LookAt    *int64 `json:"look_at"`
}

// SaveLanes implements rowwise.LanesTx.
func (s *Session) SaveLanes(ctx context.Context, lanes []store.Lane) error {
	rows := make([]savedLane, len(lanes))
	for i, l := range lanes {
		rows[i] = savedLane{l.ID, l.Used, l.Starts, l.Waiting, Micros(l.TAT), Micros(l.NotBefore), Micros(l.LookAt)}
	}
	return s.Exec(ctx, updateLanes, Args{"lanes": JSON(rows)})
}

// CapRate implements rowwise.LanesTx.
func (s *Session) CapRate(ctx context.Context, limit int64, greatest time.Time) error {
	return s.Exec(ctx, capRate, Args{"limit_id": limit, "greatest": Micros(greatest)})
}

// AddPermits implements rowwise.LanesTx.
func (s *Session) AddPermits(ctx context.Context, jobs []store.LaneJob) error {
	type permit struct {
		ID   int64 `json:"id"`
		Lane int64 `json:"lane"`
	}
	rows := make([]permit, len(jobs))
	for i := range jobs {
		rows[i] = permit{jobs[i].ID, jobs[i].Lane}
	}
	return s.Exec(ctx, addPermits, Args{"jobs": JSON(rows)})
}

// LockIdleLanes implements rowwise.LanesTx.
func (s *Session) LockIdleLanes(ctx context.Context, most int) ([]int64, error) {
	return s.Numbers(ctx, lockIdleLanes, Args{"limit": most})
}

// LockLanes implements rowwise.LanesTx.
func (s *Session) LockLanes(ctx context.Context, ids []int64) ([]store.Lane, error) {
	return s.ReadLanes(ctx, LockLanes, ids)
}

// FindWrongLanes implements rowwise.RecountTx.
func (s *Session) FindWrongLanes(ctx context.Context, among []int64, most int) (map[int64]store.LaneCount, error) {
	wrong := map[int64]store.LaneCount{}
	err := s.Each(ctx, findWrongLanes, Args{"all": len(among) == 0, "lanes": among, "limit": most}, func(r Row) error {
		var id int64
		var held store.LaneCount
		err := r.Scan(&id, &held.Permits, &held.Starts)
		wrong[id] = held
		return err
	})
	return wrong, err
}
