package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/store"
)

// The values of Run.completing: whether the completion of a run was sent in a transaction of the
// worker. Such a completion is never written again by the node.
const (
	notCompleting int32 = iota // the node writes the outcome
	mayBeComplete              // the completion was sent; whether it is committed has to be looked up
	isComplete                 // the completion is committed
)

// ErrNotCommitted is the error of an attempt that recorded its completion in a transaction which was
// not committed.
var ErrNotCommitted = errors.New("the attempt recorded its completion in a transaction that was not committed; commit it before the worker returns")

// errNoClaim is the error of a completion in a test of a worker.
var errNoClaim = errors.New("this job was not claimed from a store")

// Complete records in a caller's transaction that the job is completed. If the claim was lost, the
// transaction is rolled back and the error wraps node.ErrClaimLost.
func (r *Run) Complete(ctx context.Context, tx store.Tx) error { return r.finishIn(ctx, tx, false) }

// finishIn records in a transaction of the worker that the job is completed, and commits it if commit
// is true.
func (r *Run) finishIn(ctx context.Context, tx store.Tx, commit bool) error {
	if r.runner == nil {
		return errNoClaim
	}
	if tx == nil {
		return errors.New("the transaction is nil")
	}
	if r.attemptNow().abandoned {
		return fmt.Errorf("%w: %w; roll the transaction back", node.ErrClaimLost, ErrAbandoned)
	}
	outcome := r.runner.outcomeOf(r, nil, nil)
	r.runner.addConsequences(r, &outcome)
	r.completing.Store(mayBeComplete) // before the call, which may have an effect though it fails
	res, err := r.runner.cfg.Store.Finish(ctx, store.FinishRequest{
		Tx: tx, Commit: commit, Timeout: r.runner.cfg.TxIdle, Outcomes: []store.Outcome{outcome}, Node: r.node.Name(),
	})
	switch {
	case err != nil:
		return err
	case len(res.Refused) > 0:
		return fmt.Errorf("%w: another node has taken the job; the transaction was rolled back", node.ErrClaimLost)
	case commit:
		r.completing.Store(isComplete)
	}
	return nil
}

// settle delivers the result of a run whose completion was sent in a transaction of the worker. It
// looks up whether the completion is committed, if this is not known, until the node may no longer
// trust the claim. If it is committed, nothing is left to write. If it is not, the attempt ends with
// the error of the worker, or with ErrNotCommitted.
func (r *Runner) settle(run *Run, res result, cause error) {
	state := store.ClaimCompleted
	if run.completing.Load() != isComplete {
		state = r.awaitClaim(run)
	}
	switch state {
	case store.ClaimCompleted:
		res.outcome = r.outcomeOf(run, nil, nil)
		r.end(run, res, false)
	case store.ClaimHeld:
		r.deliver(run, r.uncommitted(run, res, cause))
	case store.ClaimLost:
		r.end(run, res, true)
	default: // still unknown when the lease ended: a rescue decides, or this node, if it regains its lease under its number
		r.inFlight.leave(run)
		r.undecided.add(run, r.uncommitted(run, res, cause))
		r.lostAnswers.note()
		r.end(run, res, true)
	}
}

// uncommitted returns the result of a run whose completion is not committed.
func (r *Runner) uncommitted(run *Run, res result, cause error) result {
	if res.err == nil {
		res.err = ErrNotCommitted
		res.outcome = r.outcomeOf(run, ErrNotCommitted, cause)
	}
	return res
}

// end reports the end of a run whose outcome the node does not write. lost: the claim was lost, or may have been lost.
func (r *Runner) end(run *Run, res result, lost bool) {
	if run.delivered.Swap(true) {
		return
	}
	defer r.closed()
	res.run = run
	r.outcomes.end(res, lost)
}

// awaitClaim looks up what became of a run's claim, until it is known or the lease of the node
// has ended. An open transaction that has locked the job may still be committed.
func (r *Runner) awaitClaim(run *Run) store.ClaimState {
	const what = "look up a completion"
	for try := 0; ; try++ {
		call, cancel := context.WithTimeout(context.WithoutCancel(run.sessionCtx), r.cfg.CallTimeout)
		state, err := r.cfg.Store.FindClaim(call, run.ref())
		cancel()
		switch {
		case err != nil:
			r.report.StoreFailed(what, err)
			state = store.ClaimLocked // as far as is known
		default:
			r.report.StoreWorks(what)
		}
		if state != store.ClaimLocked {
			return state
		}
		if loop.Sleep(run.sessionCtx, min(time.Millisecond<<min(try, 10), 500*time.Millisecond)) != nil {
			return state
		}
	}
}
