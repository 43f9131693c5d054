package hourbell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/jsons"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// Stepper is a job whose steps are remembered: a *Job of any arguments, or a *JobRow, as a worker receives it.
type Stepper interface{ row() *JobRow }

func (j *JobRow) row() *JobRow { return j }

// running returns the run of the job.
func (j *JobRow) running() *work.Run {
	if j.run == nil { // a worker in a test
		j.run = &work.Run{}
	}
	return j.run
}

// Step calls do, and keeps its result with the job, as JSON of at most 64 KiB. The next attempt of the job, on any node, does not
// call do, and gets the kept result. So a job that fails at its last step does not begin with its first step again:
//
//	receipt, err := hourbell.Step(ctx, job, "charge", func(ctx context.Context) (Receipt, error) { … })
//	if err != nil {
//		return err
//	}
//
// The result is kept after do has returned, so if the process dies in between, do is called again: at least once. See StepTx for
// effects that happen exactly once. An error of do is returned, and nothing is kept.
//
// A job takes its steps one after the other. Each step has a name of its own in the job (1–200 bytes), and all attempts take them
// in the same order; otherwise the job fails with ErrStepsChanged (see StepsVersion). Steps are kept as long as their job, and also count when the
// job is retried by hand. In a worker of a test, which has no claim, do is called.
func Step[T any](ctx context.Context, job Stepper, name string, do func(ctx context.Context) (T, error)) (T, error) {
	return takeStep[T](ctx, job, name, func(run *work.Run) ([]byte, error) {
		value, err := do(ctx)
		if err != nil {
			return nil, err
		}
		text, err := encodeStep(name, value)
		if err != nil {
			return nil, err
		}
		res, err := run.SaveStep(ctx, store.SaveStepRequest{Step: store.Step{Name: name, Value: text}})
		return res.Step.Value, err
	})
}

// StepTx is Step for effects in the database of the store: do works in a transaction, which is committed together with the result
// of the step, so that the effects of all attempts together happen once. txs is as for RegisterTx, and do must not commit or roll
// back. If the database gives the transaction up because of other transactions, do is called again, up to four times.
func StepTx[T, X any](ctx context.Context, job Stepper, name string, txs store.Transactions[X], do func(ctx context.Context, tx X) (T, error)) (T, error) {
	return takeStep[T](ctx, job, name, func(run *work.Run) ([]byte, error) {
		return work.StepInTx(ctx, run, txs, name, func(ctx context.Context, tx X) ([]byte, error) {
			value, err := do(ctx, tx)
			if err != nil {
				return nil, err
			}
			return encodeStep(name, value)
		})
	})
}

// takeStep returns the kept result of a step, or what do has stored.
func takeStep[T any](ctx context.Context, job Stepper, name string, do func(run *work.Run) ([]byte, error)) (value T, err error) {
	if err := checkStep(name); err != nil {
		return value, err
	}
	run := job.row().running()
	step, err := run.Recall(ctx, name, store.StepResult)
	if err != nil {
		return value, err
	}
	var text []byte
	if step != nil {
		text = step.Value
	} else if text, err = do(run); err != nil {
		return value, err
	}
	return value, decodeStep(name, text, &value)
}

// Sleep lets the job wait for d, counted by the store's clock: it returns an error, which the worker returns, and the worker's
// place, the permits and the lease are free. When d has passed, the worker is called again, skips its steps, and Sleep returns nil:
//
//	if err := job.Sleep(ctx, 72*time.Hour); err != nil {
//		return err
//	}
//
// A sleep spends no attempt. It is a step of the job (see Step). In a worker of a test, which has no claim, Sleep returns nil at once.
func (j *JobRow) Sleep(ctx context.Context, d time.Duration) error {
	run := j.running()
	name := run.NextSleep()
	step, err := run.Recall(ctx, name, store.StepSleep)
	if err != nil || step != nil && !step.Open || d <= 0 || run.ID == 0 {
		return err
	}
	_, err = park(ctx, run, store.Step{Name: name, Sort: store.StepSleep, Open: true}, min(d, MaxDuration))
	return err
}

