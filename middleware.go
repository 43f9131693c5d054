package hourbell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// WorkMiddleware is code around each attempt of a client's node:
// Config.WorkMiddleware. It calls next, at most once, to run the rest of the
// middleware and the worker, and returns next's error or another error, which
// counts as the worker's. Without a call of next the worker does not run: nil
// completes the job, and an error is handled as an error of the worker.
//
// It may give next another context that is derived from ctx. It may change
// job.RawArgs and job.Headers, or give next a changed copy of job: the worker's
// arguments are decoded afterwards. Changes of other fields are visible to the
// worker and have no other effect. A panic of the worker passes the
// middleware as a panic; a panic of the middleware counts as the worker's.
// Calls for different jobs are concurrent.
type WorkMiddleware func(ctx context.Context, job *JobRow, next Handler) error

// EnqueueMiddleware is code around the calls of a client that describe jobs:
// Config.EnqueueMiddleware. The calls are Enqueue, EnqueueMany,
// ScheduleService.RunOnce, and ScheduleService.Put, PutAll and Sync, whose
// drafts are the jobs and hooks of the schedules: what the middleware makes of
// them is stored with the schedule, and every job of a slot, a trigger, a
// backfill or a hook is made of that. So each job passes the middleware once,
// where it is described.
//
// It may change the drafts, and calls next, exactly once, to run the rest of
// the middleware and to store; next returns the error of the call. An error
// without a call of next refuses the call, and nothing is stored. An error
// after next has returned nil is returned to the caller, but undoes nothing,
// except in a caller's transaction that rolls back. Concurrent calls of the
// client call it concurrently.
//
// A schedule is unchanged only if its drafts have the same content each time:
// with a random value or the time in a header, every Sync changes every
// schedule. A schedule that was read and is put again passes the middleware
// again, with arguments as they were stored: middleware that encodes arguments
// has to recognize arguments that it has encoded.
type EnqueueMiddleware func(ctx context.Context, drafts []*Draft, next func(ctx context.Context) error) error

// Draft is the description of a job for EnqueueMiddleware, which may change its
// fields; changes of Origin, Schedule and Hook have no effect. It is validated again afterwards. It
// belongs to one call.
type Draft struct {
	// JobSpec has the kind, the arguments as they are stored, and the options.
	// Its own Headers and Batch are not used.
	// Unique has no effect on jobs of schedules and must be empty there. Group is,
	// for a schedule, the group of the schedule, and must be empty for a hook.
	store.JobSpec
	// Headers are stored with the job and become JobRow.Headers: at most 100
	// names, and 64 KiB as JSON. Names are valid names (see check.Name) that do
	// not begin with "hourbell-". May be nil.
	Headers map[string]string
	// Origin is store.OriginEnqueue, or for the drafts of a schedule
	// store.OriginSchedule or store.OriginHook.
	Origin store.Origin
	// Schedule is the name of the schedule that makes this job or hook.
	Schedule string
	// Hook is the name of the hook (see HookNames), such as on_failure; else empty.
	Hook string

	made draftOrigin // the fields that middleware must not change
}

// draftOrigin is how a draft was made.
type draftOrigin struct {
	origin         store.Origin
	schedule, hook string
	spec           store.JobSpec // valid; Headers have the headers that Hourbell itself uses, too
	argsSum        uint32        // of spec.Args, because middleware may change them in place
}

// Limits of Draft.Headers.
const (
	maxHeaders     = 100
	maxHeaderBytes = 64 << 10
	ownHeaders     = "hourbell-" // prefix of the headers that Hourbell itself uses
)

// validate returns what is wrong with a draft. A draft without headers that is as it was
// described is valid; a call with many jobs would spend two thirds of its time in the middleware
// on checking these drafts again (BenchmarkEnqueueManyThroughMiddleware).
func (d *Draft) validate() error {
	if len(d.Headers) == 0 && d.asDescribed() {
		return nil
	}
	errs := []error{checkSpec(&d.JobSpec)}
	if d.Group != "" && d.made.origin == store.OriginHook {
		errs = append(errs, &check.FieldError{
			Field: "group", Value: check.Shorten(d.Group), Problem: "is given for a hook",
			Remedy: "leave it empty: the job of a hook runs also while a group is paused",
		})
	}
	if d.Unique != "" && d.made.origin != store.OriginEnqueue {
		errs = append(errs, &check.FieldError{Field: "unique", Value: check.Shorten(d.Unique), Problem: "is given for a job of a schedule", Remedy: "leave it empty"})
	}
	return check.Join(append(errs, checkHeaders(d.Headers))...)
}

// asDescribed reports whether the job is as it was before the middleware, apart from headers.
func (d *Draft) asDescribed() bool {
	described := d.made.spec
	described.Headers = d.JobSpec.Headers // which are not used
	return d.SameButArgs(&described) && crc32.ChecksumIEEE(d.Args) == d.made.argsSum
}

