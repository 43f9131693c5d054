package hourbell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// optionSet is a set of options, whatever their values are.
type optionSet uint32

// The options, each as a set.
const (
	optAfter optionSet = 1 << iota
	optAfterAny
	optAt
	optBackoff
	optDryRun
	optEachBatch
	optFromStep
	optGroup
	optIn
	optInBatch
	optInTx
	optKey
	optLimits
	optMaxAttempts
	optNotifyInTx
	optOnConflict
	optOnLoss
	optOutliveParent
	optPriority
	optPushAtMost
	optQueue
	optRunOnStart
	optTimeout
	optUnique
	optUniqueArgs
	optUniqueFor
	optUniqueUntilStart
)

// The names of the options, in the order of the constants.
const optionNames = "After AfterAny At Backoff DryRun EachBatch FromStep Group In InBatch InTx Key Limits MaxAttempts NotifyInTx OnConflict OnLoss " +
	"OutliveParent Priority PushAtMost Queue RunOnStart Timeout Unique UniqueArgs UniqueFor UniqueUntilStart"

// What calls take.
const (
	requestOptions = optAfter | optAfterAny | optAt | optBackoff | optGroup | optIn | optKey | optMaxAttempts | optOnConflict | optOnLoss |
		optPriority | optPushAtMost | optQueue | optTimeout | optUnique | optUniqueArgs | optUniqueFor | optUniqueUntilStart
	enqueueOptions = requestOptions | optInTx | optNotifyInTx | optInBatch
	// optionsOfKind are what the args of a kind may have; the jobs of a schedule take those that are no key.
	optionsOfKind = optBackoff | optGroup | optMaxAttempts | optOnConflict | optOnLoss | optPriority | optPushAtMost | optQueue | optTimeout |
		optUniqueArgs | optUniqueFor | optUniqueUntilStart
	runOnceOptions = optInTx | optUnique | optUniqueFor
	putOptions     = optInTx | optLimits                // of calls that put the schedules of an owner
	putOneOptions  = optInTx | optRunOnStart            // of ScheduleService.Put
	changeOptions  = optInTx | optDryRun | optEachBatch // of calls that change jobs
	retryOptions   = changeOptions | optFromStep        // of JobService.Retry
)

