package store

import (
	"math"
	"time"
)

// Effect is what the end of a claim does to its job. An outcome has an effect
// (Outcome.Effect), and so has the end of the node that holds the claim
// (Loss.Effect).
type Effect struct {
	// Unchanged means that the job stays as it is; all other fields are zero.
	Unchanged bool
	// State is ready, completed, failed or cancelled. A job that is not ready
	// moves to history, with Reason.
	State  State
	Reason string
	// Delay, if the job is ready, is the time from now until it is due.
	Delay time.Duration
	// Keep is Outcome.Keep, if the job is completed or failed.
	Keep time.Duration
	// Refund is how many attempts the job gets back.
	Refund int16
	// RefundCounts means that one is added to Claimed.Refunds.
	RefundCounts bool
	// LossCounts means that one is added to the losses of the job, and LossesEnd
	// that they are 0 from now on.
	LossCounts, LossesEnd bool
	// Snoozed means that one is added to the snoozes of the job.
	Snoozed bool
}

// Counters are the numbers of a live job that an effect changes.
type Counters struct {
	Attempt, Refunds, Losses int16
	Snoozes                  int64
}

// Counters returns the counters of a job after the effect. Refunds and losses
// are at most math.MaxInt16.
func (e Effect) Counters(before Counters) Counters {
	after := before
	after.Attempt -= e.Refund
	if e.RefundCounts {
		after.Refunds = oneMore(after.Refunds)
	}
	if e.LossCounts {
		after.Losses = oneMore(after.Losses)
	}
	if e.LossesEnd {
		after.Losses = 0
	}
	if e.Snoozed {
		after.Snoozes++
	}
	return after
}

// oneMore returns n + 1, or n if it is the greatest number.
func oneMore(n int16) int16 {
	if n == math.MaxInt16 {
		return n
	}
	return n + 1
}

// HeldJob is what is known of a live job that has the token of an outcome.
type HeldJob struct {
	// Running is false if the outcome is repeated, or late after a rescue: the
	// job is ready already.
	Running bool
	// Asked means that there is a cancel request, and Why is its reason.
	Asked bool
	Why   string
	Group SerialGroup
	// Waits means that a job of Group waits. It matters for a Retry or a Snooze
	// only.
	Waits bool
	// Answered means that the step Outcome.Wait is not open any more.
	Answered bool
}

// Effect is the rule of Jobs.Finish for an outcome that counts: what it does to
// its job. Finish also keeps a record of the attempt (Record), carries out
// the follow-up (FollowsUp) and releases waiting jobs (GroupState.Next).
func (o *Outcome) Effect(job HeldJob) Effect {
	switch {
	case o.Result == Completed:
		return Effect{State: StateCompleted, Keep: o.Keep}
	case o.Result == Failed:
		return Effect{State: StateFailed, Reason: o.Error, Keep: o.Keep}
	case o.Result == Cancelled && o.Error != "" && !job.Asked:
		return Effect{State: StateCancelled, Reason: o.Error}
	case o.Result == Cancelled || job.Asked:
		return Effect{State: StateCancelled, Reason: job.Why}
	case !job.Running:
		return Effect{Unchanged: true}
	}
	return o.again(job)
}

// again is the effect on a running job that is to run again: a Release, a Retry or a Snooze.
func (o *Outcome) again(job HeldJob) Effect {
	switch {
	case o.Result == Release:
		return Effect{State: StateReady, Refund: 1, RefundCounts: o.LeaseLost}
	case job.Waits && job.Group.GivesWay():
		return Effect{State: StateCancelled, Reason: SupersededReason}
	case o.Result == Snooze && job.Answered:
		return Effect{State: StateReady, Refund: 1, LossesEnd: true, Snoozed: true}
	case o.Result == Snooze:
		return Effect{State: StateReady, Delay: o.Delay, Refund: 1, LossesEnd: true, Snoozed: true}
	}
	return Effect{State: StateReady, Delay: o.Delay, LossesEnd: true}
}

// Forgets reports whether an outcome leaves no row of its job.
func (o *Outcome) Forgets() bool { return o.Keep == Forget && o.Result.FollowsUp() }

// GivesWay reports whether the attempt has ended by itself and the job is to run
// again, so that the job gives way to a waiting job of its serial group (see
// SerialGroup.GivesWay).
func (r Result) GivesWay() bool { return r == Retry || r == Snooze }

// EndState returns the state in which a result ends a job. A retry, a release or a
// snooze ends a job only as cancelled. A job that ended in that state, with the token of
// the outcome, was ended by the same outcome.
func (r Result) EndState() State {
	switch r {
	case Completed:
		return StateCompleted
	case Failed:
		return StateFailed
	}
	return StateCancelled
}

// Follows reports whether an outcome with this effect causes Outcome.After.
func (o *Outcome) Follows(effect Effect) bool {
	return o.Result.FollowsUp() || o.Result == Retry && !effect.Unchanged && effect.State == StateReady
}

// FollowsUp reports whether an outcome with this result causes Outcome.After when
// it ends its job.
func (r Result) FollowsUp() bool { return r == Completed || r == Failed }
