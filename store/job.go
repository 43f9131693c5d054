package store

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// State is where a job is on its way.
type State int16

// The states, in the order of a job's way. Drivers store these numbers; they
// never change.
const (
	StateReady     State = 0 // due at run_at, now or later
	StateWaiting   State = 1 // on other jobs
	StateRunning   State = 2 // claimed; drivers may derive it from the claim
	StateCompleted State = 3
	StateFailed    State = 4
	StateCancelled State = 5
)

var stateNames = [...]string{"ready", "waiting", "running", "completed", "failed", "cancelled"}

// String returns the state's word.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("state(%d)", int16(s))
	}
	return stateNames[s]
}

// Finished says whether the state is an end.
func (s State) Finished() bool { return s >= StateCompleted }

// ParseState is the inverse of String.
func ParseState(text string) (State, bool) {
	for i, name := range stateNames {
		if name == text {
			return State(i), true
		}
	}
	return 0, false
}

// OnLoss says what becomes of a job whose node died while it ran.
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

// Origin says who made a job.
type Origin int16

// The origins. Drivers store these numbers.
const (
	OriginEnqueue  Origin = 0 // a program or a person
	OriginSchedule Origin = 1 // a slot; under promise P1
	OriginTrigger  Origin = 2 // "run now" of a schedule; outside P1
	OriginBackfill Origin = 3 // a past range run again; outside P1
	OriginHook     Origin = 4 // tells of a failure, missed slots or a recovery; belongs to no schedule
)

var originNames = [...]string{"enqueue", "schedule", "trigger", "backfill", "hook"}

// String returns the origin's word.
func (o Origin) String() string {
	if o < 0 || int(o) >= len(originNames) {
		return fmt.Sprintf("origin(%d)", int16(o))
	}
	return originNames[o]
}

// Priorities run from FirstPriority, served first, to LastPriority.
const (
	FirstPriority = 1
	LastPriority  = 9
)

// NewJob is a job to be stored. The caller has filled every default.
type NewJob struct {
	Kind        string
	Queue       string
	Args        []byte // kept byte for byte
	Headers     []byte // JSON object of strings, or nil: what travels with the job (trace context, tags)
	Priority    int16  // FirstPriority … LastPriority
	MaxAttempts int16  // at least 1
	OnLoss      OnLoss
	Origin      Origin
	Timeout     time.Duration // of one attempt; 0 = the worker's default
	RunAt       time.Time     // zero: now + Delay
	Delay       time.Duration // counted by the store's clock; ignored with RunAt
	Schedule    int64         // the schedule's number, or 0
	Slot        time.Time     // the slot it was made for, or zero
	// Waiting makes it wait until no other job of its schedule, which it must
	// have, is ready or running; see Jobs. Never in a caller's transaction.
	Waiting bool
}

// InsertRequest stores jobs.
type InsertRequest struct {
	Now  time.Time
	Tx   Tx // nil: a transaction of the store's own
	Jobs []NewJob
	// Unique, if not empty, is the key of the one job in Jobs, which belongs to no
	// schedule: it is stored only if no other job of its kind with that key lives.
	Unique string
}

// InsertResult numbers the jobs, in the order of the request. Numbers grow
// with time but may have gaps.
type InsertResult struct {
	IDs []int64
	// Found says that a job with the key of the request lives: it is that one's
	// number, and nothing was stored.
	Found bool
}

// ClaimRequest asks for due jobs: of one of Kinds, or equal to one of Exact.
type ClaimRequest struct {
	Now   time.Time
	Node  int64
	Queue string
	Kinds []string
	Exact []ExactJob
	Limit int
	// Ahead is how many of Limit jobs are claimed ahead: the first Limit - Ahead of
	// the jobs that come back, in their order, may begin at once, and each of the
	// others only after a BeginJobs that names it.
	Ahead int
	// Suspects asks for suspects alone (see SuspectLosses). Without it a claim takes
	// none of them.
	Suspects bool
}

// ExactJob admits jobs of a kind with exactly these arguments, byte for byte:
// how a node that does not run a kind in general still runs what it has in its
// own files.
type ExactJob struct {
	Kind   string
	Args   []byte
	SHA256 [sha256.Size]byte // of Args, for drivers that compare it in their place
}

