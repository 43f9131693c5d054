package work

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

const (
	// progressGap is the shortest interval between two writes of progress. Each write has the newest
	// progress of each run that has reported any since the last write.
	progressGap = time.Second
	// maxProgress is how many runs a write contains at most.
	maxProgress = 5000
	// maxNote is how many bytes of a note are kept.
	maxNote = 1 << 10
)

// progress collects the progress that runs report and writes it in batches. A failure to write is
// retried with the progress that is the newest then; it never ends a run.
type progress struct {
	store       Store
	callTimeout time.Duration
	report      *loop.Report
	wake        loop.Signal

	mu      sync.Mutex
	waiting map[*Run]struct{} // runs whose newest progress is not written
	writing sync.Mutex        // held during a write, so that an older progress cannot overtake a newer progress
}

func newProgress(s Store, callTimeout time.Duration, report *loop.Report) *progress {
	return &progress{store: s, callTimeout: callTimeout, report: report, wake: loop.NewSignal(), waiting: map[*Run]struct{}{}}
}

// add adds a run whose progress has changed; it never blocks for long.
func (p *progress) add(run *Run) {
	p.mu.Lock()
	p.waiting[run] = struct{}{}
	p.mu.Unlock()
	p.wake.Notify()
}

// take returns the runs whose newest progress is not written.
func (p *progress) take() []*Run {
	p.mu.Lock()
	defer p.mu.Unlock()
	runs := slices.Collect(maps.Keys(p.waiting))
	clear(p.waiting)
	return runs
}

// run writes progress until ctx ends.
func (p *progress) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		p.write(ctx)
		if loop.Sleep(ctx, progressGap) != nil {
			return
		}
	}
}

// write writes the newest progress of the runs that have reported any until now.
func (p *progress) write(ctx context.Context) {
	p.writing.Lock()
	defer p.writing.Unlock()
	for runs := range slices.Chunk(p.take(), maxProgress) {
		if err := p.save(ctx, runs); err != nil {
			for _, run := range runs {
				p.add(run)
			}
			if ctx.Err() == nil {
				p.report.StoreFailed("save progress", err)
			}
			continue
		}
		p.report.StoreWorks("save progress")
	}
}

// save writes the newest progress of runs in one call.
func (p *progress) save(ctx context.Context, runs []*Run) error {
	claims := make([]store.ClaimProgress, len(runs))
	for i, run := range runs {
		claims[i] = store.ClaimProgress{ClaimRef: run.ref(), Progress: run.Progress()}
	}
	call, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	return p.store.SaveProgress(call, store.SaveProgressRequest{Claims: claims})
}

// SetProgress stores how far the run has come, to be written within about a second. Negative numbers
// count as 0.
func (r *Run) SetProgress(done, total int64, note string) {
	r.mu.Lock()
	r.progress = &store.Progress{Done: max(done, 0), Total: max(total, 0), Note: event.Text(note, maxNote)}
	r.mu.Unlock()
	if r.runner != nil {
		r.runner.progress.add(r)
	}
}

// Progress returns what SetProgress stored last.
func (r *Run) Progress() store.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.progress == nil {
		return store.Progress{}
	}
	return *r.progress
}
