package hourbell

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// JobChanges is what a call did with the jobs that its filter selected.
type JobChanges struct {
	// Jobs has the answer for each job: in the order of JobFilter.IDs, or by number.
	// It is nil if the call had EachBatch.
	Jobs []store.JobChange
	// How many jobs there are of each answer; see store.Change.
	Changed, Requested, Missing, Unchanged, KeyTaken int
}

// add adds the answers for a batch of jobs.
func (c *JobChanges) add(jobs []store.JobChange) {
	for _, job := range jobs {
		switch job.Change {
		case store.Changed:
			c.Changed++
		case store.Requested:
			c.Requested++
		case store.Missing:
			c.Missing++
		case store.Unchanged:
			c.Unchanged++
		case store.KeyTaken:
			c.KeyTaken++
		}
	}
}

// changing has the options of a call that changes jobs, and the request for each of
// its batches, without IDs.
type changing struct {
	req       store.ChangeJobsRequest
	filter    JobFilter // for its conditions on the arguments
	eachBatch func([]store.JobChange) error
	dryRun    bool
	fromStep  string
}

// EachBatch is an option of the calls that change jobs: do is called after each batch
// with the answers for its jobs, which are then not collected in JobChanges.Jobs. An
// error of do ends the call.
func EachBatch(do func(jobs []store.JobChange) error) Option {
	return func(e *enqueuing) {
		e.given |= optEachBatch
		e.changes().eachBatch = do
	}
}

// DryRun is an option of the calls that change jobs: the call changes nothing, and
// answers what it would do with the jobs as they are now. Conflicts of unique keys are
// not predicted.
func DryRun() Option {
	return func(e *enqueuing) {
		e.given |= optDryRun
		e.changes().dryRun = true
	}
}

// FromStep is an option of JobService.Retry and GroupService.Retry: the jobs forget the step with this name and the steps that they took after
// it, and take these steps again; the results of the steps before are kept. A job that is to be retried and has not taken the step is an error,
// which names the steps of the job, and none of the jobs of its batch is changed. A signal that is forgotten has to be sent again.
func FromStep(name string) Option {
	return func(e *enqueuing) {
		e.given |= optFromStep
		e.changes().fromStep = name
		if err := check.Name("from", name); err != nil {
			e.errs = append(e.errs, err)
		}
	}
}

// changes returns the options of a call that changes jobs.
func (e *enqueuing) changes() *changing {
	if e.changing == nil {
		e.changing = &changing{}
	}
	return e.changing
}

// newChanging reads the options of a call that changes jobs.
func newChanging(req store.ChangeJobsRequest, options []Option) (changing, error) {
	takes := changeOptions
	if req.Action == store.RetryJobs {
		takes = retryOptions
	}
	given, err := givenOptions(options, takes)
	c := *given.changes()
	c.req = req
	c.req.Tx, c.req.FromStep = given.tx, c.fromStep
	return c, err
}

// Cancel ends jobs that do not run, and asks the nodes of running jobs to end
// the jobs' contexts, which happens within two seconds. A running job that returns
// an error after that is cancelled; a running job that completes is completed.
//
// A filter without IDs leaves the last jobs of batches alone (see Finally), so that they run, or do
// not start, by the ends of the other jobs. Their numbers cancel them.
//
// A filter without a condition on the state selects live jobs. As with all calls
// that change jobs by a filter:
//
// A filter without any condition is an error unless JobFilter.All is set. With an
// empty list of IDs that is not nil the call does nothing. The jobs that match when
// the call begins are changed, smallest number first, in transactions of at most
// 1,000 jobs, and of fewer if the store is slow: up to 1,000 jobs change together or
// not at all. A job that no longer matches when it is to be changed stays as it is.
// If the call ends with an error, the jobs of the batches before stay changed, and
// JobChanges has their answers. Before, Limit and Details of the filter do not count.
//
// With InTx all jobs change in the caller's transaction. A filter without IDs must not
// select more than 1,000 jobs then; it selects them as others see them.
func (s *JobService) Cancel(ctx context.Context, f JobFilter, options ...Option) (JobChanges, error) {
	return s.cancel(ctx, f, "cancelled on request", options...)
}

// cancel is Cancel for a reason.
func (s *JobService) cancel(ctx context.Context, f JobFilter, reason string, options ...Option) (JobChanges, error) {
	return s.change(ctx, "cancel", f, store.ChangeJobsRequest{Action: store.CancelJobs, Reason: reason}, options)
}

