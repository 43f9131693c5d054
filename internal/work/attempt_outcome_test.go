package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/store"
)

func TestAttemptOutcome(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		name       string
		attempt    int16
		onLoss     store.OnLoss
		err, cause error
		want       store.Result
		delay      time.Duration // exact, unless 0
	}{
		{"success", 1, 0, nil, nil, store.Completed, 0},
		{"success in spite of a cancel", 1, 0, nil, ErrCancelled, store.Completed, 0},
		{"success in spite of a lost claim", 1, 0, nil, node.ErrClaimLost, store.Completed, 0},
		{"failure", 1, 0, boom, nil, store.Retry, 0},
		{"failure of the last attempt", 3, 0, boom, nil, store.Failed, 0},
		{"timeout", 1, 0, context.DeadlineExceeded, ErrTimeout, store.Retry, 0},
		{"cancelled", 1, 0, boom, ErrCancelled, store.Cancelled, 0},
		{"stopping", 3, 0, context.Canceled, node.ErrStopping, store.Release, 0},
		{"claim lost", 3, 0, context.Canceled, node.ErrClaimLost, store.Release, 0},
		{"stopping, may not start twice", 1, store.OnLossFail, boom, node.ErrStopping, store.Failed, 0},
		{"claim lost, may not start twice", 1, store.OnLossFail, boom, node.ErrClaimLost, store.Failed, 0},
		{"the worker saw the claim lost first", 3, 0, fmt.Errorf("x: %w", node.ErrClaimLost), nil, store.Release, 0},
		{"the worker saw it first, may not start twice", 1, store.OnLossFail, fmt.Errorf("x: %w", node.ErrClaimLost), nil, store.Failed, 0},
		{"cancelled, and the claim lost", 1, 0, fmt.Errorf("x: %w", node.ErrClaimLost), ErrCancelled, store.Cancelled, 0},
		{"final while stopping", 1, 0, Final(boom, store.Failed, 0), node.ErrStopping, store.Failed, 0},
		{"asks for a time while stopping", 1, 0, Final(boom, store.Retry, time.Hour), node.ErrStopping, store.Release, 0},
		{"final", 1, 0, Final(boom, store.Failed, 0), nil, store.Failed, 0},
		{"gives up", 1, 0, fmt.Errorf("x: %w", Final(boom, store.Cancelled, 0)), nil, store.Cancelled, 0},
		{"asks for a time", 1, 0, Final(boom, store.Retry, time.Hour), nil, store.Retry, time.Hour},
		{"asks for a time without attempts left", 3, 0, Final(boom, store.Retry, time.Hour), nil, store.Failed, 0},
		{"snoozes", 1, 0, Final(boom, store.Snooze, time.Hour), nil, store.Snooze, time.Hour},
		{"snoozes for no time", 1, 0, fmt.Errorf("x: %w", Final(boom, store.Snooze, -time.Hour)), nil, store.Snooze, minDelay},
		{"snoozes in the last attempt", 3, 0, Final(boom, store.Snooze, time.Hour), nil, store.Snooze, time.Hour},
		{"snoozes while stopping", 1, 0, Final(boom, store.Snooze, time.Hour), node.ErrStopping, store.Snooze, time.Hour},
		{"snoozes after its timeout", 1, 0, Final(boom, store.Snooze, time.Hour), ErrTimeout, store.Snooze, time.Hour},
		{"snoozes after the claim was lost", 1, 0, Final(boom, store.Snooze, time.Hour), node.ErrClaimLost, store.Snooze, time.Hour},
		{"snoozes, may not start twice", 1, store.OnLossFail, Final(boom, store.Snooze, time.Hour), nil, store.Snooze, time.Hour},
		{"snoozes, but was cancelled", 1, 0, Final(boom, store.Snooze, time.Hour), ErrCancelled, store.Cancelled, 0},
		{"panic", 1, 0, &panicError{value: "x", stack: []byte("stack")}, nil, store.Retry, 0},
	} {
		job := store.Claimed{JobSpec: store.JobSpec{MaxAttempts: 3, OnLoss: test.onLoss}, ID: 7, Token: 9, Attempt: test.attempt}
		got := attemptOutcome(job, test.err, test.cause)
		if got.ID != 7 || got.Token != 9 || got.Result != test.want || test.delay != 0 && got.Delay != test.delay {
			t.Errorf("%s: %+v", test.name, got)
		}
		if got.Result == store.Snooze && got.Error != "" {
			t.Errorf("%s: the error %q is kept", test.name, got.Error)
		}
		if (got.Result == store.Failed || got.Result == store.Retry) && got.Error == "" {
			t.Errorf("%s: no error is kept", test.name)
		}
	}
	for _, test := range []struct {
		refunds    int16
		attempt    int16
		err, cause error
		want       store.Result
		lost       bool
	}{
		{0, 3, context.Canceled, node.ErrClaimLost, store.Release, true},
		{maxRefunds - 1, 3, context.Canceled, node.ErrClaimLost, store.Release, true},
		{maxRefunds, 3, context.Canceled, node.ErrClaimLost, store.Failed, false},
		{maxRefunds, 1, context.Canceled, node.ErrClaimLost, store.Retry, false},
		{maxRefunds - 1, 3, fmt.Errorf("x: %w", node.ErrClaimLost), nil, store.Release, true},
		{maxRefunds, 3, fmt.Errorf("x: %w", node.ErrClaimLost), nil, store.Failed, false},
		{0, 3, context.Canceled, node.ErrStopping, store.Release, false},
		{100, 3, context.Canceled, node.ErrStopping, store.Release, false},
	} {
		got := attemptOutcome(store.Claimed{JobSpec: store.JobSpec{MaxAttempts: 3}, Attempt: test.attempt, Refunds: test.refunds}, test.err, test.cause)
		if got.Result != test.want || got.LeaseLost != test.lost {
			t.Errorf("attempt %d after %d refunds, %v: %+v", test.attempt, test.refunds, test.cause, got)
		}
		if (got.Result == store.Failed) != strings.Contains(got.Error, "lost its lease") && got.Result != store.Retry {
			t.Errorf("after %d refunds: %q", test.refunds, got.Error)
		}
	}
	if got := attemptOutcome(store.Claimed{JobSpec: store.JobSpec{MaxAttempts: 3}}, &panicError{value: "x", stack: []byte("stack")}, nil); got.Trace != "stack" {
		t.Errorf("a panic's stack is not kept: %+v", got)
	}
	if Final(nil, store.Failed, 0) != nil {
		t.Error("no error became one")
	}
}

