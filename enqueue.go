package hourbell

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/insert"
	"github.com/hourbell/hourbell/internal/jsons"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// Option changes what a call does, or how a job is enqueued. Options that contradict
// each other, and options that the call does not take, are an error.
type Option func(*enqueuing)

type enqueuing struct {
	store.NewJob
	given      optionSet
	tx         store.Tx
	batch      int64 // of InBatch
	notifyInTx bool
	hasRunAt   bool
	hasDelay   bool
	keyed      argsKey   // of UniqueArgs
	ofCall     []Option  // of a call for several jobs
	changing   *changing // of calls that change jobs
	limits     []Limit   // of Limits
	errs       []error
}

// Queue names the queue; default "default".
func Queue(name string) Option {
	return func(e *enqueuing) {
		e.given |= optQueue
		e.NewJob.Queue = name
		e.errs = append(e.errs, check.Name("queue", name))
	}
}

// Group names the group of the job, 1 to 200 bytes: a label by which jobs are selected
// (JobFilter.Group). Jobs of a schedule have the schedule's group.
func Group(name string) Option {
	return func(e *enqueuing) {
		e.given |= optGroup
		e.NewJob.Group = name
		e.errs = append(e.errs, check.Name("group", name))
	}
}

// Key names what the job is for, such as a customer, 1 to 200 bytes: a label by which jobs are selected
// (JobFilter.Key). Any number of jobs may have the same key; see Unique for a key that only one live job has.
func Key(key string) Option {
	return func(e *enqueuing) {
		e.given |= optKey
		e.NewJob.Key = key
		e.errs = append(e.errs, check.Name("key", key))
	}
}

// Priority is 1 (first) … 9 (last); default 5.
func Priority(priority int) Option {
	return func(e *enqueuing) {
		e.given |= optPriority
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
		e.given |= optMaxAttempts
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
		e.given |= optAt
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
		e.given |= optIn
		e.Delay, e.hasDelay = d, true
		e.errs = append(e.errs, checkDuration("in", d))
	}
}

// OnLoss selects what happens to the job if its node dies while it runs:
// RetryOnLoss or FailOnLoss.
func OnLoss(choice store.OnLoss) Option {
	return func(e *enqueuing) {
		e.given |= optOnLoss
		e.NewJob.OnLoss = choice
		e.errs = append(e.errs, checkOnLoss(choice))
	}
}

// Timeout bounds each attempt; 0 means the worker's own timeout.
func Timeout(d time.Duration) Option {
	return func(e *enqueuing) {
		e.given |= optTimeout
		e.NewJob.Timeout = d
		e.errs = append(e.errs, checkDuration("timeout", d))
	}
}

// Enqueued is the answer for a job.
type Enqueued struct {
	ID int64
	// Existed reports that no job was stored, because another job of its kind
	// has the key of Unique or UniqueArgs: ID is the number of that job.
	Existed bool
	// Conflict is, if Existed, what was found and done: store.ConflictKept for a
	// live job that stays as it is, store.ConflictReplaced and
	// store.ConflictRescheduled for a live job that OnConflict has changed,
	// store.ConflictHeld for a job that has ended and holds its key (UniqueFor).
	Conflict store.Conflict
}

// Enqueue stores a job. When it returns without an error and without InTx, the
// job is durable and will run.
//
// Concurrent calls without InTx and Unique are sent to the store together, so
// that many goroutines share the cost of the commits. A single call never waits
// for others.
//
// If the error wraps the error of ctx, its text reports either that the job was
// not stored, because ctx ended before the job was sent, or that this is
// unknown.
func (c *Client) Enqueue(ctx context.Context, args Args, options ...Option) (Enqueued, error) {
	e, err := newEnqueuing(args, options)
	if err != nil {
		return Enqueued{}, fmt.Errorf("enqueue: %w", err)
	}
	inserted, err := c.describe(ctx, e.insertRequest([]store.NewJob{e.NewJob}))
	if err != nil {
		return Enqueued{}, fmt.Errorf("enqueue: %w", err)
	}
	return Enqueued(inserted.Jobs[0]), nil
}

// Request is one job for EnqueueMany.
type Request struct {
	Args Args
	// Options are applied after the options of the call. InTx is an option of
	// the call only.
	Options []Option
}