// Retry makes finished jobs ready again now, with at least one more attempt,
// and jobs that wait for their due time due now. A finished job with a unique
// key takes the key back; if another live job has the key, the answer is
// store.KeyTaken with the number of that job, and nothing changes. An operator
// decides to retry a job, so a FailOnLoss job starts again too.
//
// Jobs that were not started because of a job that is retried wait again, as do the jobs
// that follow these; jobs that have run do not run again. A job that was not started and is
// retried itself does not wait.
//
// The jobs keep what they remember (see Step), so that the next attempt skips the steps that have been taken; FromStep lets them forget
// the last of their steps.
//
// A filter without a condition on the state selects failed jobs. See Cancel for
// filters and batches.
func (s *JobService) Retry(ctx context.Context, f JobFilter, options ...Option) (JobChanges, error) {
	return s.change(ctx, "retry", f, store.ChangeJobsRequest{Action: store.RetryJobs}, options)
}

// Delete removes jobs that do not run, with all records of them.
//
// A filter without a condition on the state selects all jobs that do not run, live
// and finished. See Cancel for filters and batches.
func (s *JobService) Delete(ctx context.Context, f JobFilter, options ...Option) (JobChanges, error) {
	return s.change(ctx, "delete", f, store.ChangeJobsRequest{Action: store.DeleteJobs}, options)
}

// Move puts jobs that have not finished and do not run into another queue. A job
// that is due is due from now on, behind the jobs that are due in that queue
// already; moved jobs keep the order of their numbers.
//
// A filter without a condition on the state selects the jobs that can be moved. See
// Cancel for filters and batches.
func (s *JobService) Move(ctx context.Context, f JobFilter, queue string, options ...Option) (JobChanges, error) {
	if err := check.Name("to", queue); err != nil {
		return JobChanges{}, fmt.Errorf("move jobs: %w", err)
	}
	return s.change(ctx, "move", f, store.ChangeJobsRequest{Action: store.MoveJobs, Queue: queue}, options)
}

// Reprioritise gives jobs that have not finished and do not run another priority,
// 1 (first) … 9 (last). A job that is due is due from now on, behind the jobs with
// that priority that are due already.
//
// A filter without a condition on the state selects the jobs that can be changed.
// See Cancel for filters and batches.
func (s *JobService) Reprioritise(ctx context.Context, f JobFilter, priority int, options ...Option) (JobChanges, error) {
	if err := checkPriority(priority); err != nil {
		return JobChanges{}, fmt.Errorf("reprioritise jobs: %w", err)
	}
	return s.change(ctx, "reprioritise", f, store.ChangeJobsRequest{Action: store.ReprioritiseJobs, Priority: int16(priority)}, options)
}

func (s *JobService) change(ctx context.Context, verb string, f JobFilter, req store.ChangeJobsRequest, options []Option) (out JobChanges, err error) {
	c, err := newChanging(req, options)
	c.req.By, c.filter = s.client.actor(ctx), f
	match, filterErr := s.toChange(ctx, f, req.Action)
	if err = check.Join(err, filterErr); err == nil {
		err = s.changeMatching(ctx, c, match, &out)
	}
	if err != nil {
		err = fmt.Errorf("%s jobs: %w", verb, err)
	}
	return out, err
}

// toChange returns the conditions of a filter for a call that changes jobs.
func (s *JobService) toChange(ctx context.Context, f JobFilter, action store.JobAction) (store.JobFilter, error) {
	match, err := s.conditions(ctx, f)
	if err == nil && match.Empty() && match.IDs == nil && len(f.Args) == 0 && !f.All {
		err = &check.FieldError{Field: "filter", Problem: "selects all jobs", Remedy: "give a condition or the numbers of jobs, or state that all are meant"}
	}
	if match.IDs == nil && len(match.States) == 0 && !match.Narrowed() {
		match.States = action.States()
	}
	match.NotLast = match.IDs == nil && action == store.CancelJobs
	return match, err
}

const (
	maxBatch = 1000 // jobs that are changed in one transaction, if the store is fast
	minBatch = 50   // … and if it is slow
	// batchAim is how long a batch should take at most. Claims and outcomes may have
	// to wait for it, in SQLite all of them.
	batchAim = 500 * time.Millisecond
	// foundAtOnce is how many jobs are looked up at a time. Each look may read all
	// jobs, so that it is made for many batches.
	foundAtOnce = 10_000
)

// nextBatch returns the size of the batch after one that took so long.
func nextBatch(size int, took time.Duration) int {
	switch {
	case took > batchAim:
		return max(size/2, minBatch)
	case took < batchAim/2:
		return min(size*2, maxBatch)
	}
	return size
}

