package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// taken is a step as an attempt saw it.
type taken struct {
	Part         int // of the program of the job
	Began, Ended moment
	Did          int     // how often its function was called
	Got          string  // one of the following; empty: its process died
	Value        string  // of a result or a signal
	Saves        []saved // of the loop of a cursor; the first: where it begins
}

// What an attempt gets from a step.
const (
	gotValue    = "value"
	gotParked   = "parked"
	gotTimedOut = "timed out"
	gotError    = "error"
)

// saved are rounds of the loop of a cursor. Save was called with them at an instant, and returned no error.
type saved struct {
	at     time.Time
	rounds int
}

// inTx is the function of a step in a transaction, which it gets as an option.
type inTx func(context.Context, hourbell.Option) (string, error)

// stepInTx takes a step whose effect is made in a transaction.
type stepInTx func(ctx context.Context, row *hourbell.JobRow, name string, do inTx) (string, error)

// stepsInMemory takes such steps over the store in memory.
func stepsInMemory(in *memory.Store) stepInTx {
	return func(ctx context.Context, row *hourbell.JobRow, name string, do inTx) (string, error) {
		return hourbell.StepTx(ctx, row, name, memory.Transactions(in), func(ctx context.Context, tx *memory.Tx) (string, error) {
			return do(ctx, hourbell.InTx(tx))
		})
	}
}

// conductOfSteps returns what the worker of a job with steps does in its n-th run. More of these workers go on
// although their node has lost the claim, so that they try to store steps.
func (p *plan) conductOfSteps(d dice, label string, n int, does conduct) conduct {
	switch key := fmt.Sprintf("conduct of steps %s %d", label, n); {
	case d.part(key, 0) < 0.05:
		does.takes, does.heeds = d.span(key, 1, 3*p.Lease), false
	case d.part(key, 0) < 0.15:
		does.heeds = false
	}
	return does
}

// takeSteps is an attempt at a job of kindSteps. A run that does not answer ok stops before one of the steps, or after
// all.
func (c *cluster) takeSteps(ctx context.Context, n *node, row *hourbell.JobRow) error {
	a, err := c.begin(n, row)
	if err != nil {
		return err
	}
	parts := c.programs[a.Label]
	last := len(parts)
	if a.does.answer != "ok" {
		last = int(c.dice.part(a.key+" stops", 0) * float64(last+1))
	}
	heeded := ctx
	if !a.does.heeds {
		ctx = context.WithoutCancel(ctx)
	}
	if cut := a.passes(heeded, a.key, a.does.takes/time.Duration(1+last)); cut != nil {
		return a.cut(cut)
	}
	for i, p := range parts[:last] {
		t := c.witness.takesStep(a.run, i, c.moment())
		value, err := a.take(ctx, row, p, t)
		if n.port.isDead() {
			return errDead
		}
		c.witness.gotStep(t, c.moment(), value, err)
		c.trace.add("%s: takes the %v: %s %q: %v", a.key, p, t.Got, value, err)
		switch {
		case t.Got == gotParked:
			c.meets(a, p)
			c.witness.end(a.run, c.moment(), gotParked)
			return err
		case t.Got != gotError:
		case a.does.heeds && heeded.Err() != nil:
			return a.cut(err)
		case errors.Is(err, hourbell.ErrClaimLost):
			c.witness.end(a.run, c.moment(), "claim lost")
			return err
		default:
			if errors.Is(err, hourbell.ErrStepsChanged) {
				c.witness.broke(fmt.Sprintf("%v: %v", a.run, err))
			}
			c.witness.end(a.run, c.moment(), "error")
			return err
		}
	}
	return a.ends()
}