// Validate returns the error that Enqueue would return for a request that is
// not valid, or nil. It needs no store.
func (r Request) Validate() error {
	if _, err := newEnqueuing(r.Args, r.Options); err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// EnqueueMany stores any number of jobs, all or none, in one transaction with
// one statement per few thousand jobs. The options are for all of the jobs. It
// answers for each job, in order. A job whose key a job before it in the call
// has is not stored; its answer is the number of that job. The jobs count one
// after the other, so that with OnConflict a job may change a job before it. If
// ErrorOnConflict refuses one of the jobs, nothing is stored.
func (c *Client) EnqueueMany(ctx context.Context, requests []Request, options ...Option) ([]Enqueued, error) {
	shared, jobs, err := newJobs(requests, options)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	inserted, err := c.describe(ctx, shared.insertRequest(jobs))
	if err != nil {
		return nil, fmt.Errorf("enqueue: %w", err)
	}
	return converted(inserted.Jobs, func(job store.Inserted) Enqueued { return Enqueued(job) }), nil
}

// describe stores jobs that a caller has described; see describeBy.
func (c *Client) describe(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	return c.describeBy(ctx, req, c.insert)
}

// describeBy stores jobs that a caller has described, by insert; they pass the enqueue
// middleware, if there is any.
func (c *Client) describeBy(ctx context.Context, req store.InsertRequest,
	insert func(context.Context, store.InsertRequest) (store.InsertResult, error),
) (res store.InsertResult, err error) {
	if len(c.cfg.EnqueueMiddleware) == 0 {
		res, err = insert(ctx, req)
	} else {
		res, err = c.insertThrough(ctx, req, insert)
	}
	if err == nil {
		c.warnUnserved(ctx, req, res)
	}
	return res, err
}

// insert stores jobs; every job that a client makes passes it. A single job
// without a key shares its insert with concurrent calls: a job with a key or with
// predecessors may have to wait, and so may a job of a schedule, and would delay the
// other jobs of the insert.
func (c *Client) insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	if err := c.checkTx(req.Tx); err != nil {
		return store.InsertResult{}, err
	}
	if ending := work.CompletedBy(ctx, req.Tx); ending != 0 {
		req.Jobs = slices.Clone(req.Jobs)
		for i := range req.Jobs {
			req.Jobs[i].TakesFrom = ending
		}
	}
	single := len(req.Jobs) == 1 && req.Tx == nil
	if single && !mayWait(&req) {
		inserted, err := c.batcher.Insert(ctx, req.Jobs)
		return store.InsertResult{Jobs: inserted}, err
	}
	res, err := c.backend.Insert(ctx, req)
	if err != nil && single && ctx.Err() != nil {
		err = insert.Unknown(err)
	}
	return res, err
}

// mayWait reports whether the insert of a single job may have to wait for other transactions.
func mayWait(req *store.InsertRequest) bool {
	job := &req.Jobs[0]
	return job.Unique != "" || job.Schedule != 0 || req.Linked()
}

// checkTx returns ErrTxRequired if a call that makes jobs needs a transaction and
// has none. A call that reads the store first calls it before that.
func (c *Client) checkTx(tx store.Tx) error {
	if tx == nil && c.cfg.RequireTx {
		return ErrTxRequired
	}
	return nil
}

// newJobs validates and encodes requests.
func newJobs(requests []Request, options []Option) (shared enqueuing, jobs []store.NewJob, err error) {
	shared, err = newShared(options)
	if err != nil {
		return shared, nil, fmt.Errorf("enqueue: %w", err)
	}
	if shared.Unique != "" && len(requests) > 1 {
		return shared, nil, fmt.Errorf("enqueue: %w",
			&check.FieldError{Field: "unique", Problem: "is one key for several jobs", Remedy: "give each request its own"})
	}
	jobs = make([]store.NewJob, len(requests))
	for i, request := range requests {
		one, err := shared.with(request.Args, request.Options)
		if err != nil {
			return shared, nil, fmt.Errorf("enqueue job %d of %d: %w", i+1, len(requests), err)
		}
		jobs[i] = one.NewJob
	}
	return shared, jobs, nil
}

// insertRequest is the insert of jobs by a call with these options.
func (e enqueuing) insertRequest(jobs []store.NewJob) store.InsertRequest {
	for i := range jobs {
		if len(jobs[i].After) > 0 {
			jobs[i].Headers = plan.WithFollows(jobs[i].Headers)
		}
	}
	req := insertRequest(e.callersTx(), jobs)
	if e.batch != 0 {
		req.Batch = &store.BatchInsert{ID: e.batch}
	}
	return req
}

// newJobOptions returns the defaults of the options of a job.
func newJobOptions() enqueuing {
	return enqueuing{NewJob: store.NewJob{JobSpec: store.JobSpec{Queue: defaultQueue, Priority: defaultPriority, MaxAttempts: defaultAttempts}}}
}

// newShared returns the options of a call for several jobs.
func newShared(options []Option) (enqueuing, error) {
	shared, err := newJobOptions().applied(options, enqueueOptions)
	shared.ofCall = options
	return shared, err
}

// newEnqueuing returns a job with its args: with the options of its kind, and then the options of the call.
func newEnqueuing(args Args, options []Option) (enqueuing, error) {
	e, err := ofKind(args)
	if err == nil {
		e, err = e.over(options)
	}
	if err == nil {
		err = e.setArgs(args)
	}
	return e, err
}

