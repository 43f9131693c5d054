package hourbell

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/store"
)

// JobService reads and changes jobs: Client.Jobs. Client.Enqueue makes jobs.
// Concurrent calls are allowed.
//
// Calls that change jobs take InTx.
type JobService struct{ client *Client }

// Get returns a job with its arguments and attempts, or ErrNotFound if the
// number was never given or the job has been pruned.
func (s *JobService) Get(ctx context.Context, id int64) (store.JobInfo, error) {
	jobs, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Limit: 1, Attempts: true})
	if err != nil {
		return store.JobInfo{}, fmt.Errorf("read job %d: %w", id, err)
	}
	if len(jobs) == 0 {
		return store.JobInfo{}, fmt.Errorf("job %d: %w", id, ErrNotFound)
	}
	return jobs[0], nil
}

// Cancel ends jobs that do not run, and asks the nodes of running jobs to end
// the jobs' contexts. A running job that returns an error after that is
// cancelled; a running job that completes is completed.
func (s *JobService) Cancel(ctx context.Context, ids []int64, options ...Option) ([]store.JobChange, error) {
	return s.change(ctx, "cancel", options, store.ChangeJobsRequest{Action: store.CancelJobs, IDs: ids, Reason: "cancelled on request"})
}

// Retry makes finished jobs ready again now, with at least one more attempt,
// and jobs that wait for their due time due now. A finished job with a unique
// key takes the key back; if another live job has the key, the result is
// store.KeyTaken with the number of that job, and nothing changes. An operator
// decides to retry a job, so a FailOnLoss job starts again too.
func (s *JobService) Retry(ctx context.Context, ids []int64, options ...Option) ([]store.JobChange, error) {
	return s.change(ctx, "retry", options, store.ChangeJobsRequest{Action: store.RetryJobs, IDs: ids})
}

// Delete removes jobs that do not run, with all records of them.
func (s *JobService) Delete(ctx context.Context, ids []int64, options ...Option) ([]store.JobChange, error) {
	return s.change(ctx, "delete", options, store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: ids})
}

func (s *JobService) change(ctx context.Context, what string, options []Option, req store.ChangeJobsRequest) ([]store.JobChange, error) {
	tx, err := onlyTx(options)
	if err != nil {
		return nil, fmt.Errorf("%s jobs: %w", what, err)
	}
	req.Tx = tx
	res, err := s.client.backend.ChangeJobs(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("%s jobs: %w", what, err)
	}
	return res.Changes, nil
}
