package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// ListJobs reads jobs in pages; see store.Jobs.
func (b *Backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	var out []store.JobInfo
	err := b.list(ctx, "list jobs", func(tx pgx.Tx) (err error) {
		narrowed := req.Scheduled || req.Retrying
		states := stateNumbers(req.States)
		if len(states) == 0 && !narrowed {
			states = nil
		}
		out, err = collect(ctx, tx, scanJob, b.q(listJobs), listOrNull(req.IDs), states, orNull(req.Queue), orNull(req.Kind),
			orNull(req.Schedule), orNull(req.Before), req.Limit, len(req.States) == 1 && req.States[0] == store.StateRunning && !narrowed, req.Attempts,
			req.Scheduled, req.Retrying, when(req.Now))
		if err != nil || !req.Attempts {
			return err
		}
		return b.addAttempts(ctx, tx, out)
	})
	return out, err
}

func stateNumbers(states []store.State) []int16 {
	out := make([]int16, 0, len(states))
	for _, state := range states {
		out = append(out, int16(state))
	}
	return out
}

// jobColumns are the columns that scanJob scans.
const jobColumns = "id token state args headers attempt origin run_at created_at started_at finished_at node schedule_id schedule_name slot cancel_asked reason losses snoozes {spec}"

func scanJob(r pgx.CollectableRow) (j store.JobInfo, err error) {
	err = r.Scan(append([]any{
		&j.ID, &j.Token, (*int16)(&j.State), &j.Args, &j.Headers, &j.Attempt, (*int16)(&j.Origin),
		into(&j.RunAt), into(&j.CreatedAt), into(&j.StartedAt), into(&j.FinishedAt), (*word)(&j.Node), (*number)(&j.Schedule), (*word)(&j.ScheduleName),
		into(&j.Slot), &j.CancelAsked, &j.Reason, &j.Losses, &j.Snoozes,
	}, specTargets(&j.JobSpec)...)...)
	return j, err
}

// addAttempts reads the attempts of jobs.
func (b *Backend) addAttempts(ctx context.Context, tx pgx.Tx, jobs []store.JobInfo) error {
	place := map[int64]int{}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		place[job.ID], ids[i] = i, job.ID
	}
	var id int64
	var a store.Attempt
	targets := []any{
		&id, &a.Attempt, &a.Token, (*word)(&a.Node), into(&a.StartedAt), into(&a.FinishedAt), &a.Error, &a.Trace, &a.Output,
	}
	return each(ctx, tx, targets, func() {
		job := &jobs[place[id]]
		job.Attempts = append(job.Attempts, a)
		a.Output = nil // the next one gets bytes of its own
	}, b.q(listAttempts), ids)
}
