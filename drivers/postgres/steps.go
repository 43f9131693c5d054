package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// SaveStep stores a step of a job; see store.Steps.
func (b *Backend) SaveStep(ctx context.Context, req store.SaveStepRequest) (store.SaveStepResult, error) {
	const what = "save a step"
	out, err := rowwise.SaveNewStep(req, func() (time.Time, error) {
		return rowwise.InTx(b.autoCommit(ctx, programConns, what), func(q querier) (time.Time, error) { return b.insertStep(ctx, q, req) })
	}, func() (store.SaveStepResult, error) {
		return rowwise.InTxAt(b.within(ctx, what, req.Tx, req.Now), func(tx querier, at time.Time) (store.SaveStepResult, error) {
			return rowwise.SaveStep(ctx, stepsTx{auditTx{b, tx}}, req, at)
		})
	})
	if err != nil || !req.Commit {
		return out, err
	}
	q, err := querierOf(req.Tx)
	if err == nil {
		err = endTx(ctx, q, out.Changed)
	}
	if err != nil {
		return out, b.explainIn(what, err)
	}
	return out, nil
}

// insertStep stores a result, by one statement, if the job runs with the token and has no step of the name. It returns the instant; the
// zero time: it has stored nothing. A transaction that locks the job, reads the step and writes it takes twice the CPU time.
func (b *Backend) insertStep(ctx context.Context, tx querier, req store.SaveStepRequest) (at time.Time, err error) {
	s := &req.Step
	err = each(ctx, tx, []any{into(&at)}, func() {}, b.q(insertStep),
		s.Job, req.Token, s.Name, int16(s.Sort), s.Place, s.Version, string(s.Value), when(req.Now))
	return at, err
}

// stepsTx implements rowwise.StepJobs.
type stepsTx struct{ auditTx }

// LockStepJob implements rowwise.Steps.
func (t stepsTx) LockStepJob(ctx context.Context, id int64, now time.Time) (job *rowwise.StepJob, err error) {
	var one rowwise.StepJob
	err = each(ctx, t.tx, []any{&one.State, &one.Token, into(&one.Now)}, func() { job = &one }, t.b.q(lockStepJob), id, when(now))
	return job, err
}

// FindStep implements rowwise.Steps.
func (t stepsTx) FindStep(ctx context.Context, job int64, name string) (*store.Step, error) {
	found, err := collect(ctx, t.tx, scanStep, t.b.q(findStep), job, name)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// PutStep implements rowwise.Steps.
func (t stepsTx) PutStep(ctx context.Context, s store.Step) error {
	_, err := t.tx.Exec(ctx, t.b.q(upsertStep), s.Job, s.Name, int16(s.Sort), s.Place, s.Version, string(s.Value), s.Open, when(s.Until), s.TimedOut, when(s.At))
	return err
}

// FindSteps implements rowwise.Steps.
func (t stepsTx) FindSteps(ctx context.Context, jobs []int64) ([]store.Step, error) {
	return collect(ctx, t.tx, scanStep, t.b.q(listSteps), jobs)
}

// ForgetSteps implements rowwise.Steps.
func (t stepsTx) ForgetSteps(ctx context.Context, steps []store.Step) error {
	ids, names := make([]int64, len(steps)), make([]string, len(steps))
	for i, step := range steps {
		ids[i], names[i] = step.Job, step.Name
	}
	_, err := t.tx.Exec(ctx, t.b.q(forgetSteps), ids, names)
	return err
}

// PullJob implements rowwise.StepJobs.
func (t stepsTx) PullJob(ctx context.Context, id int64, now time.Time) error {
	var batch pgx.Batch
	batch.Queue(t.b.q(pullJobs), when(now), []int64{id}, store.MostAhead.Microseconds())
	t.b.queueWake(&batch, store.Wake{Kind: store.WakeJobs})
	return send(ctx, t.tx, &batch)
}

// Ended implements rowwise.StepJobs.
func (t stepsTx) Ended(ctx context.Context, id int64) (bool, error) {
	found := map[int64]place{}
	err := t.b.lockFinished(ctx, t.tx, []int64{id}, found)
	return len(found) > 0, err
}

// InsertBatchOf implements rowwise.StepJobs.
func (t stepsTx) InsertBatchOf(ctx context.Context, req store.InsertRequest) (int64, error) {
	links, err := store.CheckLinks(req)
	if err != nil {
		return 0, err
	}
	out, err := t.b.insertLinkedIn(ctx, t.tx, req, links, req.Now)
	return out.Batch, err
}

// findAnswered adds to the jobs of outcomes whether the steps for which they wait are not open any more.
func (f *finishing) findAnswered(ctx context.Context, outcomes []store.Outcome, held map[int64]*store.HeldJob) error {
	waits := store.WaitsOf(outcomes)
	if len(waits) == 0 {
		return nil
	}
	var ids []int64
	var names []string
	for id, name := range waits {
		ids, names = append(ids, id), append(names, name)
	}
	var id int64
	return each(ctx, f.tx, []any{&id}, func() { held[id].Answered = true }, f.b.q(findAnswered), ids, names)
}

func scanStep(r pgx.CollectableRow) (store.Step, error) {
	var s store.Step
	var value string
	err := r.Scan(&s.Job, &s.Name, &s.Sort, &s.Place, &s.Version, &value, &s.Open, into(&s.Until), &s.TimedOut, into(&s.At))
	if value != "" {
		s.Value = []byte(value)
	}
	return s, err
}
