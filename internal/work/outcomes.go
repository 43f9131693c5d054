package work

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// result is an outcome that is to be written, with the data of its event.
type result struct {
	outcome store.Outcome
	run     *Run // nil: a claim that this node did not know
	took    time.Duration
	closes  time.Duration // for how long nothing starts under the limits of the job; 0: they stay as they are
	err     error
	why     string
}

// outcomes collects results and writes them in batches. The results that arrive while a batch is
// written are the next batch. No result is dropped while the process lives. If the store refuses an
// outcome, the claim was lost to another node, and an event reports it. After a batch has failed,
// batches are halved, so that a result that the store cannot write does not hold up the others.
type outcomes struct {
	store       Store
	around      loop.Ambient
	callTimeout time.Duration
	report      *loop.Report
	inFlight    *InFlight
	node        func() string // the name of the node
	wake        loop.Signal

	mu       sync.Mutex
	waiting  []result
	writing  int            // results in batches that are being written
	limit    int            // size of the next batch; less than maxOutcomes after a failure
	failures int            // number of failures in a row
	jobs     map[int64]bool // job ids of the batch that take builds; reused
}

const (
	maxOutcomes     = 4000    // per statement
	maxOutcomeBytes = 8 << 20 // per statement, approximately
	// maxBacklog is the greatest number of unwritten results with which the node still claims jobs.
	maxBacklog = 2 * maxOutcomes
	// writers is the greatest number of batches that are written concurrently. A second batch is
	// begun only when it is full, because small batches cost the store more than they gain.
	writers = 2
)

func newOutcomes(s Store, callTimeout time.Duration, report *loop.Report, inFlight *InFlight, node func() string) *outcomes {
	return &outcomes{
		store: s, around: loop.Around(s), callTimeout: callTimeout, report: report, inFlight: inFlight, node: node,
		wake: loop.NewSignal(), limit: maxOutcomes, jobs: map[int64]bool{},
	}
}

// put adds a result; it never blocks.
func (o *outcomes) put(r result) {
	o.mu.Lock()
	o.waiting = append(o.waiting, r)
	worth := o.worthWriting()
	o.mu.Unlock()
	if worth {
		o.wake.Notify()
	}
}

// worthWriting reports whether a batch may be begun now. The caller holds mu.
func (o *outcomes) worthWriting() bool {
	return len(o.waiting) > 0 && (o.writing == 0 || len(o.waiting) >= maxOutcomes && o.limit == maxOutcomes)
}

// backlog returns the number of results that are not written yet.
func (o *outcomes) backlog() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) + o.writing
}

// take appends the next batch to buffer; nothing if no batch is worth writing now. A batch never
// contains two results of one job. A node may have two if it lost a claim and then claimed the job
// again.
func (o *outcomes) take(buffer []result) []result {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.worthWriting() {
		return buffer
	}
	size, n := 0, 0
	clear(o.jobs)
	for n < len(o.waiting) && n < o.limit && size < maxOutcomeBytes {
		out := &o.waiting[n].outcome
		if o.jobs[out.ID] {
			break
		}
		o.jobs[out.ID] = true
		size += len(out.Output) + len(out.Error) + len(out.Trace) + len(out.Value)
		n++
	}
	buffer = append(buffer, o.waiting[:n]...)
	o.waiting = slices.Delete(o.waiting, 0, n)
	o.writing += n
	return buffer
}

// putBack returns a batch that could not be written: to the front, or to the end if it is a single
// result. It halves the size of the next batch, and returns the number of failures in a row before
// this failure.
func (o *outcomes) putBack(batch []result) (failures int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing -= len(batch)
	o.limit = max(len(batch)/2, 1)
	o.failures++
	if len(batch) == 1 {
		o.waiting = append(o.waiting, batch[0])
	} else {
		o.waiting = slices.Insert(o.waiting, 0, batch...)
	}
	return o.failures - 1
}

// done records that a batch was written.
func (o *outcomes) done(batch []result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing -= len(batch)
	o.limit, o.failures = min(2*o.limit, maxOutcomes), 0
}

// run writes batches until ctx ends.
func (o *outcomes) run(ctx context.Context) {
	var loops sync.WaitGroup
	for range writers {
		loops.Go(func() { o.writeBatches(ctx) })
	}
	loops.Wait()
}

