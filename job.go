package hourbell

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/internal/engine"
)

// Args is what a job is about: any value that encodes to JSON. Kind names its
// sort (1–200 bytes, the same for every value of a type, also the zero one)
// and so finds the worker. If the type has a method Validate() error as well,
// it is asked before a job is stored.
type Args interface {
	Kind() string
}

// RawArgs are arguments that are JSON already; they are kept byte for byte.
type RawArgs struct {
	Name string // the kind
	JSON []byte // at most 1 MiB; empty means null
}

// Kind returns Name.
func (a RawArgs) Kind() string { return a.Name }

// Job is one attempt at a job, as its worker sees it.
type Job[A any] struct {
	JobRow
	Args A
}

// JobRow is what every attempt knows of its job. It belongs to the goroutine
// of the worker.
type JobRow struct {
	ID int64
	// Token is this claim's fencing token.
	Token       int64
	Kind        string
	Queue       string
	Priority    int // 1 (first) … 9
	Attempt     int // the first is 1
	MaxAttempts int
	OnLoss      OnLoss
	Origin      string // enqueue, schedule, trigger or backfill
	RunAt       time.Time
	CreatedAt   time.Time
	Schedule    string    // the name of the schedule that made it, or empty
	Slot        time.Time // the slot it was made for, or zero
	RawArgs     []byte    // the arguments as they were stored
	// Headers travel with the job; of a hook's job they have HookHeader. May be
	// nil.
	Headers map[string]string

	run *engine.Run
}

// SetOutput keeps what the attempt has to show, any bytes, with its record;
// only the last 64 KiB. A later call replaces it.
func (j *JobRow) SetOutput(output []byte) {
	if j.run == nil { // a worker under test
		j.run = &engine.Run{}
	}
	j.run.SetOutput(output)
}

// Output returns what SetOutput has kept so far.
func (j *JobRow) Output() []byte {
	if j.run == nil {
		return nil
	}
	return j.run.Output()
}

// HeldFor returns for how long from now the node may trust its claim on the
// job if no heartbeat gets through any more, and the length of the node's
// lease. Work that cannot see its context end, such as what runs in another
// process, has to be over before left has passed: another node may start the
// job soon after. Each heartbeat prolongs it, so ask anew now and then. Both
// are 0 for a worker under test, which has no claim. It is safe for concurrent
// use.
func (j *JobRow) HeldFor() (left, lease time.Duration) {
	if j.run == nil {
		return 0, 0
	}
	return j.run.HeldFor()
}

// Handler does the work of one attempt. A nil error completes the job; any
// other makes it run again after a back-off while attempts are left, unless it
// is wrapped by Fail, Cancel or RetryIn. A panic counts as an error.
//
// ctx ends when the job is cancelled, its timeout has passed, its node stops
// or its claim can no longer be held; context.Cause tells which: ErrCancelled,
// ErrTimeout, ErrStopping or ErrClaimLost. In the last case another node may
// start the job soon after: stop writing at once.
type Handler func(ctx context.Context, job *JobRow) error
