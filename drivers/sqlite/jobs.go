package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/hourbell/hourbell/store"
)

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
const jobColumns = "id token state args headers attempt origin run_at created_at started_at finished_at node schedule_id schedule_name slot cancel_asked reason losses snoozes {spec}"

func scanJob(r row) (store.JobInfo, error) {
	var j store.JobInfo
	err := r.Scan(append([]any{
		&j.ID, &j.Token, &j.State, &j.Args, &j.Headers, &j.Attempt, &j.Origin,
		into(&j.RunAt), into(&j.CreatedAt), into(&j.StartedAt), into(&j.FinishedAt),
		&j.Node, &j.Schedule, &j.ScheduleName, into(&j.Slot), &j.CancelAsked, &j.Reason, &j.Losses, &j.Snoozes,
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
