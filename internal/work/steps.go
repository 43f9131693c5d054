package work

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/store"
)

// ErrStepsChanged is the error of an attempt whose program takes other steps than an earlier attempt has stored.
var ErrStepsChanged = errors.New("the program takes other steps than an earlier attempt of this job")

// errStepInTx is the error of a step of a worker that runs in a transaction.
var errStepInTx = errors.New("a worker of RegisterTx is one step: its effects and its completion are committed together; " +
	"use Register for a job of several steps")

// remembered is what a run remembers of earlier attempts. It belongs to the goroutine of the worker. Its rule: steps that this version
// of the program has stored are taken in the order in which they were stored. Of the steps of an earlier version only the names count, and
// those that are not taken any more are ignored.
type remembered struct {
	read    bool
	version int32 // of the program
	byName  map[string]store.Step
	places  map[int32]string // the names of steps by their places, without those of earlier versions
	taken   map[string]bool  // by this attempt
	last    int32            // the place of the last step of this attempt
}

// rememberedOf returns what a program of a version remembers of the steps of a job.
func rememberedOf(steps []store.Step, version int32) remembered {
	m := remembered{read: true, version: version, byName: map[string]store.Step{}, places: map[int32]string{}, taken: map[string]bool{}}
	for _, step := range steps {
		m.byName[step.Name] = step
		if m.binds(step) {
			m.places[step.Place] = step.Name
		}
	}
	return m
}

// binds reports whether the place of a stored step binds the program.
func (m *remembered) binds(step store.Step) bool { return step.Place != 0 && step.Version >= m.version }

// take begins the next step of the attempt, and returns what is stored of it; nil: nothing.
func (m *remembered) take(name string, sort store.StepSort) (*store.Step, error) {
	m.last++
	step, stored := m.byName[name]
	switch before := m.places[m.last]; {
	case m.taken[name]:
		return nil, fmt.Errorf("step %q: the name is used twice in the job; give each step a name of its own", name)
	case before != "" && before != name, stored && m.binds(step) && step.Place != m.last, stored && step.Sort != sort:
		return nil, m.changed(fmt.Sprintf("the %v %q", sort, name), name)
	}
	m.taken[name] = true
	if !stored {
		return nil, nil
	}
	return &step, nil
}

// left returns the error of a program that has completed a job without a step that an earlier attempt has stored; nil: it has taken all.
func (m *remembered) left() error {
	next := int32(math.MaxInt32)
	for place := range m.places {
		if place > m.last {
			next = min(next, place)
		}
	}
	if next == math.MaxInt32 {
		return nil
	}
	m.last = next
	return m.changed("not taken", "")
}

// changed returns the error of a program that takes another step than is stored. now is what it takes instead.
func (m *remembered) changed(now, name string) error {
	step, found := m.byName[m.places[m.last]]
	was := fmt.Sprintf("the %v %q", step.Sort, step.Name)
	if !found { // the place is free, and the name is not
		step = m.byName[name]
		was = fmt.Sprintf("the %v %q in place %d", step.Sort, step.Name, step.Place)
	}
	remedy := fmt.Sprintf("keep names and order of steps while jobs are under way, or register the worker with StepsVersion(%d), "+
		"or retry the job from step %q", max(step.Version, m.version)+1, step.Name)
	switch {
	case step.Version > m.version:
		remedy = fmt.Sprintf("a program of version %d has stored it, and this program has version %d: stop the older program", step.Version, m.version)
	case step.Version < m.version:
		remedy = "the step of the earlier version has the same name, and is of another sort: give the new step another name"
	}
	return fmt.Errorf("step %d is %s now, and the job has stored %s: %w; %s", m.last, now, was, ErrStepsChanged, remedy)
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
	step, err := r.steps.take(name, sort)
	return step, Final(err, store.Failed, 0)
}

// stepsLeft returns the error of an attempt that has completed its job without a step that an earlier attempt has stored. An attempt
// that has taken no step reads none.
func (r *Run) stepsLeft() error {
	if !r.steps.read || r.completing.Load() != notCompleting {
		return nil
	}
	return Final(r.steps.left(), store.Failed, 0)
}

// readSteps reads what the job remembers, once in an attempt.
func (r *Run) readSteps(ctx context.Context) error {
	if r.steps.read {
		return nil
	}
	steps, err := store.List[store.Step](ctx, r.runner.cfg.Store, store.ListRequest{IDs: []int64{r.ID}})
	if err != nil {
		return err
	}
	r.steps = rememberedOf(steps, max(r.StepsVersion, 1))
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
	req.Token, req.Step.Job, req.Step.Place, req.Step.Version = r.Token, r.ID, r.steps.last, r.steps.version
	res, err := r.runner.cfg.Store.SaveStep(ctx, req)
	if errors.Is(err, store.ErrNotHeld) {
		return res, fmt.Errorf("step %q: %w: %w", req.Step.Name, node.ErrClaimLost, err)
	}
	return res, err
}

// NextSleep returns the name of the next sleep of the attempt.
func (r *Run) NextSleep() string {
	r.sleeps++
	return fmt.Sprintf("sleep %d", r.sleeps)
}

// NextChildren returns the name of the next step of the attempt that makes children.
func (r *Run) NextChildren() string {
	r.spawns++
	return fmt.Sprintf("children %d", r.spawns)
}

// StepInTx calls do in a transaction, stores what it returns as the result of the step, and commits effect and step together. If
// another attempt has stored the step in the meantime, the transaction is rolled back, and the stored result is returned.
func StepInTx[T any](
	ctx context.Context, run *Run, txs store.Transactions[T], name string, do func(ctx context.Context, tx T) ([]byte, error),
) ([]byte, error) {
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
