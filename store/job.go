package store

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// State is the state of a job.
type State int16

// The states. Drivers store these numbers; they never change.
const (
	StateReady     State = 0 // due at run_at, now or later
	StateWaiting   State = 1 // on other jobs
	StateRunning   State = 2 // claimed; drivers may derive it from the claim
	StateCompleted State = 3
	StateFailed    State = 4
	StateCancelled State = 5
	// StateNotStarted is the end of a job whose predecessors ended in another way than
	// its edges need; see Wait.
	StateNotStarted State = 6
	// StateDeleted is the end of a predecessor that was deleted before its end; see Ended. No job
	// is in this state.
	StateDeleted State = 7
)

var stateNames = [...]string{"ready", "waiting", "running", "completed", "failed", "cancelled", "not_started", "deleted"}

// String returns the state's word.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("state(%d)", int16(s))
	}
	return stateNames[s]
}

// Finished reports whether the state is final.
func (s State) Finished() bool { return s >= StateCompleted }

// ParseState is the inverse of String for the states of jobs.
func ParseState(text string) (State, bool) {
	for i, name := range stateNames[:StateDeleted] {
		if name == text {
			return State(i), true
		}
	}
	return 0, false
}

// OnLoss is what happens to a job whose node died while the job ran.
type OnLoss int16

// The choices. Drivers store these numbers.
const (
	OnLossRetry OnLoss = 0 // run again elsewhere (default)
	OnLossFail  OnLoss = 1 // never start twice: fail with reason "lost"
)

// String returns the choice's word.
func (o OnLoss) String() string {
	if o == OnLossFail {
		return "fail"
	}
	return "retry"
}

// Origin is how a job was made.
type Origin int16

// The origins. Drivers store these numbers.
const (
	OriginEnqueue  Origin = 0 // a program or a person
	OriginSchedule Origin = 1 // a slot; under promise P1
	OriginTrigger  Origin = 2 // "run now" of a schedule; outside P1
	OriginBackfill Origin = 3 // a past range run again; outside P1
	OriginHook     Origin = 4 // reports a failure, missed slots or a recovery; belongs to no schedule
	OriginAfter    Origin = 5 // the end of a job of another schedule; under promise P1
	// OriginBackfillDependents is OriginBackfill whose jobs also set off schedules that follow.
	OriginBackfillDependents Origin = 6
)

var originNames = [...]string{"enqueue", "schedule", "trigger", "backfill", "hook", "after", "backfill"}

// String returns the origin's word.
func (o Origin) String() string {
	if o < 0 || int(o) >= len(originNames) {
		return fmt.Sprintf("origin(%d)", int16(o))
	}
	return originNames[o]
}

// Backfills reports whether jobs are made for a past range of a schedule that is run again.
func (o Origin) Backfills() bool { return o == OriginBackfill || o == OriginBackfillDependents }

// SetsOff reports whether the end of a job with this origin sets off the schedules that follow its schedule.
func (o Origin) SetsOff() bool { return o != OriginBackfill }

// LeavesNotes reports whether the ends of jobs that an insert makes leave notes for schedules
// that follow, whether or not there are such schedules: one may be put while the caller's
// transaction is open.
func (o Origin) LeavesNotes() bool { return o == OriginTrigger || o == OriginBackfillDependents }

// OriginWords returns the rules of origins as SQL conditions, by their words. Statements of drivers have
// the words in braces behind the column: "origin {backfill}" and "origin {sets_off}".
func OriginWords() map[string]string {
	in := func(rule func(Origin) bool) string {
		var numbers []string
		for o := range originNames {
			if rule(Origin(o)) {
				numbers = append(numbers, strconv.Itoa(o))
			}
		}
		return "IN (" + strings.Join(numbers, ", ") + ")"
	}
	return map[string]string{"backfill": in(Origin.Backfills), "sets_off": in(Origin.SetsOff)}
}

// Priorities run from FirstPriority, served first, to LastPriority.
const (
	FirstPriority = 1
	LastPriority  = 9
)

// JobSpec is what a job is to do, and how: the fields that the maker of a job
// chooses and that stay with the job in history. Every type that describes a job
// embeds it, so that a new field of a job is added here once.
type JobSpec struct {
	Kind        string        // selects the worker; 1 to 200 bytes
	Queue       string        // 1 to 200 bytes
	Args        []byte        // at most 1 MiB, kept byte for byte
	Headers     []byte        // JSON object of strings, or nil: what travels with the job (trace context, hooks)
	Priority    int16         // FirstPriority … LastPriority
	MaxAttempts int16         // at least 1
	OnLoss      OnLoss        // what happens to the job if its node dies while it runs
	Timeout     time.Duration // of one attempt; 0: the worker's default
	// Group is a label by which jobs and schedules are selected, at most 200 bytes, or
	// empty. Jobs of a schedule have the group that the schedule had when they were made.
	Group string
	// Key is a label by which limits distinguish jobs, such as a customer, at most 200 bytes, or
	// empty. See Limit.ByKey.
	Key string
	// Unique is the unique key of the job, at most 200 bytes, or empty. At most one
	// live job of a kind has a key; a finished job keeps the text, but the key is
	// free again, unless NewJob.UniqueFor holds it. Only jobs of Jobs.Insert
	// without a schedule may have a key.
	Unique string
	// Batch is the number of the job's batch, or 0. Insert sets it; see InsertRequest.Batch.
	Batch int64
}

