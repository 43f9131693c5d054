package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store/memory"
)

// The kinds of jobs.
const (
	kindPlain  = "plain"
	kindTx     = "tx"     // completes its job in a transaction, with a job of kindEffect as its effect
	kindOwn    = "own"    // the same in a transaction of its own, which stays open for a while after the completion
	kindEffect = "effect" // is made by jobs of kindTx only
	kindNote   = "note"   // is made by hooks and handlers only
	kindKiller = "killer" // ends its process in its first runs
	kindSlow   = "slow"   // is abandoned if its worker ignores its context
	kindSteps  = "steps"  // takes steps, and waits
)

// args are the arguments of each job.
type args struct {
	L string `json:"l"` // the label
}

// txArgs are the arguments of kindTx.
type txArgs args

// Kind implements hourbell.Args.
func (txArgs) Kind() string { return kindTx }

// rawArgs returns the arguments of a job of a kind.
func rawArgs(kind, label string) hourbell.RawArgs {
	text, _ := json.Marshal(args{label}) // never fails
	return hourbell.RawArgs{Name: kind, JSON: text}
}

// conduct is what a worker does in an attempt.
type conduct struct {
	takes  time.Duration
	heeds  bool   // it returns when its context ends
	answer string // ok, error, panic, fail, cancel, snooze, limited
}

// mean is how long runs take in the mean: so long that a part of all workers is busy.
func (p *plan) mean() time.Duration { return 200 * time.Millisecond * time.Duration(p.Workers*p.Nodes) }

// conduct returns what the worker of a job does in its n-th run. It is a pure function of the seed.
func (p *plan) conduct(d dice, label string, n int) conduct {
	key := fmt.Sprintf("conduct %s %d", label, n)
	c := conduct{takes: time.Millisecond + d.span(key, 0, p.mean()), heeds: true, answer: "ok"}
	switch roll := d.part(key, 1); {
	case roll < 0.08:
		c.answer = "error"
	case roll < 0.10:
		c.answer = "panic"
	case roll < 0.11:
		c.answer = "fail"
	case roll < 0.12:
		c.answer = "cancel"
	case roll < 0.14:
		c.answer = "snooze"
	case roll < 0.15:
		c.answer = "limited"
	}
	switch roll := d.part(key, 2); {
	case roll < 0.02: // longer than a lease
		c.takes = d.span(key, 3, 2*p.Lease)
	case roll < 0.03:
		c.takes, c.heeds = d.span(key, 3, p.Lease*4/3), false
	}
	return c
}

// workers returns the workers of a node.
func (c *cluster) workers(n *node) *hourbell.Workers {
	workers := hourbell.NewWorkers()
	backoff := hourbell.DefaultBackoff("constant:2s")
	for _, kind := range []string{kindPlain, kindEffect, kindNote, kindKiller} {
		workers.Handle(kind, func(ctx context.Context, row *hourbell.JobRow) error { return c.work(ctx, n, row) }, backoff)
	}
	workers.Handle(kindSlow, func(ctx context.Context, row *hourbell.JobRow) error { return c.work(ctx, n, row) }, backoff,
		hourbell.AbandonAfter(8*time.Second))
	workers.Handle(kindSteps, func(ctx context.Context, row *hourbell.JobRow) error { return c.takeSteps(ctx, n, row) }, backoff)
	inMemory, is := c.store.(*memory.Store)
	if !is {
		return workers
	}
	inTx := func(ctx context.Context, j *hourbell.Job[txArgs], tx *memory.Tx) error {
		if err := c.work(ctx, n, &j.JobRow); err != nil {
			return err
		}
		who := context.WithValue(ctx, caller{}, fmt.Sprintf("%s in the transaction of %d/%d", n.name, j.ID, j.Token))
		_, err := n.client.Enqueue(who, rawArgs(kindEffect, "effect of "+j.Args.L), hourbell.InTx(tx))
		return err
	}
	hourbell.RegisterTx(workers, memory.Transactions(inMemory), inTx, backoff)
	workers.Handle(kindOwn, func(ctx context.Context, row *hourbell.JobRow) error { return c.ownTx(ctx, n, row, inMemory) }, backoff)
	return workers
}

// ownTx is an attempt that completes its job in a transaction of the worker. If its process dies while the transaction is open, the
// commit may have been sent already, or the database notices some time later that nothing follows.
func (c *cluster) ownTx(ctx context.Context, n *node, row *hourbell.JobRow, in *memory.Store) error {
	if err := c.work(ctx, n, row); err != nil {
		return err
	}
	tx := in.Begin()
	defer func() {
		if tx.Rollback() == nil {
			c.claims.ends(row.ID, row.Token, false)
		}
	}()
	key := fmt.Sprintf("%s in its own transaction of %d/%d", n.name, row.ID, row.Token)
	who := context.WithValue(ctx, caller{}, key)
	if _, err := n.client.Enqueue(who, rawArgs(kindEffect, "effect of "+labelOf(row.RawArgs)), hourbell.InTx(tx)); err != nil {
		return err
	}
	if err := row.Complete(who, tx); err != nil {
		return err
	}
	_ = c.gate.await(context.Background(), &stop{key: key + " commits", arrive: func(int) time.Time {
		return n.port.thawed(time.Now().Add(c.dice.span(key+" commits", 0, 2*time.Second)))
	}})
	end := c.dice.part(key+" ends", 0)
	if n.port.isDead() && end < 0.7 {
		_ = c.gate.await(context.Background(), &stop{key: "the connection of " + key, arrive: func(int) time.Time {
			return time.Now().Add(c.dice.span(key+" is closed", 0, 10*time.Second))
		}})
		return errDead
	}
	if end > 0.95 {
		return errSerial
	}
	err := tx.Commit()
	c.trace.add("%s: commits: %v", key, err)
	c.claims.ends(row.ID, row.Token, err == nil)
	if end < 0.05 {
		return errConnection // the answer is lost
	}
	return err
}

