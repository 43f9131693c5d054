// Package rowwise is the part of a driver that reads rows, decides by the rules
// of package store, and writes what was decided.
//
// It is for databases in which a rule is not worth a statement of its own. A
// driver implements [Tx] with its SQL, opens a transaction, reads the clock, and
// calls [Finish], [Rescue], [Leave], [ChangeJobs], [Follow] or [Release] in it.
// Each of them sends a number of statements that does not depend on the number of
// jobs, except that Finish takes outcomes in parts of FinishRows. drivers/sqlite
// is the example.
//
// # Transactions and locks
//
// A sequence decides by what it has read, so no other transaction may change
// these rows before the sequence has written. In a database with one writer at a
// time, it is enough that the transaction may write before it reads. In a
// database with row locks, methods whose names begin with Lock are locking reads
// (FOR UPDATE). They take locks in this order, which avoids most deadlocks:
// nodes, jobs by number, first waiting jobs of serial groups, failing schedules;
// the driver repeats a transaction that the database ended because of a deadlock.
// The isolation level is READ COMMITTED: a read sees what was committed while the
// transaction waited for a lock.
//
// # Values
//
// now is the instant of the call, whole microseconds in UTC, as the database
// keeps it. Slices that are passed to a Tx may be changed after the call; slices
// that a Tx returns belong to the caller. Types whose fields have JSON names can
// be passed to a statement as an array, for json_each or JSON_TABLE. An error of
// a Tx ends the sequence and is returned as it is; the driver rolls back.
package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Tx is a transaction of a driver: the reads and writes of rows that the
// sequences of this package consist of. Lists that are passed to it are not
// empty. One goroutine uses a Tx at a time.
type Tx interface {
	Claims
	Groups
	Jobs
	Nodes
	FollowUps
}

// Claims reads and writes the jobs of claims.
type Claims interface {
	// LockClaims returns, in the places of the claims, the live jobs that have
	// the tokens of the claims.
	LockClaims(ctx context.Context, claims []store.ClaimRef) ([]Held, error)

	// EndStates returns, in the places of the claims, the states of the finished
	// jobs that have the tokens of the claims; StateReady where there is none.
	EndStates(ctx context.Context, claims []store.ClaimRef) ([]store.State, error)

	// InsertAttempts stores records of attempts of live jobs: ID, Error, Trace
	// and Output of each outcome, and attempt, token, node and start of its job.
	// If the token has a record already, that record stays.
	InsertAttempts(ctx context.Context, outcomes []*store.Outcome, now time.Time) error

	// EndJobs moves live jobs to history, finished now. Their keys are free
	// again, and the cancel requests of jobs with Asked are deleted.
	EndJobs(ctx context.Context, ends []End, now time.Time) error

	// RequeueJobs makes running or ready jobs ready, due after their delay. The
	// token stays as it is.
	RequeueJobs(ctx context.Context, jobs []Requeue, now time.Time) error
}

// Groups reads and writes serial groups.
type Groups interface {
	// LockGroups returns the states of serial groups; groups in which no job
	// waits may be missing. It locks the first waiting job of each group, and
	// then reads, without locks, whether the group is busy: of two transactions
	// that end the last two jobs of a group, the second waits for the first, and
	// finds the group free.
	LockGroups(ctx context.Context, groups []store.SerialGroup) (map[store.SerialGroup]store.GroupState, error)

	// ReleaseJobs makes waiting jobs ready; run_at stays as it is.
	ReleaseJobs(ctx context.Context, ids []int64) error
}

// Jobs reads and writes jobs by number.
type Jobs interface {
	// LockJobs returns the live and finished jobs with these numbers, in any
	// order.
	LockJobs(ctx context.Context, ids []int64) ([]Job, error)

	// LockScheduleJobs returns the live jobs of a schedule, ordered by number.
	LockScheduleJobs(ctx context.Context, schedule string) ([]Job, error)

	// RequestCancels stores cancel requests for running jobs. A job that has a
	// request keeps it.
	RequestCancels(ctx context.Context, ids []int64, reason string, now time.Time) error

	// DeleteJobs deletes live or finished jobs with their attempts.
	DeleteJobs(ctx context.Context, ids []int64) error

	// LockKeyHolders returns the live jobs that have the keys of finished jobs.
	LockKeyHolders(ctx context.Context, finished []int64) (map[store.JobKey]int64, error)

	// ReviveJobs makes finished jobs ready, under their numbers.
	ReviveJobs(ctx context.Context, jobs []Revived) error

	// InsertJobs inserts jobs, except jobs whose key another job of their kind has,
	// and answers for each in their order.
	InsertJobs(ctx context.Context, jobs []store.NewJob, now time.Time) ([]store.Inserted, error)
}

