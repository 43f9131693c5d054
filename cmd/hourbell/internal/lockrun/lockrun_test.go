package lockrun

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
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

func TestSeldom(t *testing.T) {
	noon := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		every        time.Duration
		before, slot time.Time
		want         string
	}{
		{time.Hour, noon, noon.Add(time.Hour), ""},
		{time.Hour, noon, noon.Add(2 * time.Hour), ""},
		{time.Hour, noon, noon.Add(4 * time.Hour), "3 slots passed without a call since 2027-03-01T12:00:00Z"},
		{time.Hour, noon, noon.Add(150 * time.Minute), "warning: 1 slot passed without a call"},
		{time.Hour, time.Time{}, noon, ""},
		{0, noon, noon.Add(4 * time.Hour), ""},
	} {
		if got := Seldom(test.every, test.before, test.slot); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("every %v, %v to %v: %q", test.every, test.before, test.slot, got)
		}
	}
}

func TestOften(t *testing.T) {
	noon := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for into, want := range map[time.Duration]bool{0: false, 15 * time.Minute: false, 30 * time.Minute: true, 45 * time.Minute: false, 59 * time.Minute: false} {
		err := &lock.NotDueError{}
		err.State.Mark.Slot, err.State.Now = noon, noon.Add(into)
		if got := Often(time.Hour, err); (got != "") != want {
			t.Errorf("%v after the slot: %q", into, got)
		}
	}
	if got := Often(time.Hour, lock.ErrHeld); got != "" {
		t.Errorf("a lock that is held: %q", got)
	}
}
