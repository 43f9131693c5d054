package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
)

// BatchInsert puts the jobs of an insert into a batch. The jobs have no schedules. In a transaction
// of the store's own they may have keys with OnConflictError: then the insert stores all of them, or
// none and returns a DuplicateError. A job of a batch that has a key is not changed by an enqueue with
// its key; see KeyHolder.
type BatchInsert struct {
	// ID is the number of an open batch, to which the jobs are added; 0: a new batch. A
	// batch is open while its last job waits or, if it has no last job, while one of its
	// jobs is live. Nothing is added to another batch (ErrBatchEnded), nor in a caller's
	// transaction, which would lock the batch.
	ID int64
	// Finally, of a new batch, makes the last job of the request the last job of the batch:
	// it waits for the ends of all other jobs of the batch, also for jobs that are added.
	// On is which ends match, and Any means that one match is enough; see Wait. The job's own After
	// must be empty. A batch without other jobs is decided by the insert.
	Finally *Finally
}

// Finally is what the last job of a batch waits for.
type Finally struct {
	On  On
	Any bool
}

// Batch is a batch as it is shown.
type Batch struct {
	ID        int64
	CreatedAt time.Time
	// Finally is the number of its last job, and FinallyState the state of that job; 0: the
	// batch has no last job, or the last job was deleted.
	Finally      int64
	FinallyState State
	// Counts has the number of the other jobs by State. Jobs that were deleted do not count.
	Counts [StateNotStarted + 1]int64
}

// Total returns the number of jobs, without the last job.
func (b *Batch) Total() int64 {
	var n int64
	for _, count := range b.Counts {
		n += count
	}
	return n
}

// Ended returns how many of these jobs have ended.
func (b *Batch) Ended() int64 {
	return b.Total() - b.Counts[StateReady] - b.Counts[StateWaiting] - b.Counts[StateRunning]
}

// State is the state of a batch as a whole: StateRunning while one of its jobs, or its
// last job, is live; StateFailed if one failed or was cancelled; else StateCompleted.
func (b *Batch) State() State {
	switch {
	case b.Ended() < b.Total(), b.Finally != 0 && !b.FinallyState.Finished():
		return StateRunning
	case b.Counts[StateFailed]+b.Counts[StateCancelled] > 0, b.FinallyState == StateFailed, b.FinallyState == StateCancelled:
		return StateFailed
	}
	return StateCompleted
}

// Link is an edge of a job.
type Link struct {
	Dependent int64
	JobEdge
}

// ErrBatchEnded means that jobs were to be added to a batch that has ended.
var ErrBatchEnded = errors.New("the batch has ended")

// NoBatch returns the error of an insert into a batch that does not exist.
func NoBatch(id int64) error {
	return fmt.Errorf("%w: %w", ErrNotFound, &check.FieldError{
		Field: "batch", Value: fmt.Sprint(id),
		Problem: "is not the number of a batch", Remedy: "batches are deleted some time after their jobs",
	})
}

// BatchEnded returns the error of an insert into a batch that has ended.
func BatchEnded(id int64) error {
	return fmt.Errorf("%w: %w", ErrBatchEnded, &check.FieldError{
		Field: "batch", Value: fmt.Sprint(id),
		Problem: "has ended", Remedy: "enqueue the jobs as a new batch",
	})
}

// checkBatch returns why an insert must be refused because of its batch, or nil.
func checkBatch(req InsertRequest) error {
	if req.Batch == nil {
		return nil
	}
	problem := cmp.Or(batchNumberProblem(req), lastJobProblem(req), batchJobsProblem(req))
	if problem == "" {
		return nil
	}
	value := ""
	if req.Batch.ID != 0 {
		value = fmt.Sprint(req.Batch.ID)
	}
	return &check.FieldError{Field: "batch", Value: value, Problem: problem, Remedy: "see store.BatchInsert"}
}

// batchNumberProblem returns what is wrong with the number of the batch that an insert names.
func batchNumberProblem(req InsertRequest) string {
	switch b := req.Batch; {
	case b.ID < 0:
		return "is not the number of a batch"
	case b.ID > 0 && req.Tx != nil:
		return "is an older batch in a transaction of the program, which would lock the batch until it ends"
	case b.ID > 0 && b.Finally != nil:
		return "has a last job already, or none"
	}
	return ""
}

// lastJobProblem returns what is wrong with the last job of the batch of an insert.
func lastJobProblem(req InsertRequest) string {
	jobs, last := req.Jobs, req.Batch.Finally
	switch {
	case len(jobs) == 0:
		return "has no jobs"
	case last != nil && (len(jobs[len(jobs)-1].After) > 0 || !last.On.known()):
		return "has a last job with predecessors of its own, or with an unknown outcome"
	}
	return ""
}

// batchJobsProblem returns why jobs of an insert cannot belong to a batch.
func batchJobsProblem(req InsertRequest) string {
	ofSchedule := func(job NewJob) bool { return job.Schedule != 0 }
	mayExist := func(job NewJob) bool { return job.Unique != "" && (job.OnConflict != OnConflictError || req.Tx != nil) }
	switch {
	case slices.ContainsFunc(req.Jobs, ofSchedule):
		return "has a job with a schedule"
	case slices.ContainsFunc(req.Jobs, mayExist):
		return "has a job with a key that is not an error if it is taken, or in a transaction of the program"
	}
	return ""
}

// withFinally returns the jobs of a request with the edges of the last job of a new batch.
func (r InsertRequest) withFinally() []NewJob {
	if r.Batch == nil || r.Batch.Finally == nil {
		return r.Jobs
	}
	jobs, f := slices.Clone(r.Jobs), r.Batch.Finally
	last := &jobs[len(jobs)-1]
	last.Any, last.AtEnd, last.After = f.Any, true, make([]Edge, len(jobs)-1)
	for i := range last.After {
		last.After[i] = Edge{Place: i + 1, On: f.On}
	}
	return jobs
}