// Headers that Hourbell sets itself; see also HookHeader.
const (
	BackoffHeader = "hourbell-backoff" // the back-off of a job, as package backoff writes it
	NameHeader    = "hourbell-name"    // the name of a job in its graph
	ParentHeader  = "hourbell-parent"  // the number of the job that made a job as its child
)

// Clone returns a copy that shares no memory with s.
func (s JobSpec) Clone() JobSpec {
	s.Args, s.Headers = bytes.Clone(s.Args), bytes.Clone(s.Headers)
	return s
}

// SameButArgs reports whether two specs differ in their Args at most.
func (s *JobSpec) SameButArgs(other *JobSpec) bool {
	return s.names() == other.names() && s.Priority == other.Priority && s.MaxAttempts == other.MaxAttempts &&
		s.OnLoss == other.OnLoss && s.Timeout == other.Timeout && s.Batch == other.Batch &&
		bytes.Equal(s.Headers, other.Headers) && (s.Headers == nil) == (other.Headers == nil)
}

// names returns the names and keys of a spec.
func (s *JobSpec) names() [5]string {
	return [...]string{s.Kind, s.Queue, s.Group, s.Key, s.Unique}
}

// NewJob is a job to be stored. The caller has filled in every default.
type NewJob struct {
	JobSpec
	Origin   Origin
	RunAt    time.Time     // zero: now + Delay
	Delay    time.Duration // counted by the store's clock; ignored with RunAt
	Schedule int64         // the schedule's number, or 0
	Slot     time.Time     // the slot it was made for, or zero
	// Waiting makes the job wait until no other job of its serial group is ready
	// or running; see Jobs. The job must have a schedule and a slot. Never set in
	// a caller's transaction.
	Waiting bool
	// UniqueFor is for how long after the insert the key stays taken at least,
	// also after the job has ended; 0: until the job ends. Only jobs with a key
	// may have it.
	UniqueFor time.Duration
	// OnConflict is what happens if a live job has the key. Only a job that does not run
	// is changed; see Meet.
	OnConflict OnConflict
	// UntilStart takes the key from a job that has begun, so that a key is unique among jobs that
	// have not begun.
	UntilStart bool
	// TakesFrom, if not 0, is the number of a job that the transaction of the insert completes: the new job
	// gets its key.
	TakesFrom int64
	// PushAtMost, if not 0, bounds how late OnConflictReschedule makes a job due:
	// at most that long after it was created, or when it is due already if that is
	// later.
	PushAtMost time.Duration
	// After are the predecessors that the job waits for, by the rule of Wait: older jobs,
	// and earlier jobs of the same insert. The job must have no schedule and, with a key, no
	// OnConflict that changes another job; see CheckLinks. If another job has the key, the other job keeps the
	// predecessors that it has. Each predecessor must exist, live or finished, also one that the caller's
	// transaction has inserted. Edges to jobs that have ended are decided by the insert or, if it LinksLater, by a
	// step of CarryOut. Drivers set Waiting themselves.
	After []Edge
	// Any makes the job ready when one edge has matched, instead of all.
	Any bool
	// AtEnd lets the job wait until all of its predecessors have ended.
	AtEnd bool

	// OpenEdges and Releases are set by drivers on the way to their statements: how many
	// edges of the job are open, and whether its end leaves a note because later jobs of
	// the insert wait for it.
	OpenEdges int
	Releases  bool
}

// SameButArgs reports whether jobs differ in their Args at most, so that a driver
// may send their other values once.
func SameButArgs(jobs []NewJob) bool {
	for i := range jobs {
		if !jobs[i].sameButArgs(&jobs[0]) {
			return false
		}
	}
	return true
}

func (n *NewJob) sameButArgs(other *NewJob) bool {
	return n.JobSpec.SameButArgs(&other.JobSpec) && n.Origin == other.Origin && n.RunAt.Equal(other.RunAt) && n.Delay == other.Delay &&
		n.Schedule == other.Schedule && n.Slot.Equal(other.Slot) && n.Waiting == other.Waiting && n.sameConflict(other) && n.sameEdges(other)
}

