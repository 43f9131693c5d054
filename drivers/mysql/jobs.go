package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// ListJobs reads jobs in pages; see store.Jobs.
func (b *Backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	var out []store.JobInfo
	err := b.readWithin(ctx, req.Within, "list jobs", func(ctx context.Context, s *session) error {
		out = nil
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		given, a := jobConditions(req.JobFilter, now)
		a["full"], a["before"], a["limit"] = req.Attempts, cmp.Or(req.Before, math.MaxInt64), req.Limit
		if req.After > 0 {
			given, a["after_id"] = append(given, "after"), req.After
		}
		name := listJobs
		if req.OldestFirst {
			name = listJobsOldestFirst
		}
		err = s.list(ctx, name, given, a, func(r row) error {
			job, err := scanJob(r)
			out = append(out, job)
			return err
		})
		if err != nil || !req.Attempts {
			return err
		}
		if err := s.addProgress(ctx, out); err != nil {
			return err
		}
		if err := s.addEdges(ctx, out); err != nil {
			return err
		}
		return s.addAttempts(ctx, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// CountJobs counts jobs; see store.Jobs.
func (b *Backend) CountJobs(ctx context.Context, req store.CountJobsRequest) (n int64, err error) {
	err = b.readWithin(ctx, req.Within, "count jobs", func(ctx context.Context, s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		given, a := jobConditions(req.JobFilter, now)
		if req.After > 0 {
			given, a["after_id"] = append(given, "after"), req.After
		}
		if req.Before > 0 {
			given, a["before"] = append(given, "before"), req.Before
		}
		var count sql.NullInt64 // NULL: the server has given the statement up
		err = s.list(ctx, countJobs, given, a, func(r row) error { return r.Scan(&count) })
		if err == nil && !count.Valid {
			err = store.ErrSlow
		}
		n = count.Int64
		return err
	})
	return n, err
}

// The parameters of list_jobs.sql: the conditions of a filter, a range of numbers, and a
// page.
const (
	jobFilterParams = "live finished ids states scheduled retrying now queue kind schedule hosts_of group_name job_key unique_key batch error created_since created_until finished_since finished_until"
	jobRangeParams  = " after_id before"
	jobPageParams   = " full limit"
)

// jobConditions are the conditions of list_jobs.sql that a filter gives.
func jobConditions(f store.JobFilter, now time.Time) (given []string, a args) {
	live, finished := f.Tables()
	a = args{"live": live, "finished": finished}
	add := func(is bool, name, parameter string, value any) {
		if is {
			given = append(given, name)
			a[parameter] = value
		}
	}
	states := make([]int, 0, len(f.States)+1)
	for _, state := range f.States {
		states = append(states, int(state))
		if state == store.StateReady {
			states = append(states, parked, inLane, firstInLane)
		}
	}
	add(len(f.IDs) > 0, "ids", "ids", f.IDs)
	if f.Scheduled || f.Retrying {
		given = append(given, "narrowed")
		a["states"], a["scheduled"], a["retrying"], a["now"] = states, f.Scheduled, f.Retrying, micros(now)
	} else {
		add(len(f.States) > 0, "states", "states", states)
	}
	for _, text := range []struct{ name, parameter, value string }{
		{"queue", "queue", f.Queue}, {"kind", "kind", f.Kind}, {"schedule", "schedule", f.Schedule}, {"hosts", "hosts_of", f.HostsOf}, {"group", "group_name", f.Group}, {"key", "job_key", f.Key}, {"unique", "unique_key", f.Unique}, {"error", "error", f.Error},
	} {
		add(text.value != "", text.name, text.parameter, text.value)
	}
	if f.Kind != "" && f.Unique != "" {
		given = append(given, "keyed")
	}
	add(f.Batch != 0, "batch", "batch", f.Batch)
	for name, at := range map[string]time.Time{
		"created_since": f.CreatedSince, "created_until": f.CreatedUntil, "finished_since": f.FinishedSince, "finished_until": f.FinishedUntil,
	} {
		add(!at.IsZero(), name, name, micros(at))
	}
	return given, a
}

// jobColumns are the columns that scanJob scans.
const jobColumns = "id token state args headers attempt origin run_at created_at started_at finished_at node schedule_id schedule_name slot cancel_asked reason losses snoozes result {spec}"

func scanJob(r row) (store.JobInfo, error) {
	var j store.JobInfo
	err := r.Scan(append([]any{
		&j.ID, &j.Token, &j.State, &j.Args, &j.Headers, &j.Attempt, &j.Origin,
		into(&j.RunAt), into(&j.CreatedAt), into(&j.StartedAt), into(&j.FinishedAt),
		&j.Node, &j.Schedule, &j.ScheduleName, into(&j.Slot), &j.CancelAsked, &j.Reason, &j.Losses, &j.Snoozes, &j.Result,
	}, specTargets(&j.JobSpec)...)...)
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
	return s.each(ctx, listAttempts, args{"ids": ids}, func(r row) error {
		var id int64
		var a store.Attempt
		err := r.Scan(&id, &a.Attempt, &a.Token, &a.Node, into(&a.StartedAt), into(&a.FinishedAt), &a.Outcome, &a.Error, &a.Trace, &a.Output, &a.Printed)
		if err == nil {
			place[id].Attempts = append(place[id].Attempts, a)
		}
		return err
	})
}

// onIDs runs statements over a list of numbers, if there are any.
func (s *session) onIDs(ctx context.Context, ids []int64, names ...statement) error {
	if len(ids) == 0 {
		return nil
	}
	a := args{"ids": jsonList(slices.Sorted(slices.Values(ids)))}
	for _, name := range names {
		if err := s.exec(ctx, name, a); err != nil {
			return err
		}
	}
	return nil
}
