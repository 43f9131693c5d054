package engine

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// result is an outcome on its way to the store, and what is told of it.
type result struct {
	outcome store.Outcome
	run     *Run // nil: a claim this node knew nothing of
	took    time.Duration
	err     error
	why     string
}

// outcomes gathers results and writes them in batches: what came while one
// batch was written is the next. None is ever dropped while the process lives;
// one that the store refuses was lost to another node, and that is told. A
// batch that fails is tried again in halves, so that a result which the store
// cannot take holds up no other.
type outcomes struct {
	engine *Engine
	wake   signal

	mu       sync.Mutex
	waiting  []result
	writing  int            // in the batches under way
	limit    int            // of the next batch; less than maxOutcomes after a failure
	failures int            // in a row
	jobs     map[int64]bool // of the batch that is taken; filled again and again
}

const (
	maxOutcomes     = 4000    // of one statement
	maxOutcomeBytes = 8 << 20 // of one statement, about
	// maxBacklog is how many may wait or be under way before no more jobs are claimed.
	maxBacklog = 2 * maxOutcomes
	// writers is how many batches may be under way at a time. A second one is
	// begun only when it is full: small ones cost the store more than they bring.
	writers = 2
)

func newOutcomes(e *Engine) *outcomes {
	return &outcomes{engine: e, wake: newSignal(), limit: maxOutcomes, jobs: map[int64]bool{}}
}

// put takes a result; it never blocks.
func (o *outcomes) put(r result) {
	o.mu.Lock()
	o.waiting = append(o.waiting, r)
	worth := o.worthWriting()
	o.mu.Unlock()
	if worth {
		o.wake.notify()
	}
}

// worthWriting says whether a batch may be begun now. The caller holds mu.
func (o *outcomes) worthWriting() bool {
	return len(o.waiting) > 0 && (o.writing == 0 || len(o.waiting) >= maxOutcomes && o.limit == maxOutcomes)
}

// backlog counts the results that are not written yet.
func (o *outcomes) backlog() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) + o.writing
}

// take appends the next batch to buffer, or nothing if none is worth writing now.
// Two results of one job, which a node may have when it lost a claim and got the
// job again, never meet in one.
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
		size += len(out.Output) + len(out.Error) + len(out.Trace)
		n++
	}
	buffer = append(buffer, o.waiting[:n]...)
	o.waiting = slices.Delete(o.waiting, 0, n)
	o.writing += n
	return buffer
}

// putBack returns a batch that could not be written: to its place, or, a single
// one, to the end. The next is half as large. It returns how many failed in a
// row before.
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

// done forgets a batch that was written.
func (o *outcomes) done(batch []result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing -= len(batch)
	o.limit, o.failures = min(2*o.limit, maxOutcomes), 0
}

// run writes until ctx ends.
func (o *outcomes) run(ctx context.Context) {
	var loops sync.WaitGroup
	for range writers {
		loops.Go(func() { o.writeBatches(ctx) })
	}
	loops.Wait()
}

// writeBatches writes one batch after another until ctx ends.
func (o *outcomes) writeBatches(ctx context.Context) {
	var batch []result // both are filled again and again
	var outcomes []store.Outcome
	for {
		batch = o.take(batch[:0])
		if len(batch) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-o.wake:
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
		clear(batch) // holds no job any longer
		clear(outcomes)
		if !written && sleep(ctx, retryWait(failures)) != nil {
			return
		}
	}
}

// write sends a batch once.
func (o *outcomes) write(ctx context.Context, batch []result, outcomes []store.Outcome) bool {
	e := o.engine
	call, cancel := context.WithTimeout(ctx, e.cfg.CallTimeout)
	defer cancel()
	res, err := e.cfg.Backend.Finish(call, store.FinishRequest{Outcomes: outcomes})
	if err != nil {
		if ctx.Err() == nil {
			e.storeErrors.add("record outcomes", err)
		}
		return false
	}
	e.storeErrors.clear("record outcomes")
	o.written(batch, res.Refused)
	return true
}

func (o *outcomes) written(batch []result, refused []store.ClaimRef) {
	o.engine.inFlight.drop(batch)
	o.done(batch)
	for i := range batch {
		if r := &batch[i]; r.run != nil {
			o.engine.emit(r.event(slices.Contains(refused, r.run.ref())))
		}
	}
}

// event tells what became of a run.
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
	case store.Release:
		e.Kind, e.Detail, e.Err = event.JobReleased, r.why, nil
	}
	return e
}

// mostLine is how much of an attempt's last line goes into its event.
const maxLine = 200

// lastLine is the last line of an output that is not blank, for people.
func lastLine(output []byte) string {
	output = bytes.TrimRight(output, " \t\r\n")
	line := output[bytes.LastIndexByte(output, '\n')+1:]
	if len(line) > maxLine {
		line = append(bytes.Clone(line[:maxLine]), "…"...)
	}
	return cleanText(string(line))
}
