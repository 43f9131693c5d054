package work

import (
	"context"
	"io"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/tail"
	"github.com/hourbell/hourbell/store"
)

// maxSavedOutput is about how many bytes of output a node stores in one round. Runs for which there is
// no room wait for the next round.
const maxSavedOutput = 4 << 20

// outputKept is how many bytes of the output of a run are kept.
const outputKept = store.OutputBlocks * store.OutputBlock

// printed is what a run has printed.
type printed struct {
	tail  *tail.Tail
	saved int64 // so many bytes are in the store, except what is not kept
	sent  bool  // SaveOutput may have stored some of it
	over  bool  // the run has an outcome, which brings the output
}

// newOutput returns the saver of the output of runs.
func newOutput(s Store, callTimeout time.Duration, report *loop.Report) *saver {
	return newSaver("save output", report, func(ctx context.Context, runs []*Run) (left []*Run, again bool, err error) {
		var req store.SaveOutputRequest
		sent := map[store.ClaimRef]*Run{}
		size, n := 0, 0
		for ; n < len(runs) && size < maxSavedOutput; n++ {
			if claim, ok := runs[n].unsaved(); ok {
				req.Claims = append(req.Claims, claim)
				size += len(claim.Data)
				sent[claim.ClaimRef] = runs[n]
			}
		}
		left = runs[n:]
		if len(req.Claims) == 0 {
			return left, true, nil
		}
		call, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		saved, err := s.SaveOutput(call, req)
		if err != nil {
			return nil, false, err
		}
		stored := map[store.ClaimRef]bool{}
		for _, ref := range saved {
			stored[ref] = true
		}
		for _, claim := range req.Claims {
			if run := sent[claim.ClaimRef]; stored[claim.ClaimRef] {
				run.setSaved(claim.From + int64(len(claim.Data)))
			} else { // its job is locked, or the claim is lost and the run will end
				left = append(left, run)
			}
		}
		return left, true, nil
	})
}

// unsaved returns the output that is not stored; false: there is none, or the run is over.
func (r *Run) unsaved() (c store.ClaimOutput, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.printed.over || r.printed.tail == nil {
		return c, false
	}
	c.ClaimRef = r.ref()
	c.Data, c.From = r.printed.tail.Since(r.printed.saved/store.OutputBlock*store.OutputBlock, store.OutputBlock)
	if c.From+int64(len(c.Data)) == r.printed.saved || len(c.Data) == 0 {
		return c, false
	}
	r.printed.sent = true
	return c, true
}

// setSaved records that bytes up to end are stored.
func (r *Run) setSaved(end int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.printed.saved = end
}

// output returns where the output is kept, and makes it when it is first used.
func (r *Run) output() *tail.Tail {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.printed.tail == nil {
		r.printed.tail = tail.New(outputKept)
	}
	return r.printed.tail
}

// changed has new output saved, unless the run is over.
func (r *Run) changed() {
	if r.runner != nil && !r.delivered.Load() {
		r.runner.output.add(r)
	}
}

// Printer returns a writer for the output of the run. Its last store.OutputLimit bytes are kept. Write
// returns at once and never fails. Concurrent calls are allowed.
func (r *Run) Printer() io.Writer { return printer{r} }

type printer struct{ run *Run }

// Write appends to the output.
func (p printer) Write(text []byte) (int, error) {
	n, err := p.run.output().Write(text)
	p.run.changed()
	return n, err
}

// Skip counts n bytes of the output that are lost.
func (p printer) Skip(n int64) {
	p.run.output().Skip(n)
	p.run.changed()
}

// SetOutput makes output the output of the run, in place of all that was printed before.
func (r *Run) SetOutput(output []byte) {
	r.output().Set(output)
	r.setSaved(0)
	r.changed()
}

// Output returns the last store.OutputLimit bytes of the output.
func (r *Run) Output() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastOutput()
}

// lastOutput is Output for callers that hold mu.
func (r *Run) lastOutput() []byte {
	if r.printed.tail == nil {
		return nil
	}
	output := r.printed.tail.Bytes()
	return output[max(len(output)-store.OutputLimit, 0):]
}

// addTo adds to an outcome what the attempt has left. Output that is printed later is not stored.
func (r *Run) addTo(outcome *store.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	outcome.Output, outcome.Value = r.lastOutput(), r.value
	if r.printed.tail != nil {
		outcome.Printed = r.printed.tail.Total()
	}
	r.printed.over = true
	outcome.OutputSaved = r.printed.sent
}