// changeMatching changes the jobs that a filter selects, and adds the answers to out
// after each batch.
func (s *JobService) changeMatching(ctx context.Context, c changing, match store.JobFilter, out *JobChanges) error {
	size := maxBatch
	for ids, err := range s.selected(ctx, c.filter, match) {
		if c.req.Tx != nil {
			if err := checkOneTx(match, ids); err != nil {
				return err
			}
			size = max(len(ids), 1)
		}
		for len(ids) > 0 && err == nil {
			n := min(size, len(ids))
			began := time.Now()
			var jobs []store.JobChange
			if jobs, c.req.EntryID, err = s.changeBatch(ctx, c, match, ids[:n]); err != nil {
				break
			}
			size, ids = nextBatch(size, time.Since(began)), ids[n:]
			err = c.report(jobs, out)
			if err == nil && c.req.Action == store.CancelJobs {
				err = s.cancelChildren(ctx, c, jobs, out)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkOneTx returns why jobs that a filter selects cannot be changed in one transaction of the program, or nil.
func checkOneTx(match store.JobFilter, ids []int64) error {
	if match.IDs != nil || len(ids) <= maxBatch {
		return nil
	}
	return &check.FieldError{
		Field: "filter", Problem: fmt.Sprintf("selects more than %d jobs for one transaction", maxBatch),
		Remedy: "select fewer jobs, or leave InTx out",
	}
}

// report counts the answers of a batch in out, and passes the answers on.
func (c changing) report(jobs []store.JobChange, out *JobChanges) error {
	out.add(jobs)
	if c.eachBatch != nil {
		return c.eachBatch(jobs)
	}
	out.Jobs = append(out.Jobs, jobs...)
	return nil
}

// selected yields the numbers of the jobs that a filter selects: the numbers that it
// has, or else the numbers of the jobs that match, smallest first. Jobs that are made after
// the first look are not selected. They also met the conditions of f on the arguments when they were read.
func (s *JobService) selected(ctx context.Context, f JobFilter, match store.JobFilter) iter.Seq2[[]int64, error] {
	return func(yield func([]int64, error) bool) {
		if match.IDs != nil && (len(f.Args) == 0 || len(match.IDs) == 0) {
			yield(match.IDs, nil)
			return
		}
		page := store.ListJobsRequest{JobFilter: match, OldestFirst: true, Limit: foundAtOnce}
		for {
			jobs, err := s.listed(ctx, f, page)
			ids := converted(jobs, func(j store.JobInfo) int64 { return j.ID })
			last := err != nil || len(jobs) < foundAtOnce
			if !last && page.Before == 0 {
				page.Before, err = s.afterNewest(ctx, match)
			}
			if !yield(ids, err) || last || err != nil {
				return
			}
			page.After = ids[len(ids)-1]
		}
	}
}

// afterNewest returns the number after the newest job that matches.
func (s *JobService) afterNewest(ctx context.Context, match store.JobFilter) (int64, error) {
	newest, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: match, Limit: 1})
	if err != nil || len(newest) == 0 {
		return 1, err
	}
	return newest[0].ID + 1, nil
}

// changeBatch changes some jobs in one transaction. Jobs that were selected by a
// filter and do not match any more are left out of the answer. entry is the number of the entry
// in the audit for this batch and the batches before.
func (s *JobService) changeBatch(ctx context.Context, c changing, match store.JobFilter, ids []int64) (jobs []store.JobChange, entry int64, err error) {
	named := match.IDs != nil
	match.IDs = nil
	c.req.IDs, c.req.Match = ids, match
	change := s.client.backend.ChangeJobs
	if c.dryRun {
		change = s.preview
	}
	res, err := change(ctx, c.req)
	if noStep, ok := errors.AsType[*store.NoStepError](err); ok {
		err = noStepField(noStep)
	}
	if err != nil || named {
		return res.Changes, res.EntryID, err
	}
	return slices.DeleteFunc(res.Changes, func(j store.JobChange) bool { return j.Change == store.Missing }), res.EntryID, nil
}

// noStepField returns the error of FromStep for a job that has not taken the step.
func noStepField(e *store.NoStepError) error {
	bad := &check.FieldError{
		Field: "from", Value: check.Shorten(e.Name), Problem: fmt.Sprintf("is no step that job %d has taken", e.Job),
		Remedy: "retry the job without it: the job has taken no step",
	}
	if len(e.Has) > 0 {
		bad.Remedy = fmt.Sprintf("use one of its steps: %q", e.Has)
	}
	return bad
}

// preview returns what a request would do with the jobs as they are now.
func (s *JobService) preview(ctx context.Context, req store.ChangeJobsRequest) (store.ChangeJobsResult, error) {
	match := req.Match
	match.IDs = req.IDs
	jobs, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: match, Limit: len(req.IDs)})
	if err != nil {
		return store.ChangeJobsResult{}, err
	}
	states := map[int64]store.State{}
	for _, job := range jobs {
		states[job.ID] = job.State
	}
	plan := req.Action.Plan(req.IDs, states)
	if ids := slices.Concat(plan.Pull, plan.Revive); req.FromStep != "" && len(ids) > 0 {
		steps, err := store.List[store.Step](ctx, s.client.backend, store.ListRequest{IDs: ids})
		if err == nil {
			_, err = req.Forgets(ids, steps)
		}
		if err != nil {
			return store.ChangeJobsResult{}, err
		}
	}
	return store.ChangeJobsResult{Changes: plan.Changes}, nil
}