// with returns one of the jobs of a call for several jobs: with the options of its kind, then the options of the call, and then
// its own options.
func (e enqueuing) with(args Args, options []Option) (enqueuing, error) {
	one, err := e, error(nil)
	if kind := kindOptions(args); len(kind) > 0 {
		if one, err = ofKind(args); err == nil {
			one, err = one.over(e.ofCall)
		}
	}
	if err == nil {
		if one, err = one.over(options); len(options) > 0 {
			if ofCall := one.given & enqueueOptions &^ requestOptions; ofCall != 0 {
				err = check.Join(err, &check.FieldError{
					Field: "options", Value: ofCall.names(), Problem: "are given for one job",
					Remedy: "give them as options of the call",
				})
			}
		}
	}
	if err == nil {
		err = one.setArgs(args)
	}
	return one, err
}

// over returns e with options that stand before the options that e has.
func (e enqueuing) over(options []Option) (enqueuing, error) {
	if len(options) == 0 {
		return e, nil
	}
	key, keyed := e.Unique, e.keyed
	e.tx, e.batch, e.hasRunAt, e.hasDelay, e.Unique, e.keyed, e.given = nil, 0, false, false, "", argsKey{}, 0
	e, err := e.applied(options, enqueueOptions)
	if e.Unique == "" && !e.keyed.given {
		e.Unique, e.keyed = key, keyed
	}
	e.dropOverruled()
	switch {
	case e.hasRunAt:
		e.Delay = 0
	case e.hasDelay:
		e.RunAt = time.Time{}
	}
	return e, err
}

// dropOverruled removes what earlier options have set about the key of the job, and the given options rule out.
func (e *enqueuing) dropOverruled() {
	has := func(option optionSet) bool { return e.given&option != 0 }
	if has(optUniqueUntilStart) && !has(optUniqueFor) {
		e.NewJob.UniqueFor = 0
	} else if has(optUniqueFor) && !has(optUniqueUntilStart) {
		e.NewJob.UntilStart = false
	}
	if has(optOnConflict) && !has(optPushAtMost) && e.NewJob.OnConflict != RescheduleOnConflict {
		e.NewJob.PushAtMost = 0
	}
}

// applied returns e with options of a call that takes some of them.
func (e enqueuing) applied(options []Option, takes optionSet) (enqueuing, error) {
	if len(options) == 0 {
		return e, nil
	}
	changed := e                                       // a copy on the heap, because options take its address
	changed.NewJob.After = slices.Clip(e.NewJob.After) // so that After does not write to the edges of another job
	for _, option := range options {
		option(&changed)
	}
	if changed.keyed.given && changed.Unique != "" {
		changed.errs = append(changed.errs, &check.FieldError{Field: "unique", Problem: "is given together with unique_args", Remedy: "use one of them"})
	}
	changed.errs = append(changed.errs, changed.given.except(takes))
	if changed.hasRunAt && changed.hasDelay {
		changed.errs = append(changed.errs, &check.FieldError{Field: "in", Problem: "is given together with at", Remedy: "use one of them"})
	}
	return changed, check.Join(changed.errs...)
}

// setArgs validates and encodes the arguments.
func (e *enqueuing) setArgs(args Args) error {
	raw, err := encodeArgs("", args)
	e.Kind, e.NewJob.Args = raw.Name, raw.JSON
	if err == nil && e.keyed.given {
		e.NewJob.Unique, err = e.keyed.of(raw.JSON)
	}
	if err == nil {
		err = e.checkKey()
	}
	return err
}

// encodeArgs returns a job's arguments as they are stored. before is put before
// the names of fields in errors.
func encodeArgs(before string, args Args) (RawArgs, error) {
	if args == nil {
		return RawArgs{}, &check.FieldError{Field: before + "args", Problem: "are nil", Remedy: "pass a value with a Kind method"}
	}
	if _, several := args.(Several); several {
		return RawArgs{}, &check.FieldError{Field: before + "args", Problem: "are of type Several, which is for fields of Hooks", Remedy: "pass one job"}
	}
	raw, ok := args.(RawArgs)
	if ok {
		if len(raw.JSON) == 0 {
			raw.JSON = []byte("null")
		}
		return raw, check.Join(check.Name(before+"kind", raw.Name), check.Args(before+"args", raw.JSON))
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
	raw.JSON, err = marshalArgs(before, raw.Name, args)
	return raw, err
}

// marshalArgs returns arguments of a kind as JSON, by their own encoder if they have one; see encodeArgs.
func marshalArgs(before, kind string, args Args) ([]byte, error) {
	if encoder, ok := args.(interface{ Encode() ([]byte, error) }); ok {
		text, err := encoder.Encode()
		if err != nil {
			return nil, fmt.Errorf("encode %sargs of kind %q: %w", before, kind, err)
		}
		return text, check.Args(before+"args", text)
	}
	text, err := jsons.Encode(args)
	if err != nil {
		return nil, fmt.Errorf("encode %sargs of kind %q: %w", before, kind, err)
	}
	return text, check.EncodedArgs(before+"args", text)
}
