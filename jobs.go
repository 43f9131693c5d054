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
		return store.JobInfo{}, fmt.Errorf("job %d: %w; it may have been deleted or pruned, or its kind keeps nothing of jobs that complete", id, ErrNotFound)
	}
	return jobs[0], nil
}