// work is an attempt: it stops at the gate while it takes its time.
func (c *cluster) work(ctx context.Context, n *node, row *hourbell.JobRow) error {
	a, err := c.begin(n, row)
	if err != nil {
		return err
	}
	if cut := a.passes(ctx, a.key, a.does.takes); cut != nil {
		return a.cut(cut)
	}
	return a.ends()
}

// attempt is an attempt at a job, as its worker sees it.
type attempt struct {
	*run
	c     *cluster
	n     *node
	does  conduct
	key   string // of its stops
	kills bool   // it ends its process
}

// begin begins an attempt.
func (c *cluster) begin(n *node, row *hourbell.JobRow) (*attempt, error) {
	var a args
	if err := json.Unmarshal(row.RawArgs, &a); err != nil {
		return nil, fmt.Errorf("read args: %w", err)
	}
	if row.Schedule != "" {
		a.L = fmt.Sprintf("%s %s %d", a.L, row.Slot.Format("02 15:04:05.000"), row.ID)
	}
	if row.Kind == kindNote {
		a.L = fmt.Sprintf("%s %d", a.L, row.ID)
	}
	does := c.plan.conduct(c.dice, a.L, c.witness.runsOf(row.ID))
	if row.Kind == kindSteps {
		does = c.plan.conductOfSteps(c.dice, a.L, c.witness.runsOf(row.ID), does)
	}
	left, _ := row.HeldFor()
	r := &run{
		Label: a.L, Kind: row.Kind, Queue: row.Queue, Key: row.Key, ID: row.ID, Token: row.Token, Attempt: row.Attempt,
		MaxAttempts: row.MaxAttempts, Group: row.Group, FailOnLoss: row.OnLoss == hourbell.FailOnLoss, Heeds: does.heeds,
		Node: n.name, Schedule: row.Schedule, Slot: row.Slot, Left: left, Lease: n.port.leaseEnds(), Start: c.moment(),
	}
	kills := row.Kind == kindKiller && c.witness.runsOf(row.ID) < killerRuns
	key := fmt.Sprintf("%s runs %d/%d %q", n.name, row.ID, row.Token, a.L)
	if !c.witness.start(r) {
		return nil, errDead
	}
	if !c.real {
		c.claims.begins(row.ID, row.Token)
	}
	return &attempt{r, c, n, does, key, kills}, nil
}

// passes lets some time of an attempt pass. It returns why the context of the attempt has ended, if the worker heeds that.
func (a *attempt) passes(ctx context.Context, key string, takes time.Duration) (cut error) {
	c, n := a.c, a.n
	heeded := ctx
	if !a.does.heeds {
		heeded = context.Background()
	}
	cut = c.gate.await(heeded, &stop{key: key, arrive: func(int) time.Time {
		if key == a.key {
			c.trace.add("%s: attempt %d begins", key, a.Attempt)
		}
		if sprung := n.port.take(atRun); sprung != nil {
			after := time.Duration(c.dice.part(key+" trap", 0) * float64(takes))
			c.gate.at(time.Now().Add(after), key+": trap", sprung)
		}
		if a.kills {
			c.gate.at(time.Now().Add(takes/2), key+": ends its process", func() { c.crash(n) })
		}
		return n.port.thawed(time.Now().Add(takes))
	}})
	if n.port.isDead() {
		return errDead
	}
	if cut != nil { // one worker after another
		_ = c.gate.await(context.Background(), &stop{key: key + " is cut short", arrive: func(int) time.Time {
			return n.port.thawed(time.Now())
		}})
	}
	return cut
}

// cut ends an attempt whose context has ended because of err.
func (a *attempt) cut(err error) error {
	if errors.Is(err, errDead) {
		return err
	}
	a.Cut = true
	a.c.witness.end(a.run, a.c.moment(), "cut short: "+err.Error())
	a.c.trace.add("%s: cut short: %v", a.key, err)
	return err
}

// ends ends an attempt that has taken its time.
func (a *attempt) ends() error {
	a.c.witness.end(a.run, a.c.moment(), a.does.answer)
	a.c.trace.add("%s: ends: %s", a.key, a.does.answer)
	if sprung := a.n.port.take(atEnd); sprung != nil {
		sprung()
	}
	return a.does.err(a.c.dice, a.key)
}

// err returns the answer of a worker.
func (does conduct) err(d dice, key string) error {
	switch does.answer {
	case "error":
		return errors.New("simulated: the work failed")
	case "panic":
		panic("simulated: the work panicked")
	case "fail":
		return hourbell.Fail(errors.New("simulated: no attempt will help"))
	case "cancel":
		return hourbell.Cancel(errors.New("simulated: not needed"))
	case "snooze":
		return hourbell.Snooze(time.Second + d.span(key+" snooze", 0, 5*time.Second))
	case "limited":
		return hourbell.LimitedFor(time.Second + d.span(key+" limited", 0, 2*time.Second))
	}
	return nil
}

// completesInTx reports whether the workers of a kind complete their jobs in transactions.
func completesInTx(kind string) bool { return kind == kindTx || kind == kindOwn }
