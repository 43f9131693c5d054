package hourbell

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Predecessor is what a job follows, with the result that the predecessor has left.
type Predecessor struct {
	ID   int64
	Name string // in its graph; of a job that set off a schedule with After, the schedule's name; else empty
	// Kind, State and Reason are zero, and Result is nil, if nothing is known of the job any
	// more because it was deleted, or was pruned after the end of the job that follows it.
	Kind   string
	State  store.State
	Reason string
	Result []byte // JSON (JobRow.SetResult), or nil
}

// Decode decodes the result into value, as json.Unmarshal does. A job without a result is an
// error.
func (p Predecessor) Decode(value any) error {
	if len(p.Result) == 0 {
		return fmt.Errorf("job %d has no result", p.ID)
	}
	if err := json.Unmarshal(p.Result, value); err != nil {
		return fmt.Errorf("decode the result of job %d: %w", p.ID, err)
	}
	return nil
}

// Predecessors returns the jobs that a job follows (After, a Graph, Finally, or After of its schedule), by number, with
// their results, or ErrNotFound. All of them are read, some hundred at a time.
func (s *JobService) Predecessors(ctx context.Context, id int64) ([]Predecessor, error) {
	return predecessorsOf(ctx, s.client.backend.ListJobs, id)
}

// Follows reports whether the job was enqueued with predecessors, or made by a schedule's After. It reads nothing. It is
// false for a worker in a test.
func (j *JobRow) Follows() bool {
	return j.run != nil && (plan.Follows(j.run.Headers) || j.run.Origin == store.OriginAfter)
}

// Predecessors returns the jobs that this job follows, by number, with their results. A job
// that follows none costs nothing. Concurrent calls are allowed.
func (j *JobRow) Predecessors(ctx context.Context) ([]Predecessor, error) {
	if !j.Follows() {
		return nil, nil
	}
	return predecessorsOf(ctx, j.run.ListJobs, j.ID)
}

// predecessorsOf reads the predecessors of a job by list.
func predecessorsOf(ctx context.Context, list func(context.Context, store.ListJobsRequest) ([]store.JobInfo, error), id int64) ([]Predecessor, error) {
	read := func(ids []int64) ([]store.JobInfo, error) {
		jobs, err := list(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: len(ids), Attempts: true})
		if err != nil {
			return nil, fmt.Errorf("read the predecessors of job %d: %w", id, err)
		}
		return jobs, nil
	}
	jobs, err := read([]int64{id})
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("read the predecessors of job %d: %w", id, ErrNotFound)
	}
	follows := jobs[0]
	out := make([]Predecessor, len(follows.After))
	place := make(map[int64]*Predecessor, len(out))
	ids := make([]int64, len(out))
	for i, e := range follows.After {
		out[i].ID, ids[i] = e.Job, e.Job
		place[e.Job] = &out[i]
	}
	for part := range slices.Chunk(ids, 500) {
		jobs, err := read(part)
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			name := plan.Headers(job.Headers)[NameHeader]
			if name == "" && follows.Origin == store.OriginAfter {
				name = job.ScheduleName
			}
			*place[job.ID] = Predecessor{job.ID, name, job.Kind, job.State, job.Reason, job.Result}
		}
	}
	return out, nil
}
