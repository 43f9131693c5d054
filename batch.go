package hourbell

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// BatchService reads batches: Client.Batches. Concurrent calls are allowed.
//
// A batch is jobs that were enqueued together: each graph (Client.EnqueueGraph), and the
// jobs of Client.EnqueueBatch. JobFilter.Batch selects the jobs of a batch.
type BatchService struct{ client *Client }

// BatchFilter selects batches.
type BatchFilter struct {
	Before int64 // only numbers below this number: the last number of the previous page
	Limit  int   // rows of a page; default 100
}

// List returns batches, newest first, a page at a time. All jobs of these batches are read
// to count them.
func (s *BatchService) List(ctx context.Context, f BatchFilter) ([]store.Batch, error) {
	return store.List[store.Batch](ctx, s.client.backend, store.ListRequest{Before: store.Cursor{ID: f.Before}, Limit: pageSize(f.Limit)})
}

// Get returns a batch, or ErrNotFound if the number was never given or the batch has been
// pruned.
func (s *BatchService) Get(ctx context.Context, id int64) (store.Batch, error) {
	found, err := store.List[store.Batch](ctx, s.client.backend, store.ListRequest{IDs: []int64{id}, Limit: 1})
	if err != nil {
		return store.Batch{}, fmt.Errorf("read batch %d: %w", id, err)
	}
	if len(found) == 0 {
		return store.Batch{}, fmt.Errorf("batch %d: %w; batches are deleted some time after their jobs", id, ErrNotFound)
	}
	return found[0], nil
}

// InBatch adds the jobs of a call to an open batch, also from inside a job of the batch
// (JobRow.Batch). The last job of the batch waits for them, too. If the batch has ended,
// nothing is stored, and the error wraps ErrBatchEnded. It excludes InTx.
func InBatch(id int64) Option {
	return func(e *enqueuing) {
		e.given |= optInBatch
		if e.batch = id; id < 1 {
			e.errs = append(e.errs, &check.FieldError{Field: "batch", Value: fmt.Sprint(id), Problem: "is not the number of a batch", Remedy: "use a number from 1"})
		}
	}
}

// FinallyOn selects after which ends of the jobs of a batch its last job runs.
type FinallyOn string

// The choices. The last job always waits until all other jobs of the batch have ended.
const (
	FinallyAll    FinallyOn = "all"    // none failed or was cancelled (default)
	FinallyFailed FinallyOn = "failed" // at least one failed or was cancelled
	FinallyAlways FinallyOn = "always" // in any case, also if jobs were not started
)

// Finally is the last job of a batch. It waits until all other jobs of the batch have
// ended, also jobs that are added. If On does not fit, it ends as store.StateNotStarted.
//
// Jobs that were deleted count neither for On nor as jobs of the batch, and jobs that were not started count
// as neither completed nor failed. In a batch without other jobs the last job is decided at once: it runs,
// except with FinallyFailed.
type Finally struct {
	Args    Args
	Options []Option // the options of the job; see Request
	On      FinallyOn
}

// FinallyName is the name of the last job of a graph.
const FinallyName = "finally"

// newJob validates and encodes the last job of a batch.
func (f *Finally) newJob(shared enqueuing) (store.NewJob, *store.Finally, error) {
	choices := map[FinallyOn]store.Finally{
		"": {On: store.OnSuccess}, FinallyAll: {On: store.OnSuccess}, FinallyFailed: {On: store.OnFailure, Any: true}, FinallyAlways: {On: store.OnEnd},
	}
	choice, known := choices[f.On]
	one, err := shared.with(f.Args, f.Options)
	switch {
	case err != nil:
	case !known:
		err = &check.FieldError{Field: "on", Value: check.Shorten(string(f.On)), Problem: "is unknown", Remedy: "use all, failed or always"}
	case shared.batch != 0:
		err = &check.FieldError{Field: "batch", Problem: "is an older batch, which has a last job already, or none", Remedy: "leave finally out"}
	case len(one.NewJob.After) > 0 || one.NewJob.Unique != "" && one.NewJob.OnConflict != ErrorOnConflict:
		err = &check.FieldError{
			Field: "options", Problem: "have predecessors, or a key without on_conflict error",
			Remedy: "the last job waits for all other jobs; leave them out",
		}
	}
	if err != nil {
		return store.NewJob{}, nil, fmt.Errorf("%s: %w", FinallyName, err)
	}
	one.NewJob.Headers = plan.WithFollows(plan.WithName(one.NewJob.Headers, FinallyName))
	return one.NewJob, &choice, nil
}

// EnqueuedBatch is the answer for a batch.
type EnqueuedBatch struct {
	Batch   int64
	Jobs    []Enqueued // in the order of the requests
	Finally int64      // the number of the last job, or 0
}

// EnqueueBatch stores jobs as a batch, all or none, as EnqueueMany does, and the job that
// runs when all of them have ended. Either finally may be nil, or the list of jobs may be empty. Unique keys are as
// in EnqueueGraph. With InBatch it adds the jobs to a batch.
func (c *Client) EnqueueBatch(ctx context.Context, requests []Request, finally *Finally, options ...Option) (EnqueuedBatch, error) {
	shared, jobs, err := newJobs(requests, options)
	if err != nil {
		return EnqueuedBatch{}, err
	}
	if len(jobs) == 0 && finally == nil {
		return EnqueuedBatch{}, fmt.Errorf("enqueue a batch: %w",
			&check.FieldError{Field: "jobs", Problem: "are missing", Remedy: "give the batch a job, or a last job"})
	}
	res, err := c.enqueueBatch(ctx, shared, jobs, finally)
	if err != nil {
		return EnqueuedBatch{}, fmt.Errorf("enqueue a batch: %w", err)
	}
	out := EnqueuedBatch{Batch: res.Batch, Jobs: converted(res.Jobs[:len(jobs)], func(job store.Inserted) Enqueued { return Enqueued(job) })}
	if finally != nil {
		out.Finally = res.Jobs[len(jobs)].ID
	}
	return out, nil
}

// enqueueBatch stores jobs as a batch, and its last job after them, if there is one.
func (c *Client) enqueueBatch(ctx context.Context, shared enqueuing, jobs []store.NewJob, finally *Finally) (store.InsertResult, error) {
	batch := &store.BatchInsert{ID: shared.batch}
	if finally != nil {
		last, choice, err := finally.newJob(shared)
		if err != nil {
			return store.InsertResult{}, err
		}
		jobs, batch.Finally = append(jobs, last), choice
	}
	req := shared.insertRequest(jobs)
	req.Batch = batch
	return c.describe(ctx, req)
}
