package sqlite

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Insert stores jobs; see store.Jobs.
func (b *Backend) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	const doing = "insert jobs"
	switch {
	case req.Tx != nil || req.Unique != "":
	case len(req.Jobs) == 0:
		return store.InsertResult{}, nil
	case chunk(req.Jobs) == len(req.Jobs) && !slices.ContainsFunc(req.Jobs, looksFirst):
		name, a := packJobs(req.Jobs, req.Now)
		result, err := b.writeOnce(ctx, doing, name, a)
		if err != nil {
			return store.InsertResult{}, err
		}
		ids, err := numbers(result)
		return store.InsertResult{IDs: ids}, b.explain(ctx, doing, err)
	}
	var out store.InsertResult
	err := b.within(ctx, doing, req.Tx, func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		if req.Unique != "" {
			out, err = s.insertUnique(ctx, req, now)
			return err
		}
		jobs := req.Jobs
		if req.Tx == nil {
			if jobs, err = s.afterFired(ctx, jobs, now); err != nil {
				return err
			}
		}
		if out.IDs, err = s.InsertJobs(ctx, jobs, now); err != nil {
			return err
		}
		var touched []store.SerialGroup
		for _, job := range req.Jobs {
			if job.Waiting {
				touched = append(touched, store.SerialGroupOf(job.Schedule, job.Origin))
			}
		}
		return rowwise.Release(ctx, s, touched)
	})
	if err != nil {
		return store.InsertResult{}, err
	}
	return out, nil
}

// insertUnique inserts the one job of a request unless one with its key lives.
func (s *session) insertUnique(ctx context.Context, req store.InsertRequest, now time.Time) (out store.InsertResult, err error) {
	job := req.Jobs[0]
	var id int64
	switch err := s.one(ctx, findUniqueJob, args{"kind": job.Kind, "unique": req.Unique}, &id); {
	case err != nil:
		return out, err
	case id != 0:
		return store.InsertResult{IDs: []int64{id}, Found: true}, nil
	}
	a := sharedColumns(job, now)
	a["args"], a["unique"] = notNull(job.Args), req.Unique
	result, err := s.run(ctx, insertUniqueJob, a)
	if err != nil {
		return out, err
	}
	out.IDs, err = numbers(result)
	return out, err
}

// looksFirst reports whether the insert of a job depends on other rows.
func looksFirst(job store.NewJob) bool { return job.Waiting || job.Origin == store.OriginTrigger }

// sharedColumns are the values of jobs that differ in their args only.
func sharedColumns(job store.NewJob, now time.Time) args {
	return args{
		"now": micros(instant(now)), "run_at": micros(job.RunAt), "delay": job.Delay.Microseconds(), "slot": micros(job.Slot),
		"schedule": orNull(job.Schedule), "timeout": job.Timeout.Microseconds(), "priority": job.Priority, "max_attempts": job.MaxAttempts,
		"on_loss": int16(job.OnLoss), "origin": int16(job.Origin), "queue": job.Queue, "kind": job.Kind, "headers": job.Headers,
	}
}

// A statement inserts at most insertRows jobs and about insertBytes of args.
const (
	insertRows  = 2_000
	insertBytes = 16 << 20
)

// newJob is a job on its way to insert_jobs.sql.
type newJob struct {
	RunAt       *int64 `json:"run_at"`
	Delay       int64  `json:"delay"`
	Slot        *int64 `json:"slot"`
	Schedule    *int64 `json:"schedule"`
	Timeout     int64  `json:"timeout"`
	Priority    int16  `json:"priority"`
	State       int16  `json:"state"`
	MaxAttempts int16  `json:"max_attempts"`
	OnLoss      int16  `json:"on_loss"`
	Origin      int16  `json:"origin"`
	Queue       string `json:"queue"`
	Kind        string `json:"kind"`
	ArgsAt      int    `json:"args_at"`
	ArgsLen     int    `json:"args_len"`
	HeadersAt   *int   `json:"headers_at"` // null: no headers
	HeadersLen  int    `json:"headers_len"`
}

