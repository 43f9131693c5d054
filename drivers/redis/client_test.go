package redis

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// stub is a custom client whose answers the test defines.
type stub func(ctx context.Context) (any, error)

func (s stub) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) (any, error) {
	return s(ctx)
}

func (s stub) Eval(ctx context.Context, _ string, _ []string, _ ...any) (any, error) { return s(ctx) }

func TestClientThatHangs(t *testing.T) {
	forever := make(chan struct{})
	defer close(forever)
	p := New(stub(func(context.Context) (any, error) {
		<-forever
		return nil, nil
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := p.TryLock(ctx, lock.Request{Name: "send", Owner: "o", Hold: time.Minute})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("a call must end soon after its context, whatever its client does: %v after %v", err, time.Since(start))
	}
}

func TestErrorsSayTheRemedy(t *testing.T) {
	for answer, want := range map[string]string{
		"NOAUTH Authentication required.": "refuses this user", "READONLY You can't write": "name the primary",
		"OOM command not allowed": "maxmemory", "NOPERM this user": "grant it",
	} {
		p := New(stub(func(context.Context) (any, error) { return nil, errors.New(answer) }))
		err := p.ForceRelease(t.Context(), lock.ForceReleaseRequest{Name: "send"})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), answer) {
			t.Errorf("%q must be explained with %q: %v", answer, want, err)
		}
	}
	busy := New(stub(func(context.Context) (any, error) { return nil, errors.New("BUSY Redis is busy") }))
	if err := busy.ForceRelease(t.Context(), lock.ForceReleaseRequest{Name: "send"}); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("a busy server must be said to be so: %v", err)
	}
}

func TestRepliesAreChecked(t *testing.T) {
	for _, reply := range []any{nil, "x", []any{"held"}, []any{"held", []any{"x"}}, []any{"held", []any{"x", 1, 2, 3, 4, 5, 6, 7}}} {
		p := New(stub(func(context.Context) (any, error) { return reply, nil }))
		if _, err := p.TryLock(t.Context(), lock.Request{Name: "send", Owner: "o", Hold: time.Minute}); err == nil || errors.Is(err, lock.ErrHeld) {
			t.Errorf("a reply of %v must be an error, not %v", reply, err)
		}
		if _, err := p.Locks(t.Context(), lock.LocksRequest{Limit: 1}); err == nil {
			t.Errorf("a reply of %v must be an error for a listing too", reply)
		}
	}
}

func TestBadURLs(t *testing.T) {
	for _, url := range []string{"", "redis://:secret@:x", "http://:secret@h", "redis://:sec%ret@h", "redis://u:secret@h/x", "redis://u:secret@h/0?nosuch=secret"} {
		if _, err := Open(t.Context(), url); err == nil || strings.Contains(err.Error(), "ret@") {
			t.Errorf("Open(%q) must fail without showing the password: %v", url, err)
		}
	}
}
