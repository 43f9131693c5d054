package work

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/node"
)

type attemptKey struct{}

// attemptLooks are the ways to use a context. Each returns the context that the test then checks.
var attemptLooks = map[string]func(t *testing.T, ctx context.Context) context.Context{
	"not used yet": func(_ *testing.T, ctx context.Context) context.Context { return ctx },
	"Done was called": func(_ *testing.T, ctx context.Context) context.Context {
		ctx.Done()
		return ctx
	},
	"derived": func(t *testing.T, ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(context.WithValue(ctx, attemptKey{}, "derived"))
		t.Cleanup(cancel)
		return ctx
	},
	"with a timeout": func(t *testing.T, ctx context.Context) context.Context {
		ctx, cancel := context.WithTimeoutCause(ctx, time.Hour, ErrTimeout)
		t.Cleanup(cancel)
		return ctx
	},
}

func TestAttemptEndsWithItsCause(t *testing.T) {
	ends := map[string]struct {
		end   func(run *Run, endSession context.CancelCauseFunc)
		cause error
	}{
		"stopped":         {func(run *Run, _ context.CancelCauseFunc) { run.requestCancel() }, ErrCancelled},
		"over":            {func(run *Run, _ context.CancelCauseFunc) { run.end(context.Canceled) }, context.Canceled},
		"lease lost":      {func(_ *Run, end context.CancelCauseFunc) { end(node.ErrClaimLost) }, node.ErrClaimLost},
		"stopped, over":   {func(run *Run, _ context.CancelCauseFunc) { run.requestCancel(); run.end(context.Canceled) }, ErrCancelled},
		"lost, then over": {func(run *Run, end context.CancelCauseFunc) { end(node.ErrClaimLost); run.end(context.Canceled) }, node.ErrClaimLost},
	}
	for looked, look := range attemptLooks {
		for name, test := range ends {
			t.Run(looked+", "+name, func(t *testing.T) {
				session, endSession := context.WithCancelCause(context.WithValue(t.Context(), attemptKey{}, "session"))
				run := &Run{sessionCtx: session}
				ctx := look(t, attemptContext{run})
				if err := ctx.Err(); err != nil || context.Cause(ctx) != nil {
					t.Fatalf("before its end: %v, because %v", err, context.Cause(ctx))
				}
				if ctx.Value(attemptKey{}) == nil {
					t.Error("it has no values")
				}
				ended := make(chan struct{})
				context.AfterFunc(attemptContext{run}, func() { close(ended) })
				test.end(run, endSession)
				for what, done := range map[string]<-chan struct{}{"Done": ctx.Done(), "AfterFunc": ended} {
					select {
					case <-done:
					case <-time.After(10 * time.Second):
						t.Fatalf("%s does not know of the end", what)
					}
				}
				if !errors.Is(ctx.Err(), context.Canceled) {
					t.Errorf("Err is %v", ctx.Err())
				}
				if got := context.Cause(ctx); !errors.Is(got, test.cause) {
					t.Errorf("it ended because %v, want %v", got, test.cause)
				}
			})
		}
	}
}

// TestAttemptEndsUnlooked does not call AfterFunc, because AfterFunc creates the cancellable
// context.
func TestAttemptEndsUnlooked(t *testing.T) {
	session, endSession := context.WithCancelCause(t.Context())
	stopped, lost := &Run{sessionCtx: session}, &Run{sessionCtx: session}
	stopped.requestCancel()
	if err := (attemptContext{stopped}).Err(); !errors.Is(err, context.Canceled) || !errors.Is(context.Cause(attemptContext{stopped}), ErrCancelled) {
		t.Errorf("stopped: %v, because %v", err, context.Cause(attemptContext{stopped}))
	}
	endSession(node.ErrClaimLost)
	if err := (attemptContext{lost}).Err(); !errors.Is(err, context.Canceled) || !errors.Is(context.Cause(attemptContext{lost}), node.ErrClaimLost) {
		t.Errorf("lost: %v, because %v", err, context.Cause(attemptContext{lost}))
	}
	if _, ok := (attemptContext{lost}).Deadline(); ok {
		t.Error("it has a deadline")
	}
}