// sameConflict reports whether two jobs do the same if their keys are taken.
func (n *NewJob) sameConflict(other *NewJob) bool {
	return n.UniqueFor == other.UniqueFor && n.OnConflict == other.OnConflict && n.UntilStart == other.UntilStart &&
		n.TakesFrom == other.TakesFrom && n.PushAtMost == other.PushAtMost
}

// sameEdges reports whether two jobs wait for the same predecessors in the same way.
func (n *NewJob) sameEdges(other *NewJob) bool {
	return n.Any == other.Any && n.AtEnd == other.AtEnd && slices.Equal(n.After, other.After) && n.OpenEdges == other.OpenEdges &&
		n.Releases == other.Releases
}

// InsertRequest stores jobs.
type InsertRequest struct {
	Now  time.Time
	Tx   Tx // nil: a transaction of the store's own
	Jobs []NewJob
	// NotifyInTx sends the wake-up with the commit of Tx, and not later, so that it
	// is not lost if the process ends after the commit.
	NotifyInTx bool
	// Batch, if not nil, puts the jobs into a batch.
	Batch *BatchInsert
	// By, of jobs that are made for a schedule by hand, is recorded in the audit; Of is the
	// name of the schedule. The jobs have no edges, and no Batch.
	By Actor
	Of string
}

// InsertResult answers for each job, in the order of the request.
type InsertResult struct {
	Jobs  []Inserted
	Batch int64 // the number of the batch of the jobs, or 0
}

// IDs returns the numbers of the jobs, in the order of the request.
func (r InsertResult) IDs() []int64 {
	ids := make([]int64, len(r.Jobs))
	for i, job := range r.Jobs {
		ids[i] = job.ID
	}
	return ids
}

// Inserted is the answer for one job of an insert.
type Inserted struct {
	// ID is the number of the job. The numbers of the stored jobs of a request
	// grow in the order of the request and with time, but may have gaps. A job
	// whose key was held when the request began, and free before it ended, may
	// have a greater number than the jobs after it.
	ID int64
	// Existed means that the job was not stored, because another job of its kind
	// has its key, or a job before it in the request: ID is the number of that
	// job.
	Existed bool
	// Conflict is what became of the job whose key was taken; ConflictNone
	// without Existed.
	Conflict Conflict
}

// Result is how an attempt of a claimed job ended.
type Result int16

// The results of a claim.
const (
	Completed Result = iota // done; the job moves to history
	Failed                  // over, without success
	Cancelled               // over, on request
	Retry                   // ready again after Delay; the attempt is spent
	Release                 // ready again with run_at now; the attempt is refunded
	Snooze                  // ready again after Delay; the attempt is refunded, and the job's snoozes grow by one
)

// Forget is an Outcome.Keep: the job leaves no row.
const Forget time.Duration = -1

// Outcome is the result of one claim.
type Outcome struct {
	ID     int64
	Token  int64
	Result Result
	// Delay, for Retry and Snooze, counts from the store's now.
	Delay time.Duration
	// Wait, for Snooze, is the name of the step for which the job waits; empty: none. If that step is not open any more, Delay is 0.
	Wait string
	// LeaseLost, for Release, adds one to Claimed.Refunds: the attempt had
	// begun, and ended because its node could not extend its lease.
	LeaseLost bool
	// Error and Trace are valid UTF-8 without NUL, at most 64 KiB each. An
	// attempt leaves a record if it ended with Snooze, or if Error or Output is not
	// empty. So an attempt that did not complete has an Error, unless it did not
	// begin or ended with Snooze. The Error of a
	// Failed or Cancelled outcome is also the job's Reason; if the job was asked
	// to cancel, the Reason of a Cancelled outcome is the cancel request's reason.
	Error string
	Trace string
	// Output is the end of what the attempt printed, any bytes, at most OutputLimit.
	Output []byte
	// Printed is how many bytes the attempt printed; less than the length of
	// Output: as many as Output has.
	Printed int64
	// OutputSaved means that SaveOutput may have stored output of the claim, which
	// is to be deleted.
	OutputSaved bool
	// Value, if not empty, is the job's result if this outcome ends the job: JSON
	// of at most 64 KiB, kept byte for byte.
	Value []byte
	// Keep, for Completed and Failed, is how long the job is kept after its end,
	// whatever the ages of a PruneRequest are. 0 means that a PruneRequest
	// decides, and Forget that the job is deleted with its attempts, progress and
	// result, and history gets no row; but a job that holds its key
	// (NewJob.UniqueFor) keeps its row and its attempts until the key is free.
	Keep time.Duration
	// After, if not nil, also happens if the outcome counts, was not recorded
	// before, and ends the job as completed or failed or, as a Retry, makes it ready
	// again; see Follows.
	After *FollowUp
	// Job, if not nil, is the job as it was claimed: handlers make jobs from the outcome, as
	// from After.
	Job *Claimed
	// Alone means that the job has no schedule, so that no other job waits for
	// its end. It is a hint for drivers, which may then need fewer round trips;
	// it is never set for a job with a schedule, and need not be set for other
	// jobs.
	Alone bool
}