// NewExactJob returns an ExactJob with its digest.
func NewExactJob(kind string, args []byte) ExactJob {
	return ExactJob{Kind: kind, Args: args, SHA256: sha256.Sum256(args)}
}

// ClaimResult is a batch of claimed jobs, in the order they are to start.
type ClaimResult struct {
	Now  time.Time // the store's clock
	Jobs []Claimed
	// Batch, if not 0, names this claim for HeartbeatRequest.EndedBatches.
	Batch int64
	// NextDue is, where fewer than Limit jobs came back, the earliest run_at
	// after now among ready jobs of the queue, of any kind, but for suspects; zero:
	// none, or a claim of suspects.
	NextDue time.Time
	// Again, if not 0, says that the store has not looked everywhere, and after
	// how long another claim will.
	Again time.Duration
}

// Claimed is a job in the hands of a node.
type Claimed struct {
	ID          int64
	Token       int64
	Kind        string
	Queue       string
	Args        []byte
	Headers     []byte
	Priority    int16
	Attempt     int16 // this one counted; the first is 1
	MaxAttempts int16
	OnLoss      OnLoss
	Origin      Origin
	Timeout     time.Duration
	RunAt       time.Time
	CreatedAt   time.Time
	Schedule    int64
	// ScheduleName is the name of Schedule, also of a deleted one, or empty.
	ScheduleName string
	Slot         time.Time
	// Losses is how often in a row the job was lost (see Loss), and Refunds how often
	// an attempt was refunded by an Outcome with LeaseLost.
	Losses  int16
	Refunds int16
}

// BeginRequest names claims that may begin from now on.
type BeginRequest struct {
	Node   int64
	Batch  int64 // ClaimResult.Batch of all of them
	Claims []ClaimRef
}

// ClaimRef names one claim of one job.
type ClaimRef struct {
	ID    int64
	Token int64
}

// Result says what a claim came to.
type Result int16

// The results of a claim.
const (
	Completed Result = iota // done; the job moves to history
	Failed                  // over, without success
	Cancelled               // over, on request
	Retry                   // ready again after Delay; the attempt is spent
	Release                 // ready again with run_at now; the attempt is refunded
)

// Outcome is the result of one claim.
type Outcome struct {
	ID     int64
	Token  int64
	Result Result
	// Delay, for Retry, counts from the store's now.
	Delay time.Duration
	// LeaseLost, for Release, adds one to Claimed.Refunds: the attempt had begun, and
	// ended because its node could not prolong its lease.
	LeaseLost bool
	// Error and Trace are valid UTF-8 without NUL, at most 64 KiB each. An
	// attempt leaves a record if Error or Output is not empty. The Error of a
	// Failed or Cancelled outcome is also the job's Reason; where that of a
	// Cancelled one is empty, the cancel request's reason is.
	Error string
	Trace string
	// Output is what the attempt printed, any bytes, at most 64 KiB.
	Output []byte
	// After, if not nil, happens too if the outcome counts, was not recorded
	// before, and ends the job as completed or failed.
	After *FollowUp
	// Alone says that the job has no schedule, so that no other job waits for its
	// end. It is a hint for drivers, which may need fewer round trips then; it is
	// never set for a job with a schedule, and need not be set for the others.
	Alone bool
}

// FollowUp is what the end of a schedule's job, or a missed slot, brings
// about in the transaction that records it. A store remembers of each schedule
// whether it is failing: so from the first FollowUp with Failing until the
// next without. It is well, too, when it is deleted and when it comes back; a
// pause, an edit or a reset changes nothing.
//
// Those of one call happen one after the other: in the order of the request, or
// of the lost jobs by node and number.
type FollowUp struct {
	// Schedule may be 0, for a job without one: of that nobody keeps count, and
	// only failures make their jobs.
	Schedule int64
	// Failing says that the schedule fails from now on; otherwise it is well.
	Failing bool
	// JobFailed, with Failing, adds one to Schedule.Failures.
	JobFailed bool
	// Jobs are made, and wake nodes, as by Insert; without Failing only if the
	// schedule was failing until now. They have no Schedule.
	Jobs []NewJob
}

// FinishRequest records outcomes, at most one per job. The caller may use the
// list again once Finish has returned.
type FinishRequest struct {
	Now      time.Time
	Outcomes []Outcome
}

// FinishResult says which outcomes were not accepted.
type FinishResult struct {
	Refused []ClaimRef
}