// checkHeaders returns what is wrong with headers. The messages do not contain
// their values, because they may be secret.
func checkHeaders(headers map[string]string) error {
	if len(headers) == 0 {
		return nil
	}
	if len(headers) > maxHeaders {
		return &check.FieldError{Field: "headers", Problem: fmt.Sprintf("have %d names", len(headers)), Remedy: fmt.Sprintf("use at most %d", maxHeaders)}
	}
	var errs []error
	for name := range headers {
		errs = append(errs, check.Name("headers", name))
		if strings.HasPrefix(name, ownHeaders) {
			errs = append(errs, &check.FieldError{
				Field: "headers", Value: check.Shorten(name),
				Problem: "is a name that Hourbell itself uses", Remedy: "use a name that does not begin with " + ownHeaders,
			})
		}
	}
	if text, _ := json.Marshal(headers); len(text) > maxHeaderBytes { // texts can always be encoded
		errs = append(errs, &check.FieldError{
			Field: "headers", Problem: fmt.Sprintf("have %d bytes", len(text)),
			Remedy: fmt.Sprintf("use at most %d; pass a reference to larger data", maxHeaderBytes),
		})
	}
	return check.Join(errs...)
}

// newDraft returns the draft of a valid job.
func newDraft(spec store.JobSpec, origin store.Origin, schedule, hook string) *Draft {
	d := &Draft{JobSpec: spec, Origin: origin, Schedule: schedule, Hook: hook}
	if len(spec.Headers) > 0 {
		d.Headers = userHeaders(spec.Headers)
	}
	d.made, d.JobSpec.Headers = draftOrigin{origin, schedule, hook, spec, crc32.ChecksumIEEE(spec.Args)}, nil
	return d
}

// spec returns the job of a valid draft. The headers that Hourbell uses are
// kept from the spec that the draft was made from.
func (d *Draft) spec() store.JobSpec {
	spec := d.JobSpec
	spec.Headers = plan.WithHeaders(d.made.spec.Headers, d.Headers)
	spec.Batch = 0 // the insert sets it
	return spec
}

// through passes drafts through the enqueue middleware, validates what becomes
// of them, and calls store.
func (c *Client) through(ctx context.Context, drafts []*Draft, store func(ctx context.Context) error) error {
	stored := false
	call := enqueueCall{middleware: c.cfg.EnqueueMiddleware, drafts: drafts, last: func(ctx context.Context) error {
		if stored {
			return errors.New("enqueue middleware has called next twice; the second call stored nothing")
		}
		stored = true
		var errs []error
		for _, draft := range drafts {
			if err := draft.validate(); err != nil {
				errs = append(errs, fmt.Errorf("after the enqueue middleware, %s: %w", draft.name(), err))
			}
		}
		if err := check.Join(errs...); err != nil {
			return err
		}
		return store(ctx)
	}}
	err := call.next(ctx)
	if err == nil && !stored {
		return errors.New("enqueue middleware returned neither an error nor called next, so nothing was stored; return an error to refuse a job")
	}
	return err
}

// name names a draft in messages.
func (d *Draft) name() string {
	switch {
	case d.made.hook != "":
		return fmt.Sprintf("%s of schedule %q", d.made.hook, d.made.schedule)
	case d.made.schedule != "":
		return fmt.Sprintf("the job of schedule %q", d.made.schedule)
	}
	return fmt.Sprintf("a job of kind %q", check.Shorten(d.Kind))
}

// enqueueCall is one call that passes middleware: the middleware that is still
// to be called, and what is called last.
type enqueueCall struct {
	middleware []EnqueueMiddleware
	drafts     []*Draft
	last       func(ctx context.Context) error
}

func (e enqueueCall) next(ctx context.Context) error {
	if len(e.middleware) == 0 {
		return e.last(ctx)
	}
	inner := enqueueCall{e.middleware[1:], e.drafts, e.last}
	return e.middleware[0](ctx, e.drafts, inner.next)
}

// insertThrough passes jobs that a caller has described through the enqueue
// middleware, and stores them by insert.
func (c *Client) insertThrough(ctx context.Context, req store.InsertRequest,
	insert func(context.Context, store.InsertRequest) (store.InsertResult, error),
) (res store.InsertResult, err error) {
	jobs := req.Jobs
	drafts := make([]*Draft, len(jobs))
	for i := range jobs {
		drafts[i] = newDraft(jobs[i].JobSpec, jobs[i].Origin, "", "")
	}
	err = c.through(ctx, drafts, func(ctx context.Context) (err error) {
		for i, draft := range drafts {
			jobs[i].JobSpec = draft.spec()
			if draft.Unique == "" {
				jobs[i].UniqueFor = 0 // without a key there is nothing to hold
			}
		}
		res, err = insert(ctx, req)
		return err
	})
	return res, err
}

// definitionsThrough passes the definitions of schedules, by name in the same
// order, through the enqueue middleware, and then calls store.
func (c *Client) definitionsThrough(ctx context.Context, names []string, definitions []plan.Definition, store func(ctx context.Context) error) error {
	if len(c.cfg.EnqueueMiddleware) == 0 {
		return store(ctx)
	}
	var drafts []*Draft
	var adopt []func()
	for i, name := range names {
		d := &definitions[i]
		for _, part := range d.Parts() {
			draft := newDraft(part.Spec, part.Origin, name, part.Hook)
			drafts = append(drafts, draft)
			adopt = append(adopt, func() { d.Adopt(part, draft.JobSpec, maps.Clone(draft.Headers)) })
		}
	}
	return c.through(ctx, drafts, func(ctx context.Context) error {
		for _, one := range adopt {
			one()
		}
		return store(ctx)
	})
}

// handlerThrough returns the handler that passes an attempt through the work
// middleware and then calls last.
func handlerThrough(middleware []WorkMiddleware, last Handler) Handler {
	for i := len(middleware) - 1; i >= 0; i-- {
		one, next := middleware[i], last
		last = func(ctx context.Context, job *JobRow) error { return one(ctx, job, next) }
	}
	return last
}
