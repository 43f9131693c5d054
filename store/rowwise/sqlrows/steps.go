package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// LockStepJob implements rowwise.Steps.
func (s *Session) LockStepJob(ctx context.Context, id int64, now time.Time) (job *rowwise.StepJob, err error) {
	err = s.Each(ctx, lockStepJob, Args{"job": id}, func(r Row) error {
		job = &rowwise.StepJob{Now: now}
		return r.Scan(&job.State, &job.Token)
	})
	return job, err
}

// FindStep implements rowwise.Steps.
func (s *Session) FindStep(ctx context.Context, job int64, name string) (*store.Step, error) {
	found, err := collect(ctx, s, findStep, nil, Args{"job": job, "name": name}, scanStep)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// NewStep returns the args of InsertStep.
func NewStep(req store.SaveStepRequest) Args {
	s := &req.Step
	return Args{
		"job": s.Job, "token": req.Token, "name": s.Name, "sort": int64(s.Sort), "place": int64(s.Place), "version": int64(s.Version),
		"value": string(s.Value), "now": Micros(req.Now),
	}
}

// SaveStep stores a step of a job; see store.Steps.
func (c Calls[S]) SaveStep(ctx context.Context, req store.SaveStepRequest) (store.SaveStepResult, error) {
	const doing = "save a step"
	out, err := rowwise.SaveNewStep(req, func() (time.Time, error) { return c.InsertStep(ctx, doing, req) }, func() (store.SaveStepResult, error) {
		return rowwise.InTxAt(c.WriteAt(ctx, doing, req.Tx, req.Now), func(s S, now time.Time) (store.SaveStepResult, error) {
			return rowwise.SaveStepOf(ctx, s, req, now)
		})
	})
	switch {
	case err != nil || !req.Commit:
		return out, err
	case !out.Changed:
		c.Rollback(req.Tx)
		return out, nil
	}
	return out, c.Commit(ctx, doing, req.Tx)
}

// PutStep implements rowwise.Steps.
func (s *Session) PutStep(ctx context.Context, step store.Step) error {
	return s.Exec(ctx, upsertStep, Args{
		"job": step.Job, "name": step.Name, "sort": int64(step.Sort), "place": int64(step.Place), "version": int64(step.Version), "value": string(step.Value),
		"waits": step.Open, "until": Micros(step.Until), "timed_out": step.TimedOut, "at": Micros(step.At),
	})
}

// FindSteps implements rowwise.Steps.
func (s *Session) FindSteps(ctx context.Context, jobs []int64) ([]store.Step, error) {
	return s.listSteps(ctx, store.ListRequest{IDs: jobs})
}

// ForgetSteps implements rowwise.Steps.
func (s *Session) ForgetSteps(ctx context.Context, steps []store.Step) error {
	rows := make([]stepKey, len(steps))
	for i, step := range steps {
		rows[i] = stepKey{step.Job, step.Name}
	}
	return s.Exec(ctx, forgetSteps, Args{"steps": JSON(rows)})
}

// stepKey is a step as a statement gets it.
type stepKey struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// FindAnswered implements rowwise.Claims.
func (s *Session) FindAnswered(ctx context.Context, waits map[int64]string) (ids []int64, err error) {
	var rows []stepKey
	for id, name := range waits {
		rows = append(rows, stepKey{id, name})
	}
	err = s.Each(ctx, findAnswered, Args{"waits": JSON(rows)}, func(r Row) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

func (s *Session) listSteps(ctx context.Context, req store.ListRequest) ([]store.Step, error) {
	if len(req.IDs) == 0 {
		return nil, nil
	}
	return collect(ctx, s, listSteps, nil, Args{"ids": req.IDs}, scanStep)
}

func scanStep(r Row) (store.Step, error) {
	var step store.Step
	var value []byte
	err := r.Scan(&step.Job, &step.Name, &step.Sort, &step.Place, &step.Version, &value, &step.Open, IntoTime(&step.Until), &step.TimedOut, IntoTime(&step.At))
	if len(value) > 0 {
		step.Value = append([]byte{}, value...)
	}
	return step, err
}
