package lockrun

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestLeastAtMost checks that LeastAtMost leaves the command a second, and that
// a millisecond less does not.
func TestLeastAtMost(t *testing.T) {
	for _, grace := range []time.Duration{0, 1, time.Millisecond, time.Second, 3 * time.Second, 25 * time.Second, 26 * time.Second, time.Hour, 24 * time.Hour} {
		least := LeastAtMost(grace)
		if left := Useful(least, grace); left < LeastUseful || Useful(least-time.Millisecond, grace) >= LeastUseful {
			t.Errorf("a grace of %v: at most %v leaves %v", grace, least, left)
		}
	}
}

// TestSignalBeforeTheCommand checks that a signal before start ends the context
// and is returned by start, and that a later signal is left to the command.
func TestSignalBeforeTheCommand(t *testing.T) {
	signals := make(chan os.Signal, 1)
	ctx, start, cancel := UntilStart(t.Context(), signals)
	defer cancel()
	signals <- syscall.SIGTERM
	<-ctx.Done()
	if err := start(); err != signalStatus(syscall.SIGTERM) || Interrupted(ctx, nil) != err {
		t.Errorf("before: %v", err)
	}
	ctx, start, cancel = UntilStart(t.Context(), signals)
	if err := start(); err != nil {
		t.Error(err)
	}
	signals <- syscall.SIGTERM
	if s := <-signals; s != syscall.SIGTERM || ctx.Err() != nil {
		t.Errorf("after: %v, %v", s, ctx.Err())
	}
	cancel()
}