// Wait lets the job wait for a signal with this name, at most for timeout; 0: without end. It returns an error, which the worker
// returns; the job lies aside as with Sleep, and goes on when its signal comes (SignalService.Send): the worker is called again,
// skips its steps, and Wait returns the value of the signal. A signal that came first is there at once. If the timeout passes,
// Wait returns ErrNoSignal, from then on in every attempt, and a later signal is refused.
//
//	answer, err := hourbell.Wait[Approval](ctx, job, "approval", 7*24*time.Hour)
//	switch {
//	case errors.Is(err, hourbell.ErrNoSignal):
//		return askAgain(ctx)
//	case err != nil:
//		return err
//	}
//
// A wait is a step of the job (see Step).
func Wait[T any](ctx context.Context, job Stepper, name string, timeout time.Duration) (value T, err error) {
	if err := checkStep(name); err != nil {
		return value, err
	}
	run := job.row().running()
	step, err := run.Recall(ctx, name, store.StepSignal)
	if err != nil {
		return value, err
	}
	if step == nil || step.Open || step.Place == 0 {
		now, err := park(ctx, run, store.Step{Name: name, Sort: store.StepSignal, Open: true}, min(max(timeout, 0), MaxDuration))
		if err != nil {
			return value, err
		}
		step = &now
	}
	if step.TimedOut {
		return value, fmt.Errorf("wait for the signal %q until %s: %w", name, step.Until.Format(time.RFC3339), ErrNoSignal)
	}
	return value, decodeStep(name, step.Value, &value)
}

// park begins or continues a wait. It returns the step if the wait has ended, and otherwise the error with which the worker returns.
func park(ctx context.Context, run *work.Run, step store.Step, d time.Duration) (store.Step, error) {
	res, err := run.SaveStep(ctx, store.SaveStepRequest{Step: step, For: d})
	if err == nil && res.Step.Open {
		err = work.Park(res)
	}
	return res.Step, err
}

// Cursor keeps how far a loop of a job has come; see JobRow.Cursor. It belongs to the goroutine of the worker.
type Cursor struct {
	run   *work.Run
	name  string
	at    any
	saved loop.Instant
}

// cursorPause is how old a stored cursor may become while its loop goes on.
const cursorPause = time.Second

// Cursor sets at, a pointer, to the value that an earlier attempt of the job kept under this name, if there is one. The loop of the
// worker calls Cursor.Save after each round:
//
//	var at int
//	cursor, err := job.Cursor(ctx, "import", &at)
//	if err != nil {
//		return err
//	}
//	for at < len(rows) {
//		… // work on rows[at]
//		at++
//		if err := cursor.Save(ctx); err != nil {
//			return err
//		}
//	}
//	return cursor.Flush(ctx)
//
// Save stores the value about once a second, so that an attempt whose process dies repeats at most the rounds of a second. A cursor
// is a step of the job (see Step).
func (j *JobRow) Cursor(ctx context.Context, name string, at any) (*Cursor, error) {
	if err := checkStep(name); err != nil {
		return nil, err
	}
	run := j.running()
	step, err := run.Recall(ctx, name, store.StepCursor)
	if err != nil {
		return nil, err
	}
	if step != nil {
		if err := decodeStep(name, step.Value, at); err != nil {
			return nil, err
		}
	}
	return &Cursor{run: run, name: name, at: at, saved: loop.Now()}, nil
}

// Save stores the value, unless it was stored within the last second.
func (c *Cursor) Save(ctx context.Context) error {
	if loop.Now().Sub(c.saved) < cursorPause {
		return nil
	}
	return c.Flush(ctx)
}

// Flush stores the value.
func (c *Cursor) Flush(ctx context.Context) error {
	text, err := encodeStep(c.name, c.at)
	if err != nil {
		return err
	}
	c.saved = loop.Now()
	_, err = c.run.SaveStep(ctx, store.SaveStepRequest{Step: store.Step{Name: c.name, Sort: store.StepCursor, Value: text}})
	return err
}

// checkStep returns what is wrong with the name of a step.
func checkStep(name string) error {
	if err := check.Name("step", name); err != nil {
		return work.Final(err, store.Failed, 0)
	}
	return nil
}

// encodeStep returns the JSON of the value of a step.
func encodeStep(name string, value any) ([]byte, error) {
	text, err := jsons.Encode(value)
	if err == nil {
		err = check.Value("value", text)
	}
	if err != nil {
		return nil, fmt.Errorf("step %q: %w", name, err)
	}
	return text, nil
}

// decodeStep sets value, a pointer, to what is stored of a step.
func decodeStep(name string, text []byte, value any) error {
	if len(text) == 0 { // a worker in a test
		return nil
	}
	if err := json.Unmarshal(text, value); err != nil {
		return work.Final(fmt.Errorf("step %q: decode what an earlier attempt has kept: %w", name, err), store.Failed, 0)
	}
	return nil
}

// Steps returns what a job remembers, in the order of its steps; signals for which the job has not waited come first.
func (s *JobService) Steps(ctx context.Context, id int64) ([]store.Step, error) {
	steps, err := store.List[store.Step](ctx, s.client.backend, store.ListRequest{IDs: []int64{id}})
	if err != nil {
		return nil, fmt.Errorf("list the steps of job %d: %w", id, err)
	}
	return steps, nil
}