// JobAction is what ChangeJobs does.
type JobAction int

// The actions.
const (
	// CancelJobs ends waiting and ready jobs as cancelled, and leaves a cancel
	// request for running ones, pushed to their nodes.
	CancelJobs JobAction = iota
	// RetryJobs makes finished jobs ready with run_at now, under their old
	// number, with at least one more attempt (max_attempts is raised to
	// attempt + 1 if it is less), and pulls ready ones to now (never later than
	// they were). As with Insert, run_at is not before the FiredTo of a finished
	// job's schedule, and that of a ready one not before its own slot, if this is
	// at most MostAhead away. The token stays as it is until the next claim, and the
	// losses too; refunds are forgotten. Waiting ones
	// stay as they are.
	//
	// A finished job takes its key back. Where another job of its kind with that key
	// lives, the answer is Conflict and the job stays as it is; a transaction that has
	// inserted such a job is waited for, as by Insert.
	RetryJobs
	// DeleteJobs removes jobs that do not run, with their attempts.
	DeleteJobs
)

// ChangeJobsRequest names jobs by number or, for CancelJobs only, by the name
// of the schedule they run for.
type ChangeJobsRequest struct {
	Now      time.Time
	Action   JobAction
	IDs      []int64
	Schedule string
	Reason   string // kept with a cancelled job
}

// Change says what ChangeJobs did with one job.
type Change int

// What can become of a job.
const (
	Changed   Change = iota
	Requested        // it runs: its node has been asked to cancel it
	NotFound         // no such job (any more)
	Unchanged        // it is finished already (cancel), runs (retry, delete) or waits (retry)
	Conflict         // another living job holds its key (retry): JobChange.Holder
)

// JobChange is the answer for one job.
type JobChange struct {
	ID     int64
	Change Change
	Holder int64 // with Conflict, the number of the living job with the same kind and key
}

// ChangeJobsResult answers in the order of the request's IDs, or by number for
// a schedule's jobs.
type ChangeJobsResult struct {
	Changes []JobChange
}

// ListJobsRequest selects jobs. Conditions that are given must all hold. States,
// Scheduled and Retrying are one condition together: a job matches if its state is
// one of States, or if it is ready and [JobInfo.Scheduled] or [JobInfo.Retrying]
// and asked for as such.
type ListJobsRequest struct {
	Now       time.Time // for Scheduled; zero: the store's clock
	IDs       []int64
	States    []State
	Scheduled bool
	Retrying  bool
	Queue     string
	Kind      string
	Schedule  string // by name
	Before    int64  // only numbers below this; 0: from the newest
	Limit     int    // at least 1
	Attempts  bool   // also read the attempts' records and the args
}

// JobInfo is a job as people see it.
type JobInfo struct {
	ID           int64
	Token        int64
	Kind         string
	Queue        string
	State        State
	Args         []byte // only with Attempts
	Headers      []byte // only with Attempts
	Priority     int16
	Attempt      int16
	MaxAttempts  int16
	Losses       int16 // in a row; see Loss
	OnLoss       OnLoss
	Origin       Origin
	Timeout      time.Duration
	RunAt        time.Time
	CreatedAt    time.Time
	StartedAt    time.Time // of the last attempt
	FinishedAt   time.Time
	Node         string // name of the node of the last attempt; may be empty once Prune has deleted the node
	Schedule     int64
	ScheduleName string
	Slot         time.Time
	CancelAsked  bool      // it runs, and its node has been asked to cancel it
	Reason       string    // why it ended as failed or cancelled: the last error, "lost", …
	Unique       string    // its key, or empty; a finished job keeps it, but holds it no longer
	Attempts     []Attempt // only with Attempts; oldest first
}

// Scheduled reports whether a job is ready, has not begun yet and is due later than
// now.
func (j JobInfo) Scheduled(now time.Time) bool {
	return j.State == StateReady && j.Attempt == 0 && j.RunAt.After(now)
}

// Retrying reports whether a job is ready after an attempt, due or not.
func (j JobInfo) Retrying() bool { return j.State == StateReady && j.Attempt > 0 }

// Attempt is the record of one attempt that had something to say.
type Attempt struct {
	Attempt    int16
	Token      int64
	Node       string
	StartedAt  time.Time
	FinishedAt time.Time
	Error      string
	Trace      string
	Output     []byte
}