func TestTextsCanBeStored(t *testing.T) {
	for _, text := range []string{"", "fine", "a\x00b", "a\xff\xfeb", strings.Repeat("\x00", textLimit), strings.Repeat("a\xff", textLimit), strings.Repeat("é", textLimit)} {
		got := cleanText(text)
		if !utf8.ValidString(got) || strings.Contains(got, "\x00") || len(got) > textLimit {
			t.Errorf("%.20q became %.20q (%d bytes)", text, got, len(got))
		}
	}
	if got := attemptOutcome(store.Claimed{JobSpec: store.JobSpec{MaxAttempts: 2}}, errors.New(""), nil); got.Error == "" {
		t.Error("an error without text leaves no record")
	}
}

func TestOutputKeepsItsEnd(t *testing.T) {
	var run Run
	run.SetOutput([]byte(strings.Repeat("a", store.OutputLimit) + "end"))
	if out := run.Output(); len(out) != store.OutputLimit || !strings.HasSuffix(string(out), "aend") {
		t.Errorf("kept %d bytes", len(out))
	}
}

func TestLastLine(t *testing.T) {
	for output, want := range map[string]string{
		"": "", "\n\n": "", "one": "one", "one\ntwo\n\n": "two", "a\r\nb\r\n": "b",
		"\xff\x00": "\uFFFD\uFFFD", strings.Repeat("x", 300): strings.Repeat("x", 200) + "…",
	} {
		if got := lastLine([]byte(output)); got != want {
			t.Errorf("%.20q: %.20q, want %.20q", output, got, want)
		}
	}
}

// TestACauseIsSaidOnceByAStop: a worker returned why its context ended.
func TestACauseIsSaidOnceByAStop(t *testing.T) {
	for _, cause := range []error{node.ErrStopping, node.ErrClaimLost} {
		for _, err := range []error{cause, context.Canceled} {
			out := attemptOutcome(store.Claimed{JobSpec: store.JobSpec{MaxAttempts: 5}, Attempt: 1}, err, cause)
			if want := "handed back: " + cause.Error(); out.Error != want {
				t.Errorf("%v: %q, want %q", err, out.Error, want)
			}
		}
	}
}
