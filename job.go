package hourbell

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/jsons"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// Args are the arguments of a job: any value that encodes to JSON. Kind returns
// the name of its type (1–200 bytes, the same for every value of a type,
// including the zero value), which selects the worker. If the type also has a
// method Validate() error, it is called before a job is stored. If the type has
// a method Encode() ([]byte, error), its result is stored instead of the result
// of json.Marshal.
//
// If the type has a method Options() []Option, its options are defaults of the
// kind, which options of a call and the fields of a Schedule override: Backoff,
// Group, MaxAttempts, OnConflict, OnLoss, Priority, PushAtMost, Queue, Timeout,
// UniqueArgs, UniqueFor and UniqueUntilStart. Jobs of schedules have no keys,
// and the group of their schedule. Options are the same for every value of the
// type, as Kind is; Register checks them. RawArgs of the kind do not have them,
// nor do hooks and handlers.
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

// Job is one attempt at a job, as its worker receives it.
type Job[A any] struct {
	JobRow
	Args A
}

// JobRow has the fields of a job that do not depend on the type of its
// arguments. It belongs to the goroutine of the worker.
type JobRow struct {
	ID int64
	// Token is this claim's fencing token.
	Token       int64
	Kind        string
	Queue       string
	Group       string // or empty
	Key         string // of the option Key, or empty
	Priority    int    // 1 (first) … 9
	Attempt     int    // the first is 1
	MaxAttempts int
	OnLoss      store.OnLoss
	Origin      string // enqueue, schedule, trigger, backfill or hook
	RunAt       time.Time
	CreatedAt   time.Time
	Batch       int64     // the number of its batch, or 0
	Schedule    string    // the name of the schedule that made it, or empty
	Slot        time.Time // the slot for which it was made, or zero
	RawArgs     []byte    // the arguments as they were stored
	// Headers are stored with the job; a hook's job has HookHeader. May be nil.
	Headers map[string]string

	run *work.Run
}

// fill sets j to the row of a run.
func (j *JobRow) fill(run *work.Run) {
	*j = JobRow{
		ID:          run.ID,
		Token:       run.Token,
		Kind:        run.Kind,
		Queue:       run.Queue,
		Group:       run.Group,
		Key:         run.Key,
		Priority:    int(run.Priority),
		Attempt:     int(run.Attempt),
		MaxAttempts: int(run.MaxAttempts),
		OnLoss:      run.OnLoss,
		Origin:      run.Origin.String(),
		RunAt:       run.RunAt,
		CreatedAt:   run.CreatedAt,
		Batch:       run.Batch,
		Schedule:    run.ScheduleName,
		Slot:        run.Slot,
		RawArgs:     run.Args,
		Headers:     userHeaders(run.Headers),
		run:         run,
	}
}

// Log adds a line to the output of the attempt: the text that fmt.Sprintf makes.
// See Writer.
func (j *JobRow) Log(format string, args ...any) {
	text := fmt.Appendf(nil, format, args...)
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	_, _ = j.Writer().Write(text) // never fails
}

// LogHandler returns a slog.Handler that writes records to the output of the
// attempt, as slog.TextHandler does. See Writer. opts may be nil.
func (j *JobRow) LogHandler(opts *slog.HandlerOptions) slog.Handler {
	return slog.NewTextHandler(j.Writer(), opts)
}

// Writer returns a writer that adds bytes to the output of the attempt. The last 64
// KiB of the output are kept in the record of the attempt. While the attempt runs,
// the node stores new output about once a second, and JobService.Output reads it.
// If the node dies, the record has the output that was stored.
//
// Write returns at once and never fails; what is written after the worker has
// returned is dropped. Concurrent calls of Write and Log are allowed, except for a
// worker in a test that has called neither before.
func (j *JobRow) Writer() io.Writer {
	if j.run == nil { // a worker in a test
		j.run = &work.Run{}
	}
	return j.run.Printer()
}

// SetOutput makes output, any bytes, the output of the attempt, in place of all
// that was written before.
func (j *JobRow) SetOutput(output []byte) {
	if j.run == nil { // a worker in a test
		j.run = &work.Run{}
	}
	j.run.SetOutput(output)
}

// Output returns the last 64 KiB of the output of the attempt so far.
func (j *JobRow) Output() []byte {
	if j.run == nil {
		return nil
	}
	return j.run.Output()
}

