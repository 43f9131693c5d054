// Package lockrun runs a command under a lock: it starts the command under a
// supervisor that ends it before the lock ends, passes signals on, and returns the
// command's exit code. Choosing the lock and printing are for the caller.
package lockrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/lock"
)

// LeastUseful is the part of the at-most time that a command must have for itself.
const LeastUseful = time.Second

// Command is a command that runs under a lock.
type Command struct {
	Path  string // of the program
	Argv  []string
	Env   []string
	Grace time.Duration // how long it may take to end after a signal that asks it to end
}

// Useful returns how long a command may work before SIGTERM is sent because of
// its at-most time.
func Useful(atMost, grace time.Duration) time.Duration {
	return atMost - lock.Margin(atMost) - grace
}

// LeastAtMost returns the shortest at-most time, in whole milliseconds, that
// leaves the command LeastUseful.
func LeastAtMost(grace time.Duration) time.Duration {
	const most = int(lock.MaxAtMost / time.Millisecond)
	return time.Duration(sort.Search(most, func(ms int) bool {
		return Useful(time.Duration(ms)*time.Millisecond, grace) >= LeastUseful
	})) * time.Millisecond
}

// UntilStart ends a context at a signal while there is no command that could
// get the signal: the wait for the lock then ends, and a lock that was just
// granted is released. Call start before the command starts: later signals are
// for the command, and the error means that a signal came before.
func UntilStart(ctx context.Context, signals <-chan os.Signal) (_ context.Context, start func() error, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	starting, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			end(signalStatus(number))
		case <-starting:
		case <-ctx.Done():
		}
	}()
	start = func() error {
		close(starting)
		<-watched
		return context.Cause(ctx)
	}
	return ctx, start, func() { end(nil) }
}

// Interrupted returns the exit code for the signal that ended a context, or err
// if no signal ended it.
func Interrupted(ctx context.Context, err error) error {
	var status Status
	if errors.As(context.Cause(ctx), &status) {
		return status
	}
	return err
}

// KeptThroughout reports whether only the release failed, so that the command
// had its lock until its end, and its exit code is valid.
func KeptThroughout(err error) bool {
	return errors.Is(err, lock.ErrUnreleased) && !errors.Is(err, lock.ErrLost) && !errors.Is(err, lock.ErrAtMost)
}

// LastSlot returns the slot of a lock that was granted last; zero if there is
// none, if the store does not answer in time, or if no interval was given.
func LastSlot(ctx context.Context, locks lock.Inspector, name string, every time.Duration) time.Time {
	if every == 0 {
		return time.Time{}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found, err := locks.Locks(ctx, lock.LocksRequest{Names: []string{name}, Limit: 1})
	if err != nil || len(found) == 0 {
		return time.Time{}
	}
	return found[0].State.Mark.Slot
}

// Seldom returns a warning that no call was made in one or more whole intervals
// between two slots, or nothing.
func Seldom(every time.Duration, before, slot time.Time) string {
	if every == 0 || before.IsZero() || slot.Sub(before) <= 2*every {
		return ""
	}
	return fmt.Sprintf("warning: %s passed without a call since %s: the calls are less frequent than --every %s requires, or no server was up",
		plain.Plural(int(slot.Sub(before)/every-1), "slot"), plain.Stamp(before), plain.Brief(every))
}

// Often returns a warning that the call came in the middle of an interval, which a
// caller with the same interval never does, or nothing. err is why the lock was
// not granted.
func Often(every time.Duration, err error) string {
	var early *lock.NotDueError
	if every == 0 || !errors.As(err, &early) || early.State.Mark.Slot.IsZero() {
		return ""
	}
	into := early.State.Now.Sub(early.State.Mark.Slot)
	if into <= every/4 || into >= every-every/4 {
		return ""
	}
	return fmt.Sprintf("warning: called %s after the slot of %s: the calls are more frequent than --every %s requires",
		plain.Brief(into), plain.Stamp(early.State.Mark.Slot), plain.Brief(every))
}

// Environment returns the environment of the command: the environment of this
// process without the variables secrets, whose values may contain passwords, and
// with the token and the slot of the lock. A token and a slot of this process belong to other
// work and are removed: without a slot the variable is not set.
func Environment(held *lock.Lock, secrets ...string) []string {
	const token, slot = "HOURBELL_TOKEN", "HOURBELL_SLOT"
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(secrets, name) || name == token || name == slot
	})
	env = append(env, token+"="+strconv.FormatInt(held.Token(), 10))
	if !held.Slot().IsZero() {
		env = append(env, slot+"="+held.Slot().UTC().Format(time.RFC3339Nano))
	}
	return env
}

// Status is an exit code without an error message, because everything was said
// already.
type Status int //nolint:errname // it is one only to be returned as one

func (s Status) Error() string { return fmt.Sprintf("exit code %d", int(s)) }

// signalStatus returns the exit code of a process that was ended by a signal,
// as shells define it.
func signalStatus(s syscall.Signal) Status { return Status(128 + int(s)) }

// FindCommand finds the file of a program in the same way as a shell.
func FindCommand(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", fmt.Errorf("command %q: %w; install it on this machine or give its full path", name, errors.Unwrap(err))
	}
	return path, nil
}
