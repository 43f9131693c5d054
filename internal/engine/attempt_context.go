package engine

import (
	"context"
	"time"
)

// attempt is the context in which a run works. It ends with the session, when the
// run is stopped, and when it is over. Most jobs never ask for its end, and to hang
// a context on that of the session costs as much as all else that a node does for
// a job: so this one does that on the first question that needs it.
type attemptContext struct{ run *Run }

var _ context.Context = attemptContext{}

// real returns the context that answers.
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

// Done is closed when the run is to end. The contexts that others derive from this
// one ask for it first: from then on they hang on the real one.
func (a attemptContext) Done() <-chan struct{} { return a.derived().Done() }

// Err says whether the run is to end.
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

// Deadline is that of the session.
func (a attemptContext) Deadline() (time.Time, bool) { return a.run.sessionCtx.Deadline() }

// Value answers as the session does, or as the real context if there is one. By
// that, package context finds in it what to hang others on.
func (a attemptContext) Value(key any) any {
	r := a.run
	r.mu.Lock()
	ctx := r.ctx
	r.mu.Unlock()
	if ctx == nil {
		ctx = r.sessionCtx
	}
	return ctx.Value(key)
}