// Declared reports whether this job is on the allow-list that Client.Allow sets:
// whether the node's own program or files contain exactly this job, so that
// it is not only the choice of a user who can write to the store. It is false
// for a worker in a test. Concurrent calls are allowed.
func (j *JobRow) Declared() bool { return j.run != nil && j.run.Declared() }

// StoreID returns the identity of the store, a text that never changes and that
// no other store has. With ID it identifies the job among all stores, for
// systems to which workers write. Empty for a worker in a test.
func (j *JobRow) StoreID() string {
	if j.run == nil {
		return ""
	}
	return j.run.StoreID()
}

// Place returns the name of the node that runs the attempt (Config.Name), and its host
// (Config.Host). Both are empty for a worker in a test.
func (j *JobRow) Place() (node, host string) {
	if j.run == nil {
		return "", ""
	}
	return j.run.Place()
}

// SetResult keeps a value as the result of the job: value is encoded as JSON of
// at most 64 KiB. Other jobs and programs read it (store.JobInfo.Result) as
// long as the job is kept. A later call replaces the result. The result is kept
// if this attempt ends the job, whether the job is completed, failed or
// cancelled; if the job runs again, the result of this attempt is dropped. An
// error means that the result is as it was before the call.
func (j *JobRow) SetResult(value any) error {
	text, err := jsons.Encode(value)
	if err != nil {
		return fmt.Errorf("encode the result of job %d: %w", j.ID, err)
	}
	if err := check.Result(text); err != nil {
		return fmt.Errorf("job %d: %w", j.ID, err)
	}
	if j.run == nil { // a worker in a test
		j.run = &work.Run{}
	}
	j.run.SetResult(text)
	return nil
}

// Result returns the result that SetResult has kept so far, as JSON; nil: none.
func (j *JobRow) Result() []byte {
	if j.run == nil {
		return nil
	}
	return j.run.Result()
}

// Progress reports how far the job has come: done of total units of work, and a
// note of at most 1 KiB; a total of 0 means that the number of units is not
// known. It returns at once and never fails. About once a second the node stores
// the newest progress of each of its jobs that has changed, also when the job
// has ended; store.JobInfo.Progress returns it. Concurrent calls are allowed.
func (j *JobRow) Progress(done, total int64, note string) {
	if j.run != nil {
		j.run.SetProgress(done, total, note)
	}
}

// HeldFor returns for how long from now the node may trust its claim on the job
// if no further heartbeat succeeds, and the length of the node's lease. Work
// that cannot observe its context, such as work in another process, must end
// before left has passed, because another node may start the job soon after.
// Each heartbeat prolongs the time, so call HeldFor repeatedly. Both results
// are 0 for a worker in a test, which has no claim. Concurrent calls are
// allowed.
func (j *JobRow) HeldFor() (left, lease time.Duration) {
	if j.run == nil {
		return 0, 0
	}
	return j.run.HeldFor()
}

// Complete records in the worker's own transaction that the job is completed, so
// that the effects of the attempt and the completion are committed together, or
// not at all. Call it last, commit the transaction, and return nil. tx is the
// outermost transaction, as the driver's Tx or SQLTx returns it.
//
// If another node has taken the job, Complete rolls the transaction back and the
// error wraps ErrClaimLost. After any other error, roll the transaction back; a
// new transaction may call Complete again.
//
// When the worker returns, the node looks up whether the completion was committed,
// and never writes it itself. If it was committed, the job is completed, also if
// the worker returns an error. If it was not, the attempt fails: with the error of
// the worker, or with ErrNotCommitted. While the transaction is open, the node
// waits for its end.
//
// RegisterTx does all of this for a worker.
func (j *JobRow) Complete(ctx context.Context, tx store.Tx) error {
	run := j.run
	if run == nil {
		run = &work.Run{}
	}
	if err := run.Complete(ctx, tx); err != nil {
		return fmt.Errorf("complete job %d: %w", j.ID, err)
	}
	return nil
}

// Handler does the work of one attempt. A nil error completes the job. Any
// other error makes the job run again after a back-off while attempts are left,
// unless the error is wrapped by Fail, Cancel or RetryIn, or made by Snooze. A
// panic counts as an error.
//
// ctx ends when the job is cancelled, its timeout has passed, its node stops,
// or its claim can no longer be trusted; context.Cause returns ErrCancelled,
// ErrTimeout, ErrStopping or ErrClaimLost. After ErrClaimLost another node may
// start the job soon: stop writing at once.
type Handler func(ctx context.Context, job *JobRow) error