// writeBatches writes one batch after another until ctx ends.
func (o *outcomes) writeBatches(ctx context.Context) {
	var batch []result // batch and outcomes are reused
	var outcomes []store.Outcome
	for {
		batch = o.take(batch[:0])
		if len(batch) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-o.wake:
				o.around.Step(ctx, "outcomes") // what is put at one instant makes one batch
			}
			continue
		}
		outcomes = outcomes[:0]
		for _, r := range batch {
			outcomes = append(outcomes, r.outcome)
		}
		written := o.write(ctx, batch, outcomes)
		failures := 0
		if !written {
			failures = o.putBack(batch)
		}
		clear(batch) // releases the memory of the jobs
		clear(outcomes)
		if !written && loop.Sleep(ctx, loop.RetryWait(failures, o.around.Random("outcomes"))) != nil {
			return
		}
	}
}

// write writes a batch, and reports whether it was written.
func (o *outcomes) write(ctx context.Context, batch []result, outcomes []store.Outcome) bool {
	call, cancel := context.WithTimeout(ctx, o.callTimeout)
	defer cancel()
	if limited := limitedJobs(batch); len(limited) > 0 { // before their permits are free
		if err := o.store.CloseLanes(call, store.CloseLanesRequest{Jobs: limited}); err != nil {
			if ctx.Err() == nil {
				o.report.StoreFailed("close lanes", err)
			}
			return false
		}
		o.report.StoreWorks("close lanes")
	}
	res, err := o.store.Finish(call, store.FinishRequest{Outcomes: outcomes, Node: o.node()})
	if err != nil {
		if ctx.Err() == nil {
			o.report.StoreFailed("record outcomes", err)
		}
		return false
	}
	o.report.StoreWorks("record outcomes")
	o.written(batch, res.Refused)
	return true
}

// limitedJobs returns the jobs of a batch whose workers have asked that nothing starts under their limits.
func limitedJobs(batch []result) (jobs []store.LimitedJob) {
	for i := range batch {
		if r := &batch[i]; r.closes > 0 {
			jobs = append(jobs, store.LimitedJob{JobSpec: r.run.JobSpec, For: r.closes})
		}
	}
	return jobs
}

func (o *outcomes) written(batch []result, refused []store.ClaimRef) {
	o.inFlight.drop(batch)
	o.done(batch)
	for i := range batch {
		if r := &batch[i]; r.run != nil {
			o.report.Emit(r.event(slices.Contains(refused, r.run.ref())))
		}
	}
}

// end reports a result that is not to be written, because its run completed the job in a transaction
// of the worker or lost its claim.
func (o *outcomes) end(r result, lost bool) {
	o.inFlight.drop([]result{r})
	o.report.Emit(r.event(lost))
}

// event returns the event of a result; refused: the store refused the outcome.
func (r *result) event(refused bool) event.Event {
	e := r.run.event(event.ClaimLost)
	e.Took, e.Err, e.Trace, e.Output = r.took, r.err, r.outcome.Trace, lastLine(r.outcome.Output)
	if refused {
		return e
	}
	switch r.outcome.Result {
	case store.Completed:
		e.Kind = event.JobCompleted
	case store.Failed:
		e.Kind = event.JobFailed
	case store.Cancelled:
		e.Kind, e.Detail = event.JobCancelled, r.why
	case store.Retry:
		e.Kind, e.Delay = event.JobRetried, r.outcome.Delay
	case store.Snooze:
		e.Kind, e.Delay, e.Err = event.JobSnoozed, r.outcome.Delay, nil
	case store.Release:
		e.Kind, e.Detail, e.Err = event.JobReleased, r.why, nil
	}
	return e
}

// maxLine is how many bytes of the last line of an attempt's output its event contains.
const maxLine = 200

// lastLine returns the last line of output that is not blank.
func lastLine(output []byte) string {
	output = bytes.TrimRight(output, " \t\r\n")
	line := output[bytes.LastIndexByte(output, '\n')+1:]
	if len(line) > maxLine {
		line = append(bytes.Clone(line[:maxLine]), "…"...)
	}
	return cleanText(string(line))
}
