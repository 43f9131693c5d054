package rowwise

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Steps reads and writes what jobs remember.
type Steps interface {
	// LockStepJob returns a job; nil: it is not live.
	LockStepJob(ctx context.Context, id int64, now time.Time) (*StepJob, error)

	// FindStep returns a step of a job; nil: there is none.
	FindStep(ctx context.Context, job int64, name string) (*store.Step, error)

	// FindSteps returns the steps of jobs, sorted by job and place.
	FindSteps(ctx context.Context, jobs []int64) ([]store.Step, error)

	// PutStep stores a step.
	PutStep(ctx context.Context, step store.Step) error

	// ForgetSteps deletes steps, at least one.
	ForgetSteps(ctx context.Context, steps []store.Step) error
}

// StepJob is a live job whose step is saved.
type StepJob struct {
	State store.State
	Token int64     // of its last claim
	Now   time.Time // the instant of the call
}

// StepJobs are Steps with the jobs that signals wake.
type StepJobs interface {
	Steps
	AuditTx

	// PullJob makes a ready job, which is locked, due as far as its slot allows.
	PullJob(ctx context.Context, id int64, now time.Time) error

	// Ended reports whether a job has ended and is kept.
	Ended(ctx context.Context, id int64) (bool, error)

	// InsertBatchOf inserts the jobs of a request as a batch, and returns the number of the batch.
	InsertBatchOf(ctx context.Context, req store.InsertRequest) (int64, error)
}

// SaveStepOf is SaveStep over the rows of jobs.
func SaveStepOf(ctx context.Context, tx Tx, req store.SaveStepRequest, now time.Time) (store.SaveStepResult, error) {
	return SaveStep(ctx, stepJobs{tx}, req, now)
}

// stepJobs are StepJobs over the rows of jobs.
type stepJobs struct{ Tx }

// PullJob implements StepJobs.
func (t stepJobs) PullJob(ctx context.Context, id int64, now time.Time) error {
	jobs, err := t.LockJobs(ctx, []int64{id})
	if err != nil || len(jobs) == 0 {
		return err
	}
	return pull(ctx, t.Tx, []int64{id}, map[int64]*Job{id: &jobs[0]}, now)
}

// Ended implements StepJobs.
func (t stepJobs) Ended(ctx context.Context, id int64) (bool, error) {
	jobs, err := t.LockJobs(ctx, []int64{id})
	return len(jobs) > 0 && jobs[0].State.Finished(), err
}

// InsertBatchOf implements StepJobs.
func (t stepJobs) InsertBatchOf(ctx context.Context, req store.InsertRequest) (int64, error) {
	links, err := store.CheckLinks(req)
	if err != nil {
		return 0, err
	}
	inserted, err := InsertLinkedOf(ctx, t.Tx, req, links, req.Now)
	return inserted.Batch, err
}

// SaveStep stores a step of a job; see store.Steps. now is the instant that LockStepJob gets.
func SaveStep(ctx context.Context, tx StepJobs, req store.SaveStepRequest, now time.Time) (out store.SaveStepResult, err error) {
	id := req.Step.Job
	job, err := tx.LockStepJob(ctx, id, now)
	if err != nil {
		return out, err
	}
	if job == nil {
		return out, missingStepJob(ctx, tx, req)
	}
	if err := req.Admit(job.State, job.Token); err != nil {
		return out, fmt.Errorf("job %d: %w", id, err)
	}
	stored, err := tx.FindStep(ctx, id, req.Step.Name)
	if err != nil {
		return out, err
	}
	out.Now = job.Now
	if out.Step, out.Changed = req.Asked(job.Now).Over(stored, job.Now); !out.Changed {
		return out, nil
	}
	if stored == nil && len(req.Children) > 0 {
		batch, err := tx.InsertBatchOf(ctx, req.Births(job.Now))
		if err != nil {
			return out, err
		}
		out.Step = out.Step.Born(batch)
	}
	if err := tx.PutStep(ctx, out.Step); err != nil {
		return out, err
	}
	if req.Wakes(job.State, stored, out.Changed) {
		if err := tx.PullJob(ctx, id, job.Now); err != nil {
			return out, err
		}
	}
	return out, Record(ctx, tx, req.Entry(out.Changed), job.Now)
}

// SaveNewStep is SaveStep that tries one statement first: insert stores a result if the job runs with the token and has no step of
// the name, and returns the instant; the zero time: it has stored nothing. Otherwise save decides.
func SaveNewStep(req store.SaveStepRequest, insert func() (time.Time, error), save func() (store.SaveStepResult, error)) (out store.SaveStepResult, err error) {
	if !req.IsResult() {
		return save()
	}
	out.Now, err = insert()
	switch {
	case err != nil:
		return out, err
	case out.Now.IsZero():
		return save()
	}
	out.Step, out.Changed = req.Asked(out.Now).Over(nil, out.Now)
	return out, nil
}

// missingStepJob returns why a job takes no step that is not live.
func missingStepJob(ctx context.Context, tx StepJobs, req store.SaveStepRequest) error {
	why := store.ErrNotHeld
	if req.Token == 0 {
		ended, err := tx.Ended(ctx, req.Step.Job)
		if err != nil {
			return err
		}
		if why = store.ErrNotFound; ended {
			why = store.ErrJobEnded
		}
	}
	return fmt.Errorf("job %d: %w", req.Step.Job, why)
}

// StepsToForget returns the steps that a request to retry jobs, which are locked, forgets. It is called before the jobs are changed.
func StepsToForget(ctx context.Context, tx Steps, req store.ChangeJobsRequest, plan store.JobPlan) ([]store.Step, error) {
	ids := slices.Concat(plan.Pull, plan.Revive)
	if req.FromStep == "" || len(ids) == 0 {
		return nil, nil
	}
	steps, err := tx.FindSteps(ctx, ids)
	if err != nil {
		return nil, err
	}
	return req.Forgets(ids, steps)
}

// ForgetSteps deletes those of the steps whose jobs were changed.
func ForgetSteps(ctx context.Context, tx Steps, changes []store.JobChange, steps []store.Step) error {
	if steps = store.ForgottenBy(changes, steps); len(steps) == 0 {
		return nil
	}
	return tx.ForgetSteps(ctx, steps)
}
