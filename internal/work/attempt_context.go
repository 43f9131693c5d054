package work

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/internal/handover"
)

// attemptContext is the context of a run. It ends with the session, when the run is cancelled, and
// when the run is over. Most jobs never need a context that can be cancelled, so it is derived from
// the session on first use. Removing this costs 24 % of the node's CPU time of a job (BenchmarkJob
// of internal/engine, medians of seven alternating runs).
type attemptContext struct{ run *Run }

var _ context.Context = attemptContext{}

// derived returns the cancellable context of the run, and creates it on first use.
func (a attemptContext) derived() context.Context {
	r := a.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx == nil {
		r.ctx, r.cancel = context.WithCancelCause(r.sessionCtx)
		if r.endCause != nil {
			r.cancel(r.endCause)
		}
	}
	return r.ctx
}

// Done returns a channel that is closed when the run has to end. Package context calls Done before
// it derives a context from this one, so that the derived context has the cancellable context as
// its parent.
func (a attemptContext) Done() <-chan struct{} { return a.derived().Done() }

// Err reports why the run has to end; nil: it may go on.
func (a attemptContext) Err() error {
	r := a.run
	r.mu.Lock()
	lives := r.endCause == nil && r.ctx == nil
	r.mu.Unlock()
	if lives && r.sessionCtx.Err() == nil {
		return nil
	}
	return a.derived().Err()
}

// Deadline returns the deadline of the session.
func (a attemptContext) Deadline() (time.Time, bool) { return a.run.sessionCtx.Deadline() }

// Value returns a value of the cancellable context if it exists, else of the session. Package
// context finds the parent of a derived context with Value.
func (a attemptContext) Value(key any) any {
	r := a.run
	if key == (handover.Key{}) {
		return r.attempt()
	}
	r.mu.Lock()
	ctx := r.ctx
	r.mu.Unlock()
	if ctx == nil {
		ctx = r.sessionCtx
	}
	return ctx.Value(key)
}
