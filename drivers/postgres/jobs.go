package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// ListJobs reads jobs in pages; see store.Jobs.
func (b *Backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	name, ofBatch := listJobs, listBatchJobs
	values := append(jobFilterValues(req.JobFilter, req.Now), orNull(req.After), orNull(req.Before), req.Limit, req.Attempts)
	if req.OldestFirst {
		name, ofBatch = listJobsOldestFirst, listBatchOldestFirst
	}
	if req.Batch != 0 {
		name = ofBatch
	}
	return rowwise.InTx(b.listWithin(ctx, req.Within, "list jobs"), func(tx pgx.Tx) (out []store.JobInfo, err error) {
		out, err = collect(ctx, tx, scanJob, b.q(name), values...)
		if err != nil || !req.Attempts {
			return out, err
		}
		if err := b.addProgress(ctx, tx, out); err != nil {
			return out, err
		}
		if err := b.addEdges(ctx, tx, out); err != nil {
			return out, err
		}
		return out, b.addAttempts(ctx, tx, out)
	})
}

// CountJobs counts jobs; see store.Jobs.
func (b *Backend) CountJobs(ctx context.Context, req store.CountJobsRequest) (int64, error) {
	name := countJobs
	if req.Batch != 0 {
		name = countBatchJobs
	}
	return rowwise.InTx(b.listWithin(ctx, req.Within, "count jobs"), func(tx pgx.Tx) (n int64, err error) {
		err = tx.QueryRow(ctx, b.q(name), append(jobFilterValues(req.JobFilter, req.Now), orNull(req.After), orNull(req.Before))...).Scan(&n)
		return n, err
	})
}

// The parameters of list_jobs.sql: the conditions of a filter, a range of numbers, and a
// page.
const (
	jobFilterParams = "live finished only_running ids states scheduled retrying parked now queue kind schedule hosts_of " +
		"group_name job_key unique_key batch not_last error args_text created_since created_until finished_since finished_until"
	jobRangeParams = " after_id before"
	jobPageParams  = " limit full"
)

// jobFilterValues returns the values of jobFilterParams.
func jobFilterValues(f store.JobFilter, now time.Time) []any {
	live, finished := f.Tables()
	narrowed := f.Narrowed()
	states := stateNumbers(f.States)
	if len(states) == 0 && !narrowed {
		states = nil
	}
	onlyRunning := len(f.States) == 1 && f.States[0] == store.StateRunning && !narrowed
	return []any{
		live, finished, onlyRunning, listOrNull(f.IDs), states, f.Scheduled, f.Retrying, f.Parked, when(now), orNull(f.Queue),
		orNull(f.Kind), orNull(f.Schedule), orNull(f.HostsOf),
		orNull(f.Group), orNull(f.Key), orNull(f.Unique), orNull(f.Batch), f.NotLast, orNull(f.Error), orNull(f.ArgsText),
		when(f.CreatedSince), when(f.CreatedUntil), when(f.FinishedSince), when(f.FinishedUntil),
	}
}

func stateNumbers(states []store.State) []int16 {
	out := make([]int16, 0, len(states))
	for _, state := range states {
		out = append(out, int16(state))
		if state == store.StateReady {
			out = append(out, parked, inLane, firstInLane)
		}
	}
	return out
}

// jobColumns are the columns that scanJob scans.
const jobColumns = "id token state args headers attempt origin run_at created_at started_at finished_at node " +
	"schedule_id schedule_name slot cancel_asked reason losses snoozes parked result {spec}"

func scanJob(r pgx.CollectableRow) (j store.JobInfo, err error) {
	err = r.Scan(append([]any{
		&j.ID, &j.Token, (*int16)(&j.State), &j.Args, &j.Headers, &j.Attempt, (*int16)(&j.Origin),
		into(&j.RunAt), into(&j.CreatedAt), into(&j.StartedAt), into(&j.FinishedAt), (*word)(&j.Node), (*number)(&j.Schedule), (*word)(&j.ScheduleName),
		into(&j.Slot), &j.CancelAsked, &j.Reason, &j.Losses, &j.Snoozes, &j.Parked, &j.Result,
	}, specTargets(&j.JobSpec)...)...)
	return j, err
}

// addAttempts reads the attempts of jobs.
func (b *Backend) addAttempts(ctx context.Context, tx pgx.Tx, jobs []store.JobInfo) error {
	ids, byID := rowwise.ByID(jobs)
	var id int64
	var a store.Attempt
	targets := []any{
		&id, &a.Attempt, &a.Token, (*word)(&a.Node), into(&a.StartedAt), into(&a.FinishedAt), (*int16)(&a.Outcome), &a.Error, &a.Trace, &a.Output, &a.Printed,
	}
	return each(ctx, tx, targets, func() {
		byID[id].Attempts = append(byID[id].Attempts, a)
		a.Output = nil // the next one gets bytes of its own
	}, b.q(listAttempts), ids)
}