// FollowUp is what the end of a job, an attempt that is tried again, or a missed slot
// causes in the transaction that records it. A store remembers for each schedule whether it is
// failing: it is failing from the first FollowUp with Failing until the next
// FollowUp without. A schedule is also well when it is deleted and when it comes
// back; a pause, an edit or a reset changes nothing.
//
// The follow-ups of one call happen one after the other: in the order of the
// request, or for lost jobs in the order of node and number.
type FollowUp struct {
	// Schedule is 0 for a job without a schedule, and for an attempt that is tried
	// again. Then no state is kept, and Jobs are made only with Failing.
	Schedule int64
	// Failing means that the schedule is failing from now on; otherwise it is
	// well.
	Failing bool
	// JobFailed, with Failing, adds one to Schedule.Failures.
	JobFailed bool
	// Jobs are inserted, and wake nodes, as by Insert; without Failing only if
	// the schedule was failing until now. They have no Schedule.
	Jobs []NewJob
	// Always are inserted in the same way before Jobs, whether or not the schedule was
	// failing.
	Always []NewJob
}

// FinishRequest records outcomes, at most one per job. The caller may reuse the
// list after Finish has returned.
type FinishRequest struct {
	Now time.Time
	// Tx is a caller's transaction, in which the one outcome is recorded; it must
	// be Completed. Nil: a transaction of the store's own.
	Tx Tx
	// Commit, with a Tx, commits it after the outcome is recorded, in the same
	// message where the database allows that.
	Commit bool
	// Timeout, with a Tx and without Commit, is how long the caller may take from
	// one statement to the next. Databases that can do so end the transaction then,
	// so that a caller that was stopped does not keep the job locked. 0: no limit.
	Timeout  time.Duration
	Outcomes []Outcome
	Node     string // the name of the node, for handlers
}

// FinishResult lists the outcomes that were not accepted.
type FinishResult struct {
	Refused []ClaimRef
}

// ClaimState is what became of a claim, as FindClaim reports it.
type ClaimState int

// The states of a claim.
const (
	ClaimHeld      ClaimState = iota // the job has the token and has not ended; no open transaction ends it
	ClaimLocked                      // as ClaimHeld, but an open transaction has locked the job
	ClaimCompleted                   // the job was completed under the token, or neither the job nor its history exists
	ClaimLost                        // the job has another token, or ended under the token in another state
)

// JobInfo is a job as it is shown to users.
type JobInfo struct {
	JobSpec      // Args and Headers only with ListJobsRequest.Attempts
	ID           int64
	Token        int64
	State        State
	Attempt      int16
	Losses       int16 // in a row; see Loss
	Snoozes      int64 // how many attempts ended with Snooze
	Parked       bool  // the job is ready, and waits for a signal or for the end of a sleep; see Step.Open
	Origin       Origin
	RunAt        time.Time
	CreatedAt    time.Time
	StartedAt    time.Time // of the last attempt
	FinishedAt   time.Time
	Node         string // name of the node of the last attempt; may be empty after Prune has deleted the node
	Schedule     int64
	ScheduleName string
	Slot         time.Time
	CancelAsked  bool      // the job is running, and its node has been asked to cancel it
	Reason       string    // why it ended as failed, cancelled or not started: the last error, "lost", …
	After        []JobEdge // the predecessors by number; only with ListJobsRequest.Attempts
	Progress     Progress  // of the last attempt; zero: none; only with ListJobsRequest.Attempts
	Result       []byte    // of the outcome that ended it (Outcome.Value), or nil; only with ListJobsRequest.Attempts
	Attempts     []Attempt // only with ListJobsRequest.Attempts; oldest first, at most the newest MostAttempts
}

// Scheduled reports whether a job is ready, has not begun yet, is not parked and is due later than
// now.
func (j JobInfo) Scheduled(now time.Time) bool {
	return j.State == StateReady && j.Attempt == 0 && !j.Parked && j.RunAt.After(now)
}

// Retrying reports whether a job is ready after an attempt and not parked, due or not.
func (j JobInfo) Retrying() bool { return j.State == StateReady && j.Attempt > 0 && !j.Parked }

// Attempt is the record of one attempt that did not complete, or that has output.
type Attempt struct {
	Attempt    int16
	Token      int64
	Node       string
	StartedAt  time.Time
	FinishedAt time.Time
	Outcome    AttemptOutcome
	Error      string
	Trace      string
	Output     []byte // the last OutputLimit bytes
	Printed    int64  // how many bytes the attempt printed
}
