package hourbell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/insert"
	"github.com/hourbell/hourbell/store"
)

// Option changes how a job is enqueued. Options that contradict each other are
// an error.
type Option func(*enqueuing)

type enqueuing struct {
	store.NewJob
	tx       store.Tx
	found    *bool
	hasRunAt bool
	hasDelay bool
	errs     []error
}

// Queue names the queue; default "default".
func Queue(name string) Option {
	return func(e *enqueuing) {
		e.NewJob.Queue = name
		e.errs = append(e.errs, check.Name("queue", name))
	}
}

// Priority is 1 (first) … 9 (last); default 5.
func Priority(priority int) Option {
	return func(e *enqueuing) {
		if err := checkPriority(priority); err != nil {
			e.errs = append(e.errs, err)
			return
		}
		e.NewJob.Priority = int16(priority)
	}
}

// MaxAttempts is the greatest number of attempts, 1 … 1000; default 25.
func MaxAttempts(attempts int) Option {
	return func(e *enqueuing) {
		if err := checkMaxAttempts(attempts); err != nil {
			e.errs = append(e.errs, err)
			return
		}
		e.NewJob.MaxAttempts = int16(attempts)
	}
}

// At sets the earliest time at which the job runs, by the store's clock.
func At(t time.Time) Option {
	return func(e *enqueuing) {
		e.RunAt, e.hasRunAt = t, true
		if t.IsZero() {
			e.errs = append(e.errs, &check.FieldError{Field: "at", Problem: "is the zero time", Remedy: "leave it out to run at once"})
		}
		e.errs = append(e.errs, checkTime("at", t))
	}
}

// In sets the earliest time at which the job runs to d from now, by the store's
// clock.
func In(d time.Duration) Option {
	return func(e *enqueuing) {
		e.Delay, e.hasDelay = d, true
		e.errs = append(e.errs, checkDuration("in", d))
	}
}

// OnLoss selects what happens to the job if its node dies while it runs:
// RetryOnLoss or FailOnLoss.
func OnLoss(choice store.OnLoss) Option {
	return func(e *enqueuing) {
		e.NewJob.OnLoss = choice
		e.errs = append(e.errs, checkOnLoss(choice))
	}
}

// Timeout bounds each attempt; 0 means the worker's own timeout.
func Timeout(d time.Duration) Option {
	return func(e *enqueuing) {
		e.NewJob.Timeout = d
		e.errs = append(e.errs, checkDuration("timeout", d))
	}
}

// Unique gives the job a key, 1 to 200 bytes of UTF-8 without control
// characters, which at most one live job of a kind has. While a live job has
// this key, Enqueue stores nothing and returns the number of that job. Neither
// the arguments nor the options of that job change; Found reports that it
// existed. The key is free when its job ends; JobService.Retry takes it back,
// unless another job has it by then.
//
// Concurrent calls with one key result in one job, on any node and in
// transactions too: the second call waits until the transaction of the first
// call has ended. At the isolation level repeatable read or above, the database
// may require the caller to repeat the transaction.
func Unique(key string) Option {
	return func(e *enqueuing) {
		e.NewJob.Unique = key
		e.errs = append(e.errs, check.StoredName("unique", key))
	}
}

// Found makes Enqueue set *found, which reports whether a job with the key of
// Unique existed.
func Found(found *bool) Option {
	return func(e *enqueuing) {
		if e.found = found; found == nil {
			e.errs = append(e.errs, &check.FieldError{Field: "found", Problem: "is nil", Remedy: "pass the address of a bool"})
		}
	}
}

// InTx enqueues in the caller's transaction: the job exists if, and only if,
// the transaction commits, and then wakes a node. The driver makes the value
// from a transaction: postgres.Tx(tx), postgres.SQLTx(tx), sqlite.Tx(tx).
func InTx(tx store.Tx) Option {
	return func(e *enqueuing) {
		if tx == nil {
			e.errs = append(e.errs, &check.FieldError{Field: "tx", Problem: "is nil", Remedy: "pass the value that the driver's Tx returned"})
		}
		e.tx = tx
	}
}

// Enqueue stores a job and returns its number. When it returns without an error
// and without InTx, the job is durable and will run.
//
// Concurrent calls without InTx and Unique are sent to the store together, so
// that many goroutines share the cost of the commits. A single call never waits
// for others.
//
// If the error wraps the error of ctx, its text reports either that the job was
// not stored, because ctx ended before the job was sent, or that this is
// unknown.
func (c *Client) Enqueue(ctx context.Context, args Args, options ...Option) (int64, error) {
	e, err := newEnqueuing(options)
	if err == nil {
		var raw RawArgs
		raw, err = encodeArgs("", args)
		e.NewJob.Kind, e.NewJob.Args = raw.Name, raw.JSON
	}
	if err != nil {
		return 0, fmt.Errorf("enqueue: %w", err)
	}
	inserted, err := c.insert(ctx, e.tx, []store.NewJob{e.NewJob})
	if err != nil {
		return 0, fmt.Errorf("enqueue: %w", err)
	}
	if e.found != nil {
		*e.found = inserted[0].Existed
	}
	return inserted[0].ID, nil
}

