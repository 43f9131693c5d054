package hourbelltest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// Attempt is the end of an attempt at a job.
type Attempt struct {
	// Claimed is the job as it was claimed: ID, Kind, Args, Queue, Attempt (the number of the attempt),
	// Schedule, Slot and so on.
	store.Claimed
	// Result is store.Completed, Failed, Retry, Snooze, Cancelled or Release.
	Result store.Result
	// Err is why the attempt did not complete the job: the error of the worker, if it was a worker of
	// Kit.Client, else an error with the text that is stored. nil: none.
	Err error
	// Delay is when the job runs again, from the end of the attempt on; of Retry and Snooze.
	Delay time.Duration
	// Output is the last 64 KiB of what the attempt printed (JobRow.Log).
	Output []byte
	// Value is the result that the worker has set (JobRow.SetResult), as JSON; nil: none.
	Value []byte
}

// String describes the attempt in a line.
func (a Attempt) String() string {
	text := fmt.Sprintf("job %d (%s), attempt %d: %s", a.ID, a.Kind, a.Attempt, results[a.Result])
	if a.Delay > 0 {
		text += fmt.Sprintf(" in %v", a.Delay)
	}
	if a.Err != nil {
		text += ": " + a.Err.Error()
	}
	return text
}

// results are the words for results.
var results = map[store.Result]string{
	store.Completed: "completed", store.Failed: "failed", store.Cancelled: "cancelled", store.Retry: "retry", store.Snooze: "snooze", store.Release: "release",
}

// Work enqueues a job and runs one attempt at it, at once and alone: no other job runs, and no slot
// fires. The job is decoded and passes middleware as every job, and its outcome is stored: after a
// Retry the job is there for RunDue. The test fails if the job cannot run at present.
func (k *Kit) Work(args hourbell.Args, options ...hourbell.Option) Attempt {
	k.t.Helper()
	enqueued, err := k.Client.Enqueue(k.context(), args, options...)
	k.fail("work", err)
	job, err := k.Client.Jobs.Get(k.context(), enqueued.ID)
	k.fail("work", err)
	k.settleJob(job)
	for _, attempt := range k.attempts() {
		if attempt.ID == job.ID {
			return attempt
		}
	}
	job, err = k.Client.Jobs.Get(k.context(), enqueued.ID)
	k.fail("work", err)
	why, remedy := k.whyNot(job)
	if remedy != "" {
		why += "; " + remedy
	}
	k.t.Fatalf("hourbelltest: work: job %d of kind %s did not run: %s", job.ID, job.Kind, why)
	return Attempt{}
}

// whyNot returns why a job did not run and, where other calls than Work let it run, which.
func (k *Kit) whyNot(job store.JobInfo) (why, remedy string) {
	switch {
	case job.State == store.StateRunning:
		return "it waits for the clock (hourbelltest.Sleep)", "use Advance after Enqueue"
	case job.State.Finished():
		return "it had ended as " + job.State.String(), ""
	case job.State == store.StateWaiting:
		why, remedy = "it waits for other jobs", "use RunDue after Enqueue"
		reasons, err := k.Client.Jobs.Waits(k.context(), job)
		k.fail("look for the jobs before a job", err)
		if reason := reasons[job.ID]; reason != "" {
			why = "it " + reason
		}
		return why, remedy
	case job.Parked:
		return k.whyParked(job), ""
	}
	nodes, err := k.Client.Nodes.List(k.context())
	k.fail("list the nodes", err)
	runs := func(n store.NodeInfo) bool { return n.EndedAt.IsZero() && n.Runs(job.Kind) }
	switch {
	case !slices.ContainsFunc(nodes, runs):
		return "no running client over Kit.Backend has a worker of the kind; register it", ""
	case !slices.ContainsFunc(nodes, func(n store.NodeInfo) bool { return runs(n) && n.Serves(job.Queue) }):
		return fmt.Sprintf("no running client over Kit.Backend that has a worker of the kind serves the queue %q; add it to Config.Queues", job.Queue), ""
	case job.RunAt.After(k.Now()):
		return fmt.Sprintf("it is due at %v, and the clock shows %v", job.RunAt, k.Now()), "use Enqueue and Advance"
	}
	pauses, err := k.Client.Jobs.Pauses(k.context(), job)
	k.fail("list the pauses", err)
	if len(pauses) > 0 {
		return fmt.Sprintf("the %v %q is paused", pauses[0].Subject, pauses[0].Name), ""
	}
	return "a limit, Restricted or Config.Admission keeps it from running", ""
}

// whyParked returns for what a job lies aside, until when, and which call lets it go on.
func (k *Kit) whyParked(job store.JobInfo) string {
	open := k.openSteps(job.ID)
	switch until := fmt.Sprintf("until %v", job.RunAt); {
	case len(open) == 0: // the step has ended since
		return "it is parked " + until
	case open[0].Sort == store.StepChildren:
		return fmt.Sprintf("it is parked: it waits for its children, the jobs of batch %d", open[0].Children().Batch)
	case open[0].Sort != store.StepSignal:
		return fmt.Sprintf("it is parked: its step %q sleeps %s; move the clock with Advance", open[0].Name, until)
	case open[0].Until.IsZero():
		return fmt.Sprintf("it is parked: it waits for the signal %q, without end; send the signal with kit.Signal", open[0].Name)
	default:
		return fmt.Sprintf("it is parked: it waits for the signal %q %s; send the signal with kit.Signal, or let the time pass with Advance", open[0].Name, until)
	}
}

// openSteps returns the steps of jobs that lie aside whose waits have not ended.
func (k *Kit) openSteps(jobs ...int64) []store.Step {
	if len(jobs) == 0 {
		return nil
	}
	steps, err := store.List[store.Step](k.context(), k.Backend, store.ListRequest{IDs: jobs})
	k.fail("list the steps of jobs that are parked", err)
	return slices.DeleteFunc(steps, func(s store.Step) bool { return !s.Open })
}

// attempts returns the attempts that have ended since the last call.
func (k *Kit) attempts() []Attempt {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []Attempt
	for _, e := range k.clock.TakeEnded() {
		o := e.Outcome
		ref := store.ClaimRef{ID: e.ID, Token: e.Token}
		err := k.errs[ref]
		if err == nil && o.Error != "" {
			err = errors.New(o.Error)
		}
		delete(k.errs, ref)
		out = append(out, Attempt{Claimed: e.Claimed, Result: o.Result, Err: err, Delay: o.Delay, Output: o.Output, Value: o.Value})
	}
	return out
}
