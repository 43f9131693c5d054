package store

import "time"

// JobPlan is what ChangeJobs writes. A job is at most once in all lists together.
type JobPlan struct {
	Changes []JobChange // the answers, which WithConflicts completes
	End     []int64     // waiting and ready jobs that end as cancelled
	Ask     []int64     // running jobs that get a cancel request, unless they have one
	Pull    []int64     // ready jobs whose run_at becomes PullTo
	Revive  []int64     // finished jobs that become ready, unless TakeKeys leaves them out
	Delete  []int64     // jobs that are deleted with their attempts
	Alter   []int64     // waiting and ready jobs that get the queue or the priority of the request
}

// Plan is the rule of ChangeJobs: what an action does with jobs, in the order of
// the request. states has the states of the jobs that exist. A number that is
// named twice gets the answers of two calls.
func (a JobAction) Plan(ids []int64, states map[int64]State) JobPlan {
	plan := JobPlan{Changes: make([]JobChange, len(ids))}
	answers := map[int64]Change{} // for numbers that were named before
	for i, id := range ids {
		change, named := answers[id]
		if !named {
			change, answers[id] = Missing, Missing
			if state, found := states[id]; found {
				change, answers[id] = plan.add(a, id, state)
			}
		}
		plan.Changes[i] = JobChange{ID: id, Change: change}
	}
	return plan
}

// add adds a job to the plan. It returns the answer, and the answer if the job is
// named again.
func (p *JobPlan) add(action JobAction, id int64, state State) (change, again Change) {
	switch action {
	case CancelJobs:
		return p.cancel(id, state)
	case RetryJobs:
		return p.retry(id, state)
	case MoveJobs, ReprioritiseJobs:
		return p.alter(id, state)
	}
	return p.delete(id, state)
}

func (p *JobPlan) cancel(id int64, state State) (change, again Change) {
	switch {
	case state.Finished():
		return Unchanged, Unchanged
	case state == StateRunning:
		p.Ask = append(p.Ask, id)
		return Requested, Requested
	}
	p.End = append(p.End, id)
	return Changed, Unchanged
}

func (p *JobPlan) retry(id int64, state State) (change, again Change) {
	switch {
	case state.Finished():
		p.Revive = append(p.Revive, id)
	case state == StateReady:
		p.Pull = append(p.Pull, id)
	default:
		return Unchanged, Unchanged
	}
	return Changed, Changed
}

func (p *JobPlan) delete(id int64, state State) (change, again Change) {
	if state == StateRunning {
		return Unchanged, Unchanged
	}
	p.Delete = append(p.Delete, id)
	return Changed, Missing
}

func (p *JobPlan) alter(id int64, state State) (change, again Change) {
	if state == StateRunning || state.Finished() {
		return Unchanged, Unchanged
	}
	p.Alter = append(p.Alter, id)
	return Changed, Changed
}

// States returns the states of the jobs that an action changes if a filter selects
// them without a condition on their state. Finished jobs other than failed jobs are
// retried only if they are asked for.
func (a JobAction) States() []State {
	switch a {
	case CancelJobs:
		return []State{StateReady, StateWaiting, StateRunning}
	case RetryJobs:
		return []State{StateFailed}
	case DeleteJobs:
		return []State{StateReady, StateWaiting, StateCompleted, StateFailed, StateCancelled, StateNotStarted}
	}
	return []State{StateReady, StateWaiting}
}

// AlteredRunAt returns the run_at of a job that MoveJobs or ReprioritiseJobs changes.
func AlteredRunAt(runAt, now time.Time) time.Time {
	if runAt.Before(now) {
		return now
	}
	return runAt
}

// WithConflicts turns the answers for finished jobs that could not take their
// key back into conflicts. holders has the numbers of the jobs that have these
// keys, by the number of the finished job.
func WithConflicts(changes []JobChange, holders map[int64]int64) {
	for i := range changes {
		if holder := holders[changes[i].ID]; holder != 0 {
			changes[i].Change, changes[i].Holder = KeyTaken, holder
		}
	}
}