// InsertJobs implements rowwise.Jobs. It inserts jobs in as many statements as they
// need.
func (s *session) InsertJobs(ctx context.Context, jobs []store.NewJob, now time.Time) ([]int64, error) {
	ids := make([]int64, 0, len(jobs))
	for len(jobs) > 0 {
		n := chunk(jobs)
		some, err := s.insertChunk(ctx, jobs[:n], now)
		if err != nil {
			return nil, err
		}
		ids = append(ids, some...)
		jobs = jobs[n:]
	}
	return ids, nil
}

// chunk is how many of the jobs, at least one, go into the next statement.
func chunk(jobs []store.NewJob) int {
	size := 0
	for i, job := range jobs[:min(len(jobs), insertRows)] {
		size += len(job.Args) + len(job.Headers)
		if size > insertBytes {
			return max(i, 1)
		}
	}
	return min(len(jobs), insertRows)
}

func (s *session) insertChunk(ctx context.Context, jobs []store.NewJob, now time.Time) ([]int64, error) {
	name, a := packJobs(jobs, now)
	result, err := s.run(ctx, name, a)
	if err != nil {
		return nil, err
	}
	return numbers(result)
}

// numbers are those that one statement gave to its jobs: AUTOINCREMENT counts
// on by one, in the order of the rows. To let the statement RETURN them costs a
// third more.
func numbers(result sql.Result) ([]int64, error) {
	last, err := result.LastInsertId()
	if err != nil {
		return nil, err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return nil, err
	}
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = last - n + 1 + int64(i)
	}
	return ids, nil
}

// packJobs is the statement for a chunk. Values that are the same for all jobs
// travel once, which makes it three times as fast. Without now it is the
// statement that reads the clock.
func packJobs(jobs []store.NewJob, now time.Time) (name statement, a args) {
	if len(jobs) == 1 && !jobs[0].Waiting {
		a = sharedColumns(jobs[0], now)
		a["args"] = notNull(jobs[0].Args)
		return insertJob, a
	}
	differs := func(job store.NewJob) bool { return !job.SameButArgs(jobs[0]) || len(job.Args) > lengthMask }
	if slices.ContainsFunc(jobs, differs) {
		return packDifferent(jobs, now)
	}
	pack := packerFor(jobs)
	places := make([]byte, 0, 16*len(jobs))
	for _, job := range jobs {
		at, length := pack.add(job.Args)
		places = append(strconv.AppendInt(places, int64(at)<<lengthBits|int64(length), 10), ',')
	}
	places[len(places)-1] = ']'
	a = sharedColumns(jobs[0], now)
	a["state"] = stateOf(jobs[0])
	a["places"], a["bytes"] = "["+string(places), pack.parameter()
	return insertSameJobs, a
}

// packerFor has room for what the jobs carry.
func packerFor(jobs []store.NewJob) packer {
	size := 0
	for _, job := range jobs {
		size += len(job.Args) + len(job.Headers)
	}
	return packer{make([]byte, 0, size)}
}

// A place in insert_same_jobs.sql has so many bits for the length.
const (
	lengthBits = 21
	lengthMask = 1<<lengthBits - 1
)

func packDifferent(jobs []store.NewJob, now time.Time) (name statement, a args) {
	pack := packerFor(jobs)
	rows := make([]newJob, len(jobs))
	for i, job := range jobs {
		rows[i] = packJob(job, &pack)
	}
	return insertJobs, args{"now": micros(instant(now)), "jobs": jsonOf(rows), "bytes": pack.parameter()}
}

func stateOf(job store.NewJob) int16 {
	if job.Waiting {
		return int16(store.StateWaiting)
	}
	return int16(store.StateReady)
}

