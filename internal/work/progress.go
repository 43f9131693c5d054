package work

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

const (
	// maxProgress is how many runs a write of progress contains at most.
	maxProgress = 5000
	// maxNote is how many bytes of a note are kept.
	maxNote = 1 << 10
)

// newProgress returns the saver of the progress that runs report.
func newProgress(s Store, callTimeout time.Duration, report *loop.Report) *saver {
	return newSaver("save progress", report, func(ctx context.Context, runs []*Run) (left []*Run, again bool, err error) {
		n := min(len(runs), maxProgress)
		claims := make([]store.ClaimProgress, n)
		for i, run := range runs[:n] {
			claims[i] = store.ClaimProgress{ClaimRef: run.ref(), Progress: run.Progress(), StuckFor: run.stuckFor()}
		}
		call, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		return runs[n:], false, s.SaveProgress(call, store.SaveProgressRequest{Claims: claims})
	})
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
