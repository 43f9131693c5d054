package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/store"
)

// ErrStepsChanged is the error of an attempt whose program takes other steps than an earlier attempt has stored.
var ErrStepsChanged = errors.New("the program takes other steps than an earlier attempt of this job")

// errStepInTx is the error of a step of a worker that runs in a transaction.
var errStepInTx = errors.New("a worker of RegisterTx is one step: its effects and its completion are committed together; use Register for a job of several steps")

// remembered is what a run remembers of earlier attempts. It belongs to the goroutine of the worker.
type remembered struct {
	read   bool
	byName map[string]store.Step
	places map[int32]string // the names of steps by their places
	taken  map[string]bool  // by this attempt
	last   int32            // the place of the last step of this attempt
}

// Recall begins the next step of the attempt, and returns what is stored of it; nil: nothing.
func (r *Run) Recall(ctx context.Context, name string, sort store.StepSort) (*store.Step, error) {
	if r.runner == nil {
		r.steps.last++
		return nil, nil
	}
	if _, in := ctx.Value(completingKey{}).(completing); in {
		return nil, Final(errStepInTx, store.Failed, 0)
	}
	if err := r.readSteps(ctx); err != nil {
		return nil, fmt.Errorf("step %q: %w", name, err)
	}
	m := &r.steps
	m.last++
	switch step, stored := m.byName[name]; {
	case m.taken[name]:
		return nil, Final(fmt.Errorf("step %q: the name is used twice in the job; give each step a name of its own", name), store.Failed, 0)
	case m.places[m.last] != "" && m.places[m.last] != name, stored && step.Place != 0 && step.Place != m.last, stored && step.Sort != sort:
		return nil, Final(m.changed(name, sort), store.Failed, 0)
	case stored:
		m.taken[name] = true
		return &step, nil
	}
	m.taken[name] = true
	return nil, nil
}

// changed returns the error of a step that is not the step that is stored in its place.
func (m *remembered) changed(name string, sort store.StepSort) error {
	was := "nothing"
	if stored := m.places[m.last]; stored != "" {
		was = fmt.Sprintf("the %v %q", m.byName[stored].Sort, stored)
	} else if step := m.byName[name]; step.Place != 0 {
		was = fmt.Sprintf("this name in place %d", step.Place)
	}
	return fmt.Errorf("step %d is the %v %q now, and the job has stored %s: %w; keep names and order of steps while jobs are under way, "+
		"or enqueue the job again", m.last, sort, name, was, ErrStepsChanged)
}

// readSteps reads what the job remembers, once in an attempt.
func (r *Run) readSteps(ctx context.Context) error {
	m := &r.steps
	if m.read {
		return nil
	}
	steps, err := store.List[store.Step](ctx, r.runner.cfg.Store, store.ListRequest{IDs: []int64{r.ID}})
	if err != nil {
		return err
	}
	m.read, m.byName, m.places, m.taken = true, map[string]store.Step{}, map[int32]string{}, map[string]bool{}
	for _, step := range steps {
		m.byName[step.Name] = step
		if step.Place != 0 {
			m.places[step.Place] = step.Name
		}
	}
	return nil
}

// SaveStep stores the step that Recall has begun last, and returns what is stored then. The error wraps node.ErrClaimLost if the job
// does not run under the claim any more.
func (r *Run) SaveStep(ctx context.Context, req store.SaveStepRequest) (store.SaveStepResult, error) {
	if r.runner == nil {
		return store.SaveStepResult{Step: req.Step, Changed: true}, nil
	}
	if r.attemptNow().abandoned {
		return store.SaveStepResult{}, fmt.Errorf("step %q: %w: %w", req.Step.Name, node.ErrClaimLost, ErrAbandoned)
	}
	req.Token, req.Step.Job, req.Step.Place = r.Token, r.ID, r.steps.last
	res, err := r.runner.cfg.Store.SaveStep(ctx, req)
	if errors.Is(err, store.ErrNotHeld) {
		return res, fmt.Errorf("step %q: %w: %w", req.Step.Name, node.ErrClaimLost, err)
	}
	return res, err
}

// NextStepName returns a name for the step that Recall begins next.
func (r *Run) NextStepName(what string) string { return fmt.Sprintf("%s %d", what, r.steps.last+1) }

// StepInTx calls do in a transaction, stores what it returns as the result of the step, and commits effect and step together. If
// another attempt has stored the step in the meantime, the transaction is rolled back, and the stored result is returned.
func StepInTx[T any](ctx context.Context, run *Run, txs store.Transactions[T], name string, do func(ctx context.Context, tx T) ([]byte, error)) ([]byte, error) {
	if run.runner == nil {
		return nil, errNoClaim
	}
	for n := 1; ; n++ {
		value, err := stepInTx(ctx, run, txs, store.BeginTxRequest{Idle: run.runner.cfg.TxIdle, Again: n > 1}, name, do)
		if err == nil || n == maxTransactions || ctx.Err() != nil || !txs.GaveUp(err) {
			return value, err
		}
	}
}

func stepInTx[T any](ctx context.Context, run *Run, txs store.Transactions[T], req store.BeginTxRequest, name string,
	do func(ctx context.Context, tx T) ([]byte, error),
) (value []byte, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pool, size := txs.Pool()
	leave, err := run.runner.txRooms.enter(ctx, pool, size)
	if err != nil {
		return nil, ended(ctx, fmt.Errorf("wait for a connection for the transaction of step %q: %w", name, err))
	}
	defer leave()
	tx, err := txs.Begin(ctx, req)
	if err != nil {
		return nil, ended(ctx, fmt.Errorf("begin the transaction of step %q: %w", name, err))
	}
	defer tx.Rollback() // also after a panic; does nothing after the commit
	err = whileKept(ctx, cancel, tx.KeepAlive, req.Idle, func() (err error) {
		value, err = do(ctx, tx.Native)
		return err
	})
	if err != nil {
		return nil, err
	}
	res, err := run.SaveStep(ctx, store.SaveStepRequest{Tx: tx.Tx, Commit: true, Step: store.Step{Name: name, Value: value}})
	if err != nil {
		return nil, ended(ctx, fmt.Errorf("store step %q in its transaction: %w", name, err))
	}
	return res.Step.Value, nil
}

// Park returns an error with which a worker lets its job wait for a step.
func Park(res store.SaveStepResult) error {
	delay := maxDelay
	var text strings.Builder
	fmt.Fprintf(&text, "waits for the %v %q", res.Step.Sort, res.Step.Name)
	if !res.Step.Until.IsZero() {
		delay = res.Step.Until.Sub(res.Now)
		fmt.Fprintf(&text, " until %s", res.Step.Until.UTC().Format(time.RFC3339))
	}
	text.WriteString(": the worker has to return this error")
	return &finalError{err: errors.New(text.String()), result: store.Snooze, delay: Within(delay), wait: res.Step.Name}
}