func packJob(job store.NewJob, pack *packer) newJob {
	out := newJob{
		RunAt:       micros(job.RunAt),
		Delay:       job.Delay.Microseconds(),
		Slot:        micros(job.Slot),
		Schedule:    orNull(job.Schedule),
		Timeout:     job.Timeout.Microseconds(),
		Priority:    job.Priority,
		State:       stateOf(job),
		MaxAttempts: job.MaxAttempts,
		OnLoss:      int16(job.OnLoss),
		Origin:      int16(job.Origin),
		Queue:       job.Queue,
		Kind:        job.Kind,
	}
	out.ArgsAt, out.ArgsLen = pack.add(job.Args)
	if job.Headers != nil {
		at, length := pack.add(job.Headers)
		out.HeadersAt, out.HeadersLen = &at, length
	}
	return out
}

// ListJobs reads jobs in pages; see store.Jobs.
func (b *Backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	var out []store.JobInfo
	err := b.read(ctx, "list jobs", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		given, a := jobConditions(req, now)
		err = s.list(ctx, listJobs, given, a, func(r row) error {
			job, err := scanJob(r)
			out = append(out, job)
			return err
		})
		if err != nil || !req.Attempts {
			return err
		}
		return s.addAttempts(ctx, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// jobConditions are the conditions of list_jobs.sql that a request gives.
func jobConditions(req store.ListJobsRequest, now time.Time) (given []string, a args) {
	a = args{"full": req.Attempts, "before": req.Before, "limit": req.Limit}
	if req.Before == 0 {
		a["before"] = int64(math.MaxInt64)
	}
	add := func(is bool, name string, value any) {
		if is {
			given = append(given, name)
			a[name] = value
		}
	}
	add(len(req.IDs) > 0, "ids", jsonList(req.IDs))
	if req.Scheduled || req.Retrying {
		given = append(given, "narrowed")
		a["states"], a["scheduled"], a["retrying"], a["now"] = jsonList(req.States), req.Scheduled, req.Retrying, micros(now)
	} else {
		add(len(req.States) > 0, "states", jsonList(req.States))
	}
	add(req.Queue != "", "queue", req.Queue)
	add(req.Kind != "", "kind", req.Kind)
	add(req.Schedule != "", "schedule", req.Schedule)
	return given, a
}

// jobColumns are the columns that scanJob scans.
const jobColumns = "id token kind queue state args headers priority attempt max_attempts on_loss origin timeout run_at created_at started_at finished_at node schedule_id schedule_name slot cancel_asked reason unique_key losses"

func scanJob(r row) (store.JobInfo, error) {
	var j store.JobInfo
	err := r.Scan(&j.ID, &j.Token, &j.Kind, &j.Queue, &j.State, &j.Args, &j.Headers,
		&j.Priority, &j.Attempt, &j.MaxAttempts, &j.OnLoss, &j.Origin, durationScanner{&j.Timeout},
		into(&j.RunAt), into(&j.CreatedAt), into(&j.StartedAt), into(&j.FinishedAt),
		&j.Node, &j.Schedule, &j.ScheduleName, into(&j.Slot), &j.CancelAsked, &j.Reason, &j.Unique, &j.Losses)
	return j, err
}

// addAttempts reads the attempts of listed jobs into them.
func (s *session) addAttempts(ctx context.Context, jobs []store.JobInfo) error {
	place := map[int64]*store.JobInfo{}
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
		place[ids[i]] = &jobs[i]
	}
	return s.each(ctx, listAttempts, args{"ids": jsonList(ids)}, func(r row) error {
		var id int64
		var a store.Attempt
		err := r.Scan(&id, &a.Attempt, &a.Token, &a.Node, into(&a.StartedAt), into(&a.FinishedAt), &a.Error, &a.Trace, &a.Output)
		if err == nil {
			place[id].Attempts = append(place[id].Attempts, a)
		}
		return err
	})
}

// onIDs runs statements over a list of numbers, if there are any.
func (s *session) onIDs(ctx context.Context, ids []int64, more args, names ...statement) error {
	if len(ids) == 0 {
		return nil
	}
	a := args{"ids": jsonList(ids)}
	for name, value := range more {
		a[name] = value
	}
	for _, name := range names {
		if err := s.exec(ctx, name, a); err != nil {
			return err
		}
	}
	return nil
}
