package sqlrows

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// The states of ready jobs that are out of the way of claims, in the column state; others see StateReady.
const (
	parked      = -1 // its group or its key is paused
	InLane      = -2 // it waits in a lane
	FirstInLane = -3 // it waits in a lane, and goes before the others of its priority
)

// jobConditions are the conditions of list_jobs.sql that a filter gives; a driver may have no line for some of them.
func jobConditions(f store.JobFilter, now time.Time) (given []string, a Args) {
	live, finished := f.Tables()
	a = Args{"live": live, "finished": finished}
	add := func(is bool, name, parameter string, value any) {
		if is {
			given = append(given, name)
			a[parameter] = value
		}
	}
	states := make([]int64, 0, len(f.States)+1)
	for _, state := range f.States {
		states = append(states, int64(state))
		if state == store.StateReady {
			states = append(states, parked, InLane, FirstInLane)
		}
	}
	add(len(f.IDs) > 0, "ids", "ids", f.IDs)
	if f.Narrowed() {
		given = append(given, "narrowed")
		a["states"], a["scheduled"], a["retrying"], a["parked"], a["now"] = states, f.Scheduled, f.Retrying, f.Parked, Micros(now)
	} else {
		add(len(f.States) > 0, "states", "states", states)
	}
	for _, text := range []struct{ name, parameter, value string }{
		{"queue", "queue", f.Queue},
		{"kind", "kind", f.Kind},
		{"schedule", "schedule", f.Schedule},
		{"hosts", "hosts_of", f.HostsOf},
		{"group", "group_name", f.Group},
		{"key", "job_key", f.Key},
		{"unique", "unique_key", f.Unique},
		{"error", "error", f.Error},
		{"args", "args_text", f.ArgsText},
	} {
		add(text.value != "", text.name, text.parameter, text.value)
	}
	if f.Kind != "" && f.Unique != "" {
		given = append(given, "keyed") // for an index of both
	}
	add(f.Batch != 0, "batch", "batch", f.Batch)
	if f.NotLast {
		given = append(given, "not_last")
	}
	for name, at := range map[string]time.Time{
		"created_since": f.CreatedSince, "created_until": f.CreatedUntil, "finished_since": f.FinishedSince, "finished_until": f.FinishedUntil,
	} {
		add(!at.IsZero(), name, name, Micros(at))
	}
	return given, a
}

// searchConditions are the conditions that find jobs above a number. They find jobs by an error from the attempts that have it, and
// not job by job.
func searchConditions(f store.JobFilter, now time.Time, after int64) (given []string, a Args) {
	errorText := f.Error
	f.Error = ""
	given, a = jobConditions(f, now)
	if errorText != "" {
		given, a["error"] = append(given, "from_errors"), errorText
	}
	if after > 0 || errorText != "" {
		given, a["after_id"] = append(given, "after"), after
	}
	return given, a
}

// walks reports whether a filter of live jobs has no condition that an index meets.
func walks(f store.JobFilter) bool {
	live, _ := f.Tables()
	return live && len(f.IDs) == 0 && f.Schedule == "" && f.HostsOf == "" && f.Group == "" && f.Key == "" && f.Unique == "" && f.Batch == 0 && f.Error == ""
}