// take takes a step.
func (a *attempt) take(ctx context.Context, row *hourbell.JobRow, p part, t *taken) (string, error) {
	do := func(ctx context.Context) (string, error) {
		n := a.c.witness.doesStep(t)
		cut := a.passes(ctx, fmt.Sprintf("%s in %s", a.key, p.Name), a.does.takes/4)
		return fmt.Sprintf("%s %d/%d", p.Name, a.Token, n), cut
	}
	switch {
	case p.Sort == store.StepSleep:
		return "", row.Sleep(ctx, p.For)
	case p.Sort == store.StepSignal:
		return hourbell.Wait[string](ctx, row, p.Name, p.For)
	case p.Sort == store.StepCursor:
		return "", a.loop(ctx, row, p, t)
	case !p.Tx || a.n.stepInTx == nil:
		return hourbell.Step(ctx, row, p.Name, do)
	}
	return a.n.stepInTx(ctx, row, p.Name, func(ctx context.Context, in hourbell.Option) (string, error) {
		value, err := do(ctx)
		if err == nil {
			who := context.WithValue(ctx, caller{}, fmt.Sprintf("%s in the transaction of %d/%d", a.n.name, a.ID, a.Token))
			_, err = a.n.client.Enqueue(who, rawArgs(kindEffect, fmt.Sprintf("effect of %s: %s", a.Label, value)), in)
		}
		return value, err
	})
}

// loop is the loop of a cursor.
func (a *attempt) loop(ctx context.Context, row *hourbell.JobRow, p part, t *taken) error {
	var rounds int
	cursor, err := row.Cursor(ctx, p.Name, &rounds)
	if err != nil {
		return err
	}
	for save := nothing; rounds < p.Rounds; rounds++ {
		if err := a.save(ctx, save, t, rounds); err != nil {
			return err
		}
		if cut := a.passes(ctx, fmt.Sprintf("%s in %s", a.key, p.Name), 50*time.Millisecond+a.does.takes/8); cut != nil {
			return cut
		}
		save = cursor.Save
	}
	return cursor.Flush(ctx)
}

// nothing saves nothing.
func nothing(context.Context) error { return nil }

// save saves rounds.
func (a *attempt) save(ctx context.Context, save func(context.Context) error, t *taken, rounds int) error {
	at := time.Now()
	err := save(ctx)
	if err == nil && !a.n.port.isDead() {
		a.c.witness.saves(t, saved{at, rounds})
	}
	return err
}

// meets sends the signal that comes some time after a job has begun to wait for it.
func (c *cluster) meets(a *attempt, p part) {
	if p.Meets > 0 && c.witness.firstPark(a.ID, p.Name) {
		name := fmt.Sprintf("%s of %d", p.Name, a.ID)
		c.gate.at(time.Now().Add(p.Meets), "the signal "+name, func() {
			c.asks("of "+name, func(ctx context.Context) { c.signal(ctx, a.ID, p.Name) })
		})
	}
}

// isParked reports whether an error is the error with which a worker lets its job wait.
func isParked(err error) bool {
	return err != nil && strings.Contains(err.Error(), "the worker has to return this error")
}

// takesStep records that an attempt takes a step.
func (w *witness) takesStep(r *run, part int, now moment) *taken {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &taken{Part: part, Began: now}
	r.Taken = append(r.Taken, t)
	return t
}

// doesStep records a call of the function of a step, and returns how many there were before in the attempt.
func (w *witness) doesStep(t *taken) (before int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Did++
	return t.Did - 1
}

// saves records rounds of the loop of a cursor.
func (w *witness) saves(t *taken, s saved) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Saves = append(t.Saves, s)
}

// gotStep records what an attempt got from a step.
func (w *witness) gotStep(t *taken, now moment, value string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Ended, t.Value = now, value
	switch {
	case err == nil:
		t.Got = gotValue
	case isParked(err):
		t.Got = gotParked
	case errors.Is(err, hourbell.ErrNoSignal):
		t.Got = gotTimedOut
	default:
		t.Got = gotError
	}
}

// broke records an error that no weather explains.
func (w *witness) broke(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crash = append(w.crash, text)
}

// firstPark reports whether a job begins to wait for a signal for the first time.
func (w *witness) firstPark(id int64, name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := fmt.Sprintf("%d %s", id, name)
	first := !w.parked[key]
	w.parked[key] = true
	return first
}