// insert stores jobs; every job that a client makes passes it. A single job without
// a key shares its insert with concurrent calls: a job with a key may have to wait,
// and so may a job of a schedule, and would delay the other jobs of the insert.
func (c *Client) insert(ctx context.Context, tx store.Tx, jobs []store.NewJob) ([]store.Inserted, error) {
	single := len(jobs) == 1 && tx == nil
	if single && jobs[0].Unique == "" && jobs[0].Schedule == 0 {
		id, err := c.batcher.Insert(ctx, jobs[0])
		return []store.Inserted{{ID: id}}, err
	}
	res, err := c.backend.Insert(ctx, store.InsertRequest{Tx: tx, Jobs: jobs})
	if err != nil && single && ctx.Err() != nil {
		err = insert.Unknown(err)
	}
	return res.Jobs, err
}

// EnqueueMany stores any number of jobs with the same options, all or none, in
// one transaction with one statement per few thousand jobs. It returns their
// numbers in order.
func (c *Client) EnqueueMany(ctx context.Context, args []Args, options ...Option) ([]int64, error) {
	jobs, e, err := newInsert(args, options)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	inserted, err := c.insert(ctx, e.tx, jobs)
	if err != nil {
		return nil, fmt.Errorf("enqueue: %w", err)
	}
	if e.found != nil {
		*e.found = inserted[0].Existed
	}
	return store.InsertResult{Jobs: inserted}.IDs(), nil
}

// CheckJob returns the error that Enqueue would return for an invalid job. It
// needs no store.
func CheckJob(args Args, options ...Option) error {
	_, _, err := newInsert([]Args{args}, options)
	return err
}

// newInsert validates and encodes jobs.
func newInsert(args []Args, options []Option) (jobs []store.NewJob, template enqueuing, err error) {
	if template, err = newEnqueuing(options); err != nil {
		return nil, template, fmt.Errorf("enqueue: %w", err)
	}
	if template.NewJob.Unique != "" && len(args) > 1 {
		return nil, template, fmt.Errorf("enqueue: %w",
			&check.FieldError{Field: "unique", Problem: "is one key for several jobs", Remedy: "enqueue them one by one, each with its own"})
	}
	jobs = make([]store.NewJob, len(args))
	for i, a := range args {
		jobs[i] = template.NewJob
		raw, err := encodeArgs("", a)
		if err != nil {
			return nil, template, fmt.Errorf("enqueue job %d of %d: %w", i+1, len(args), err)
		}
		jobs[i].Kind, jobs[i].Args = raw.Name, raw.JSON
	}
	return jobs, template, nil
}

func newEnqueuing(options []Option) (enqueuing, error) {
	defaults := enqueuing{NewJob: store.NewJob{JobSpec: store.JobSpec{Queue: defaultQueue, Priority: defaultPriority, MaxAttempts: defaultAttempts}}}
	if len(options) == 0 {
		return defaults, nil
	}
	e := defaults // a copy on the heap, because options take its address
	for _, option := range options {
		option(&e)
	}
	if e.hasRunAt && e.hasDelay {
		e.errs = append(e.errs, &check.FieldError{Field: "in", Problem: "is given together with at", Remedy: "use one of them"})
	}
	return e, errors.Join(e.errs...)
}

// encodeArgs returns a job's arguments as they are stored. before is put before
// the names of fields in errors.
func encodeArgs(before string, args Args) (RawArgs, error) {
	if args == nil {
		return RawArgs{}, &check.FieldError{Field: before + "args", Problem: "are nil", Remedy: "pass a value with a Kind method"}
	}
	raw, ok := args.(RawArgs)
	if ok {
		if len(raw.JSON) == 0 {
			raw.JSON = []byte("null")
		}
		return raw, errors.Join(check.Name(before+"kind", raw.Name), check.Args(before+"args", raw.JSON))
	}
	raw.Name = args.Kind()
	err := check.Name(before+"kind", raw.Name)
	if checked, ok := args.(interface{ Validate() error }); ok && err == nil {
		if err = checked.Validate(); err != nil && before != "" {
			err = fmt.Errorf("%sargs: %w", before, err)
		}
	}
	if err != nil {
		return RawArgs{}, err
	}
	if encoder, ok := args.(interface{ Encode() ([]byte, error) }); ok {
		if raw.JSON, err = encoder.Encode(); err != nil {
			return RawArgs{}, fmt.Errorf("encode %sargs of kind %q: %w", before, raw.Name, err)
		}
		return raw, check.Args(before+"args", raw.JSON)
	}
	if raw.JSON, err = json.Marshal(args); err != nil {
		return RawArgs{}, fmt.Errorf("encode %sargs of kind %q: %w", before, raw.Name, err)
	}
	return raw, check.EncodedArgs(before+"args", raw.JSON)
}
