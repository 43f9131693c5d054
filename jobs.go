package hourbell

import (
	"context"
	"errors"
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
		return store.JobInfo{}, noJob(id)
	}
	return jobs[0], nil
}

// Output returns what an attempt at a job has printed, from a byte on: the part
// of its last 64 KiB that is stored. While the attempt runs, new output arrives
// about once a second. To follow a job, call Output again with the End of the
// answer; when the answer is not Running, all of the attempt has been read, and a
// Last that differs from its Token is a later attempt. A job that does not exist is
// ErrNotFound.
func (s *JobService) Output(ctx context.Context, of store.ReadOutputRequest) (store.JobOutput, error) {
	of.From = max(of.From, 0)
	out, err := s.client.backend.ReadOutput(ctx, of)
	if errors.Is(err, store.ErrNotFound) {
		return out, noJob(of.ID)
	}
	if err != nil {
		return out, fmt.Errorf("read the output of job %d: %w", of.ID, err)
	}
	return out, nil
}

// noJob returns the error for a job that does not exist.
func noJob(id int64) error {
	return fmt.Errorf("job %d: %w; it may have been deleted or pruned, or its kind keeps nothing of jobs that complete", id, ErrNotFound)
}