// ListJobs reads jobs in pages; see store.Jobs. more are conditions of the driver's own.
func (s *Session) ListJobs(ctx context.Context, req store.ListJobsRequest, more ...string) ([]store.JobInfo, error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return nil, err
	}
	given, a := searchConditions(req.JobFilter, now, req.After)
	a["full"], a["before"], a["limit"] = req.Attempts, cmp.Or(req.Before, math.MaxInt64), req.Limit
	if req.After == 0 && req.Before == 0 && walks(req.JobFilter) && req.Kind != "" {
		given = append(given, "first_of_kind")
	}
	name := ListJobs
	if req.OldestFirst {
		name = ListJobsOldestFirst
	}
	out, err := collect(ctx, s, name, append(given, more...), a, scanJob)
	if err != nil || !req.Attempts {
		return out, err
	}
	for _, add := range []func(context.Context, []store.JobInfo) error{s.addProgress, s.addEdges, s.addAttempts} {
		if err := add(ctx, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CountJobs counts jobs; see store.Jobs.
func (s *Session) CountJobs(ctx context.Context, req store.CountJobsRequest) (int64, error) {
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return 0, err
	}
	given, a := searchConditions(req.JobFilter, now, req.After)
	if req.Before > 0 || req.Error != "" {
		given, a["before"] = append(given, "before"), cmp.Or(req.Before, math.MaxInt64)
	}
	var count sql.NullInt64 // NULL: a server has given the statement up
	err = s.List(ctx, CountJobs, given, a, func(r Row) error { return r.Scan(&count) })
	if err == nil && !count.Valid {
		err = store.ErrSlow
	}
	return count.Int64, err
}

// jobColumns are the columns that scanJob scans.
const jobColumns = "id token state args headers attempt origin run_at created_at started_at finished_at node " +
	"schedule_id schedule_name slot cancel_asked reason losses snoozes parked result {spec}"

func scanJob(r Row) (store.JobInfo, error) {
	var j store.JobInfo
	err := r.Scan(append([]any{
		&j.ID, &j.Token, &j.State, &j.Args, &j.Headers, &j.Attempt, &j.Origin,
		IntoTime(&j.RunAt), IntoTime(&j.CreatedAt), IntoTime(&j.StartedAt), IntoTime(&j.FinishedAt),
		&j.Node, &j.Schedule, &j.ScheduleName, IntoTime(&j.Slot), &j.CancelAsked, &j.Reason, &j.Losses, &j.Snoozes, &j.Parked, &j.Result,
	}, SpecTargets(&j.JobSpec)...)...)
	return j, err
}

// addAttempts reads the attempts of listed jobs into them.
func (s *Session) addAttempts(ctx context.Context, jobs []store.JobInfo) error {
	ids, byID := rowwise.ByID(jobs)
	return s.Each(ctx, ListAttempts, Args{"ids": ids}, func(r Row) error {
		var id int64
		var a store.Attempt
		err := r.Scan(&id, &a.Attempt, &a.Token, &a.Node, IntoTime(&a.StartedAt), IntoTime(&a.FinishedAt), &a.Outcome, &a.Error, &a.Trace, &a.Output, &a.Printed)
		if err == nil {
			byID[id].Attempts = append(byID[id].Attempts, a)
		}
		return err
	})
}

// addProgress reads the progress of the last claims of listed jobs into them.
func (s *Session) addProgress(ctx context.Context, jobs []store.JobInfo) error {
	ids, byID := rowwise.ByID(jobs)
	return s.Each(ctx, listProgress, Args{"ids": ids}, func(r Row) error {
		var ref store.ClaimRef
		var p store.Progress
		err := r.Scan(&ref.ID, &ref.Token, &p.Done, &p.Total, &p.Note, IntoTime(&p.At), IntoTime(&p.Stuck))
		if job := byID[ref.ID]; err == nil && job != nil && job.Token == ref.Token {
			job.Progress = p
		}
		return err
	})
}

// addEdges reads what listed jobs wait for into them.
func (s *Session) addEdges(ctx context.Context, jobs []store.JobInfo) error {
	ids, byID := rowwise.ByID(jobs)
	return s.Each(ctx, listEdges, Args{"ids": ids}, func(r Row) error {
		var id int64
		var e store.JobEdge
		err := r.Scan(&id, &e.Job, IntoDuration(&e.Delay), &e.On, &e.State)
		if job := byID[id]; err == nil && job != nil {
			job.After = append(job.After, e)
		}
		return err
	})
}

// ReadOutput reads the output of an attempt; see store.Jobs.
func (s *Session) ReadOutput(ctx context.Context, req store.ReadOutputRequest) (out store.JobOutput, err error) {
	given, a := jobConditions(store.JobFilter{IDs: []int64{req.ID}}, time.Time{})
	a["full"], a["before"], a["limit"] = false, int64(math.MaxInt64), 1
	jobs, err := collect(ctx, s, ListJobs, given, a, scanJob)
	if err == nil && len(jobs) == 0 {
		err = fmt.Errorf("job %d: %w", req.ID, store.ErrNotFound)
	}
	if err != nil {
		return store.JobOutput{}, err
	}
	if out = jobs[0].OutputOf(req); out.Running {
		blocks, err := s.StoredOutput(ctx, []int64{req.ID}, req.From/store.OutputBlock)
		if found := blocks[req.ID]; len(found) > 0 {
			out.Printed = store.PrintedIn(found).Since(req.From)
		}
		return out, err
	}
	err = s.Each(ctx, readPrinted, Args{"id": req.ID, "token": out.Token}, func(r Row) error {
		var total int64
		var data []byte
		err := r.Scan(&out.Attempt, &total, &data)
		out.Printed = store.PrintedBy(total, data).Since(req.From)
		return err
	})
	return out, err
}

// StoredOutput implements rowwise.Claims.
func (s *Session) StoredOutput(ctx context.Context, ids []int64, first int64) (map[int64][]store.StoredBlock, error) {
	found := map[int64][]store.StoredBlock{}
	err := s.Each(ctx, listOutput, Args{"ids": ids, "first": first}, func(r Row) error {
		var id int64
		var block store.StoredBlock
		err := r.Scan(&id, &block.N, &block.Data)
		found[id] = append(found[id], block)
		return err
	})
	return found, err
}
