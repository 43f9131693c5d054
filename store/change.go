package store

import "time"

// JobAction is what ChangeJobs does.
type JobAction int

// The actions.
const (
	// CancelJobs ends waiting and ready jobs as cancelled, and records a cancel
	// request for running jobs, which is pushed to their nodes.
	CancelJobs JobAction = iota
	// RetryJobs makes finished jobs ready with run_at now, under their old
	// number and without their result, with at least one more attempt (max_attempts is raised to attempt
	// + 1 if it is less), and sets the run_at of ready jobs to now (never later
	// than it was). The token and the losses stay as they are until the next
	// claim; refunds are set to 0. Waiting jobs stay as they are.
	//
	// Jobs that wait for a finished job which is retried wait for its next end, and jobs
	// that were not started wait again if they can still start: their edges on it are open
	// again (Reopening). The same holds for the jobs that follow these. Jobs that have been
	// released, that ended in another way, or that the request retries too, stay as they are.
	// This takes steps after the transaction; see Deferring.
	//
	// A finished job takes its key back. If another live job of its kind has
	// that key, or another job holds it after its end (NewJob.UniqueFor), the
	// answer is KeyTaken and the job stays as it is; RetryJobs waits for
	// uncommitted transactions that have inserted such a job, as Insert does.
	RetryJobs
	// DeleteJobs deletes jobs that are not running, with their attempts. A key
	// that such a job has or holds is free.
	DeleteJobs
	// MoveJobs puts waiting and ready jobs into another queue and wakes its nodes.
	// A job that is due is due from now on, behind the jobs that are due already, so
	// that claims that begin at a position in the queue find it.
	MoveJobs
	// ReprioritiseJobs gives waiting and ready jobs another priority. A job that is
	// due is due from now on, as with MoveJobs.
	ReprioritiseJobs
)

// ChangeJobsRequest names jobs by number or, for CancelJobs only, by the name of
// their schedule.
type ChangeJobsRequest struct {
	Now      time.Time
	Tx       Tx // the caller's transaction; nil: one of the driver's own
	Action   JobAction
	IDs      []int64
	Schedule string
	// Match, without IDs, is compared with the jobs after they have been locked; a
	// job that does not match is Missing. So a change that selected its jobs before
	// changes no job that has changed since.
	Match    JobFilter
	Reason   string // kept with a cancelled job
	FromStep string // of RetryJobs: the jobs forget this step and the steps after it (Forgets); empty: they keep their steps
	Queue    string // of MoveJobs
	Priority int16  // of ReprioritiseJobs
	// By is recorded in the audit. EntryID, if not 0, is the number of the entry to which the
	// changes are added, so that a change in several requests has one entry.
	By      Actor
	EntryID int64
}

// Change is what ChangeJobs did with one job.
type Change int

// The possible changes of a job.
const (
	Changed   Change = iota
	Requested        // the job is running: its node has been asked to cancel it (see also ErrNotInTx)
	Missing          // the job does not exist, or does not match, (any more)
	Unchanged        // the job is finished already (all but retry and delete), running (all but cancel) or waiting (retry)
	KeyTaken         // another job has its key (retry): JobChange.Holder
)

// JobChange is the answer for one job.
type JobChange struct {
	ID     int64
	Change Change
	Holder int64 // with KeyTaken, the number of the live job with the same kind and key
}

// ChangeJobsResult answers in the order of the request's IDs, or by number for
// a schedule's jobs.
type ChangeJobsResult struct {
	Changes []JobChange
	EntryID int64 // of the entry in the audit, as in the request if nothing was changed; 0: there is none
}

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
