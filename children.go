package hourbell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// ParentHeader is the header (see JobRow.Headers) with the number of the job that made a job by JobRow.Spawn.
const ParentHeader = store.ParentHeader

// childrenArgs are the arguments of a job of store.ChildrenKind.
type childrenArgs struct {
	Job  int64  `json:"job"` // the parent
	Step string `json:"step"`
}

// childrenLook is how long a job waits for its children before it looks at their batch itself, in case the last job of the
// batch was cancelled or deleted by hand.
const childrenLook = time.Hour

// OutliveParent is an option of JobRow.SpawnMany: the children go on if their parent is cancelled.
func OutliveParent() Option {
	return func(e *enqueuing) {
		e.given |= optOutliveParent
	}
}

// Spawn enqueues jobs as children of this job, once: it is a step of the job (see Step), which is stored in the transaction that
// stores the children, so that an attempt after it, on any node, enqueues no others. The children are a batch of their own, and each has
// the number of the job in the header ParentHeader. JobService.Cancel of the parent cancels its children, too; their ends do not concern
// the parent, unless it waits for them:
//
//	if err := job.Spawn(ctx, Part{1}, Part{2}, Part{3}); err != nil {
//		return err
//	}
//	if err := job.WaitChildren(ctx); err != nil {
//		return err
//	}
//	children, err := job.Children(ctx)
//
// In a worker of a test, which has no claim, nothing is enqueued.
func (j *JobRow) Spawn(ctx context.Context, args ...Args) error {
	return j.SpawnMany(ctx, converted(args, func(a Args) Request { return Request{Args: a} }))
}

// SpawnMany is Spawn for jobs with options; see EnqueueMany. The children may have unique keys with ErrorOnConflict: if a key is taken,
// no job is stored, and the error is ErrDuplicate. InTx and InBatch are errors.
func (j *JobRow) SpawnMany(ctx context.Context, requests []Request, options ...Option) error {
	run := j.running()
	name := run.NextChildren()
	step, err := run.Recall(ctx, name, store.StepChildren)
	if err == nil && step == nil && run.ID != 0 {
		step, err = j.spawn(ctx, run, name, requests, options)
	}
	if err != nil {
		return fmt.Errorf("spawn children of job %d: %w", j.ID, err)
	}
	if step != nil {
		run.Children = append(run.Children, *step)
	}
	return nil
}

// spawn stores children and their step.
func (j *JobRow) spawn(ctx context.Context, run *work.Run, name string, requests []Request, options []Option) (*store.Step, error) {
	outlive, options := taken(options, optOutliveParent)
	shared, jobs, err := newJobs(requests, options)
	if err = check.Join(err, shared.given.except(requestOptions)); err != nil {
		return nil, err
	}
	parent := strconv.FormatInt(j.ID, 10)
	for i := range jobs {
		jobs[i].Headers = plan.WithHeader(jobs[i].Headers, ParentHeader, parent)
	}
	about, err := json.Marshal(childrenArgs{j.ID, name})
	if err != nil {
		return nil, err
	}
	last := newJobOptions().NewJob
	last.Kind, last.Args, last.Queue, last.Priority, last.MaxAttempts = store.ChildrenKind, about, run.Queue, run.Priority, MaxAttemptsLimit
	client, _ := run.Client.(*Client)
	var saved store.SaveStepResult
	_, err = client.describeBy(ctx, shared.insertRequest(jobs), func(ctx context.Context, req store.InsertRequest) (res store.InsertResult, err error) {
		saved, err = run.SaveStep(ctx, store.SaveStepRequest{
			Step:     store.Step{Name: name, Sort: store.StepChildren, Open: true, Value: store.Children{Outlive: outlive}.Value()},
			Children: append(slices.Clip(req.Jobs), last),
		})
		return res, err
	})
	return &saved.Step, err
}

// WaitChildren lets the job wait until all its children have ended. The children are the jobs that the job has made by Spawn before, and the
// jobs that were added to the batches of these jobs. WaitChildren returns an error, which the worker returns, and the job lies aside as with
// Sleep. When the children have ended, completed or not, the worker is called again, and WaitChildren returns nil.
func (j *JobRow) WaitChildren(ctx context.Context) error {
	run := j.running()
	for i := range run.Children {
		step := &run.Children[i]
		for step.Open {
			if err := j.waitChildren(ctx, run, step); err != nil {
				return err
			}
		}
	}
	return nil
}