// names returns the names of the options, as in "Key, Queue".
func (s optionSet) names() string {
	var names []string
	for i, name := range strings.Fields(optionNames) {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// except returns an error if options are given that are not among the options that the call takes.
func (s optionSet) except(takes optionSet) error {
	wrong := s &^ takes
	switch {
	case wrong == 0:
		return nil
	case takes&requestOptions == requestOptions:
		return &check.FieldError{Field: "options", Value: wrong.names(), Problem: "are for other calls", Remedy: "leave them out"}
	}
	return &check.FieldError{
		Field: "options", Value: wrong.names(), Problem: "are for other calls",
		Remedy: "leave them out; this call takes only " + takes.names(),
	}
}

// givenOptions returns what options have that a call takes; other options are an error.
func givenOptions(options []Option, takes optionSet) (given enqueuing, err error) {
	for _, option := range options {
		option(&given)
	}
	return given, check.Join(append(given.errs, given.given.except(takes))...)
}

// taken reports whether an option without a value is among options, and returns the others.
func taken(options []Option, option optionSet) (found bool, others []Option) {
	for _, o := range options {
		var one enqueuing
		if o(&one); one.given == option {
			found = true
		} else {
			others = append(others, o)
		}
	}
	return found, others
}

// onlyTx returns the transaction of a call whose only option is InTx; nil: none.
func onlyTx(options []Option) (store.Tx, error) {
	if len(options) == 0 {
		return nil, nil
	}
	given, err := givenOptions(options, optInTx)
	return given.tx, err
}

// kindOptions returns the options that args have for their kind; see Args.
func kindOptions(args Args) []Option {
	if kind, ok := args.(interface{ Options() []Option }); ok {
		return kind.Options()
	}
	return nil
}

// ofKind returns the options of the kind of args, before options of a call.
func ofKind(args Args) (enqueuing, error) {
	return newJobOptions().applied(kindOptions(args), optionsOfKind)
}

// checkKindOptions returns what is wrong with the options of a kind.
func checkKindOptions(args Args) error {
	e, err := ofKind(args)
	if err == nil {
		if e.keyed.given {
			e.Unique = argsKeys // the key of a job is made from its args
		}
		err = e.checkKey()
	}
	if err != nil {
		return fmt.Errorf("options of kind %q: %w", check.Shorten(args.Kind()), err)
	}
	return nil
}

// withKind sets fields that are not set to what the options of the kind of its job say.
func (s Schedule) withKind() (Schedule, error) {
	if len(kindOptions(s.Job)) == 0 {
		return s, nil
	}
	e, err := ofKind(s.Job)
	if err != nil {
		return s, fmt.Errorf("options of kind %q: %w", check.Shorten(s.Job.Kind()), err)
	}
	if s.Queue == "" {
		s.Queue = e.NewJob.Queue
	}
	if s.Priority == 0 {
		s.Priority = int(e.NewJob.Priority)
	}
	if s.MaxAttempts == 0 {
		s.MaxAttempts = int(e.NewJob.MaxAttempts)
	}
	if s.Timeout == 0 {
		s.Timeout = e.NewJob.Timeout
	}
	if s.Backoff == "" {
		s.Backoff = plan.BackoffOf(e.NewJob.Headers)
	}
	if s.OnLoss == RetryOnLoss {
		s.OnLoss = e.NewJob.OnLoss
	}
	return s, nil
}

// warnUnserved reports the first job for each queue that neither this program's node nor another living node serves, if the
// program has workers: the program that enqueues the job was most likely meant to run it. A program without workers may well be
// started before the nodes. It reads nothing in a caller's transaction, whose pool may have no other connection.
func (c *Client) warnUnserved(ctx context.Context, req store.InsertRequest, res store.InsertResult) {
	if len(c.cfg.Workers.byKind) == 0 || req.Tx != nil {
		return
	}
	for i, job := range req.Jobs {
		if _, served := c.cfg.Queues[job.Queue]; served {
			continue
		}
		if _, seen := c.unserved.LoadOrStore(job.Queue, true); seen {
			continue
		}
		nodes, err := c.Nodes.List(ctx)
		if err != nil {
			c.unserved.Delete(job.Queue) // the next job is looked at
			return
		}
		if slices.ContainsFunc(nodes, func(n store.NodeInfo) bool { return n.EndedAt.IsZero() && n.Serves(job.Queue) }) {
			continue
		}
		e := event.Event{Kind: event.QueueUnserved, Time: time.Now(), JobKind: job.Kind, Queue: job.Queue, Detail: "add the queue to Config.Queues of a node"}
		if i < len(res.Jobs) {
			e.Job = res.Jobs[i].ID
		}
		c.relay.send(e)
	}
}

// InTx makes a call part of the caller's transaction: what the call does happens
// if, and only if, the transaction commits, and others see it after the commit. The
// driver makes the value from a transaction: postgres.Tx(tx), postgres.SQLTx(tx),
// sqlite.Tx(tx).
//
// The nodes that the call concerns are woken with the commit or, in bursts of
// enqueues, within milliseconds after it; see NotifyInTx.
//
// Every call with options takes it. Of the calls of ScheduleService, except RunOnce and Put, it is
// the only option, besides Limits of Sync, SyncCopy and PutAll.
//
// A refused call leaves the transaction as it was: it can go on, also in
// PostgreSQL. A transaction that has ended, that another driver made
// (ErrForeignTx), or that is on a database without this store, is an error.
//
// A transaction that changes jobs or schedules holds them until it ends: a job
// that it cancels is not claimed, a schedule that it has put does not fire.
// Everything else goes on, however long the transaction is open. In PostgreSQL it
// therefore does not touch running jobs and live jobs of schedules itself: they
// are cancelled at once after the commit (store.Requested), and to delete or to
// retry a live job of a schedule is refused (ErrNotInTx).
func InTx(tx store.Tx) Option {
	return func(e *enqueuing) {
		e.given |= optInTx
		if tx == nil {
			e.errs = append(e.errs, &check.FieldError{Field: "tx", Problem: "is nil", Remedy: "pass the value that the driver's Tx returned"})
		}
		e.tx = tx
	}
}

// puts returns what the options of a call that puts schedules have: a transaction or limits.
func puts(options []Option, takes optionSet) (tx store.Tx, limits []Limit, err error) {
	given, err := givenOptions(options, takes)
	if given.limits != nil && given.tx != nil {
		err = check.Join(err, &check.FieldError{
			Field: "limits", Problem: "are given together with a transaction, which would keep other changes of limits waiting",
			Remedy: "put them outside of the transaction",
		})
	}
	return given.tx, given.limits, err
}

// flushTime is how long the end of Run waits until wake-ups have been sent.
const flushTime = 2 * time.Second

// NotifyInTx makes an Enqueue with InTx wake a node in the caller's transaction,
// so that the wake-up is part of the commit. Without it many callers' commits
// per second share their wake-ups, which the program sends within milliseconds
// after the commits: such commits do not wait for each other, and a node looks
// for the job within a second if the program dies in between. Use NotifyInTx, or
// call Client.Flush, in programs that exit right after their commit. It has no
// effect without InTx. It is an option of the call, not of a Request.
func NotifyInTx() Option {
	return func(e *enqueuing) {
		e.given |= optNotifyInTx
		e.notifyInTx = true
	}
}

// notifyingTx is a caller's transaction in which an insert notifies.
type notifyingTx struct{ store.Tx }

// callersTx returns the transaction of InTx, which may be a notifyingTx.
func (e *enqueuing) callersTx() store.Tx {
	if e.tx != nil && e.notifyInTx {
		return notifyingTx{e.tx}
	}
	return e.tx
}

// insertRequest returns the request for jobs in the transaction of callersTx.
func insertRequest(tx store.Tx, jobs []store.NewJob) store.InsertRequest {
	if notifying, ok := tx.(notifyingTx); ok {
		return store.InsertRequest{Tx: notifying.Tx, Jobs: jobs, NotifyInTx: true}
	}
	return store.InsertRequest{Tx: tx, Jobs: jobs}
}

// Flush returns when the wake-ups for all jobs that this client has enqueued
// have been sent, as far as their transactions have ended: a program that exits
// after Flush has left nothing to be found by a later look of the nodes. The end
// of Run and the backend's Close do the same. Flush does not wait for
// transactions that are still open. It fails only if ctx ends before.
func (c *Client) Flush(ctx context.Context) error {
	if flusher, ok := store.Able[store.Flusher](c.store); ok {
		return flusher.Flush(ctx)
	}
	return nil
}

// flushAtEnd is Flush at the end of Run. An error costs nothing but a second,
// because nodes look for jobs whose wake-ups were lost.
func (c *Client) flushAtEnd(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	_ = c.Flush(ctx)
}