// SignalService sends signals to jobs that wait for them; see Wait.
type SignalService struct{ client *Client }

// Send gives a job a signal: value, encoded as JSON of at most 64 KiB. If the job waits for a signal with this name, it goes on at
// once; otherwise the signal is kept until the job waits for it. A job takes one signal of each name: a second signal is
// ErrAnswered, and the first counts. A job that has ended is ErrJobEnded. With InTx the signal comes with the commit, and the job
// stays as it is until then.
func (s *SignalService) Send(ctx context.Context, id int64, name string, value any, options ...Option) error {
	tx, text, err := signal(name, value, options)
	if err == nil {
		err = s.send(ctx, tx, id, name, text)
	}
	if err != nil {
		return fmt.Errorf("send signal %q to job %d: %w", name, id, err)
	}
	return nil
}

// SendToKey is Send to each live job with this key (the option Key) that waits for the signal, and returns their numbers. If no job
// waits for it, the error is ErrNotFound.
func (s *SignalService) SendToKey(ctx context.Context, key, name string, value any, options ...Option) (ids []int64, err error) {
	tx, text, err := signal(name, value, options)
	if err == nil {
		ids, err = s.sendToKey(ctx, tx, key, name, text)
	}
	if err != nil {
		return ids, fmt.Errorf("send signal %q to key %q: %w", name, key, err)
	}
	return ids, nil
}

func (s *SignalService) sendToKey(ctx context.Context, tx store.Tx, key, name string, text []byte) (sent []int64, err error) {
	waiting, err := s.waiting(ctx, key, name)
	for _, id := range waiting {
		switch err := s.send(ctx, tx, id, name, text); {
		case errors.Is(err, ErrAnswered) || errors.Is(err, ErrJobEnded): // since the listing
		case err != nil:
			return sent, fmt.Errorf("job %d: %w", id, err)
		default:
			sent = append(sent, id)
		}
	}
	if err == nil && len(sent) == 0 {
		err = fmt.Errorf("no live job of the key waits for it: %w", ErrNotFound)
	}
	return sent, err
}

// waiting returns the live jobs with a key that wait for a signal.
func (s *SignalService) waiting(ctx context.Context, key, name string) (ids []int64, err error) {
	live := store.JobFilter{Key: key, States: []store.State{store.StateReady, store.StateRunning}}
	for before := int64(0); ; {
		jobs, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: live, Before: before, Limit: signalPage})
		if err != nil || len(jobs) == 0 {
			return ids, err
		}
		page := make([]int64, len(jobs))
		for i, job := range jobs {
			page[i] = job.ID
		}
		steps, err := store.List[store.Step](ctx, s.client.backend, store.ListRequest{IDs: page})
		if err != nil {
			return ids, err
		}
		for _, step := range steps {
			if step.Sort == store.StepSignal && step.Name == name && step.Open {
				ids = append(ids, step.Job)
			}
		}
		before = page[len(page)-1]
	}
}

// signalPage is how many jobs of a key are read at once.
const signalPage = 1000

// signal returns the transaction and the value of a signal.
func signal(name string, value any, options []Option) (tx store.Tx, text []byte, err error) {
	tx, err = onlyTx(options)
	if err = check.Join(err, check.Name("signal", name)); err != nil {
		return nil, nil, err
	}
	text, err = encodeStep(name, value)
	return tx, text, err
}

func (s *SignalService) send(ctx context.Context, tx store.Tx, id int64, name string, text []byte) error {
	res, err := s.client.backend.SaveStep(ctx, store.SaveStepRequest{
		Tx: tx, Step: store.Step{Job: id, Name: name, Sort: store.StepSignal, Value: text}, By: s.client.actor(ctx),
	})
	switch {
	case errors.Is(err, ErrJobEnded): // without the operation of the store, which names the job again
		return ErrJobEnded
	case errors.Is(err, ErrNotFound):
		return ErrNotFound
	case err != nil:
		return err
	case !res.Changed && res.Step.Sort != store.StepSignal:
		return fmt.Errorf("%w: %q is a %v of the job, and no signal", ErrConflict, name, res.Step.Sort)
	case !res.Changed && res.Step.TimedOut:
		return fmt.Errorf("%w: the wait ended at %s without the signal", ErrAnswered, res.Step.Until.Format(time.RFC3339))
	case !res.Changed:
		return fmt.Errorf("%w, at %s", ErrAnswered, res.Step.At.Format(time.RFC3339))
	}
	return nil
}