// waitChildren waits for the children of a step.
func (j *JobRow) waitChildren(ctx context.Context, run *work.Run, step *store.Step) (err error) {
	next := store.Step{Name: step.Name, Sort: store.StepChildren, Open: true}
	if !step.Until.IsZero() { // the job has waited, and perhaps nothing has ended its wait
		if next.Open, err = j.childrenLive(ctx, run, step.Children().Batch); err != nil {
			return fmt.Errorf("wait for children: %w", err)
		}
		next.Value = step.Value
	}
	*step, err = park(ctx, run, next, childrenLook)
	return err
}

// childrenLive reports whether a batch of children has a job that has not ended.
func (j *JobRow) childrenLive(ctx context.Context, run *work.Run, batch int64) (bool, error) {
	live, err := run.ListJobs(ctx, store.ListJobsRequest{
		JobFilter: store.JobFilter{Batch: batch, States: store.CancelJobs.States()}, Limit: 1,
	})
	return len(live) > 0, err
}

// Children returns the jobs that this job has made by Spawn before in this attempt, or in an attempt before, by number, with their
// states and results. Children that were deleted or pruned are left out. All of them are read, some hundred at a time.
func (j *JobRow) Children(ctx context.Context) (children []Predecessor, err error) {
	run := j.running()
	for _, step := range run.Children {
		page := store.ListJobsRequest{JobFilter: store.JobFilter{Batch: step.Children().Batch}, OldestFirst: true, Limit: 500, Attempts: true}
		for {
			jobs, err := run.ListJobs(ctx, page)
			if err != nil {
				return nil, fmt.Errorf("read the children of job %d: %w", j.ID, err)
			}
			for _, job := range jobs {
				if job.Kind != store.ChildrenKind {
					children = append(children, endOf(job, plan.Headers(job.Headers)[NameHeader]))
				}
			}
			if len(jobs) < page.Limit {
				break
			}
			page.After = jobs[len(jobs)-1].ID
		}
	}
	return children, nil
}

// claimed lists the kinds that a node with these workers claims, without the restricted kinds.
func (w *Workers) claimed() []string {
	if len(w.byKind) == 0 {
		return nil
	}
	return append(w.kinds(false), store.ChildrenKind)
}

// endChildren does a job of store.ChildrenKind.
func endChildren(ctx context.Context, run *work.Run) error {
	var of childrenArgs
	if err := json.Unmarshal(run.Args, &of); err != nil {
		return work.Final(fmt.Errorf("read the arguments: %w", err), store.Failed, 0)
	}
	client, _ := run.Client.(*Client)
	_, err := client.backend.SaveStep(ctx, store.SaveStepRequest{
		Step: store.Step{Job: of.Job, Name: of.Step, Sort: store.StepChildren, Value: store.Children{Batch: run.Batch}.Value()},
	})
	if errors.Is(err, ErrJobEnded) || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// cancelChildren cancels the children of jobs that were cancelled, and adds the answers to out.
func (s *JobService) cancelChildren(ctx context.Context, c changing, jobs []store.JobChange, out *JobChanges) error {
	parents := cancelledOf(jobs)
	if len(parents) == 0 {
		return nil
	}
	steps, err := store.List[store.Step](ctx, s.client.backend, store.ListRequest{IDs: parents, Tx: c.req.Tx})
	if err != nil {
		return err
	}
	for _, step := range steps {
		children := step.Children()
		if step.Sort != store.StepChildren || !step.Open || children.Outlive {
			continue
		}
		c.filter = JobFilter{Batch: children.Batch}
		c.req.Reason = fmt.Sprintf("cancelled with job %d, which made it", step.Job)
		match, err := s.toChange(ctx, c.filter, store.CancelJobs)
		if err == nil {
			err = s.changeMatching(ctx, c, match, out)
		}
		if err != nil {
			return fmt.Errorf("cancel the children of job %d: %w", step.Job, err)
		}
	}
	return nil
}

// cancelledOf returns the numbers of the jobs that were cancelled, or asked to cancel.
func cancelledOf(jobs []store.JobChange) (ids []int64) {
	for _, job := range jobs {
		if job.Change == store.Changed || job.Change == store.Requested {
			ids = append(ids, job.ID)
		}
	}
	return ids
}