// Nodes reads and writes nodes.
type Nodes interface {
	// LockLivingNodes returns the nodes that have not ended, ordered by number.
	// Claims and heartbeats of these nodes wait until the transaction ends.
	// NodeInfo.Running is not needed.
	LockLivingNodes(ctx context.Context) ([]store.NodeInfo, error)

	// EndNodes records that nodes ended now, and whether they died.
	EndNodes(ctx context.Context, ids []int64, died bool, now time.Time) error

	// LockHeldJobs returns the running jobs of nodes, ordered by node, then by
	// number.
	LockHeldJobs(ctx context.Context, nodes []int64) ([]HeldJob, error)

	// CountLosses adds one to the losses of live jobs, up to math.MaxInt16.
	CountLosses(ctx context.Context, ids []int64) error
}

// FollowUps reads and writes which schedules are failing.
type FollowUps interface {
	// LockFailing returns the schedules among these that are failing, with their
	// numbers of failures.
	LockFailing(ctx context.Context, schedules []int64) (map[int64]int64, error)

	// BeginFailing records that schedules are failing since now. A schedule that
	// is failing already is replaced.
	BeginFailing(ctx context.Context, schedules []Failing, now time.Time) error

	// CountFailing records the numbers of failures of failing schedules.
	CountFailing(ctx context.Context, schedules []Failing) error

	// EndFailing records that schedules are well.
	EndFailing(ctx context.Context, schedules []int64) error
}

// Held is a live job with the token of a claim.
type Held struct {
	Found         bool // otherwise there is no such job, and the other fields mean nothing
	store.HeldJob      // without Waits
}

// End moves a live job to history.
type End struct {
	ID     int64       `json:"id"`
	State  store.State `json:"state"`
	Reason string      `json:"reason"`
	Asked  bool        `json:"-"` // the job has a cancel request
}

// Requeue makes a live job ready. Refunds and losses stop at math.MaxInt16.
type Requeue struct {
	ID           int64 `json:"id"`
	Delay        int64 `json:"delay"`  // microseconds from now until it is due
	Refund       int16 `json:"refund"` // subtracted from its attempt
	RefundCounts bool  `json:"counted"`
	LossCounts   bool  `json:"lost"`
	LossesEnd    bool  `json:"well"`
}

// Job is a live or finished job that ChangeJobs decides about.
type Job struct {
	store.FinishedJob // its ID, and if it is finished, all fields
	State             store.State
	Group             store.SerialGroup
	RunAt, Slot       time.Time
}

// Revived makes a finished job ready. Its refunds are 0; its attempt, token and
// losses stay as they are.
type Revived struct {
	ID          int64 `json:"id"`
	RunAt       int64 `json:"run_at"` // microseconds since 1970
	MaxAttempts int16 `json:"max_attempts"`
}

// HeldJob is a running job of a node that ends.
type HeldJob struct {
	store.RescuedJob            // without State and Begun
	Loss             store.Loss // without Died and Waits
	Headers          []byte
	Schedule         int64
	ScheduleName     string
	Slot             time.Time
}

// lost returns the job as a job that fails as lost.
func (j *HeldJob) lost() store.LostJob {
	return store.LostJob{
		ID: j.ID, Token: j.Token, Kind: j.Kind, Queue: j.Queue, Headers: j.Headers, Attempt: j.Loss.Attempt,
		Schedule: j.Schedule, ScheduleName: j.ScheduleName, Slot: j.Slot,
	}
}

// Failing is a failing schedule with its number of failures.
type Failing struct {
	ID       int64 `json:"id"`
	Failures int64 `json:"failures"`
}
