//go:build unix

package lockrun

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/supervise"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/lock"
)

// PassedOn returns the signals that the command gets instead of this process.
func PassedOn() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
}

// asksToEnd reports whether a signal asks the command to end, so that the
// command must not continue for longer than its grace. SIGQUIT does not: Java
// programs answer it with a list of their threads.
func asksToEnd(s os.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP
}

// Run runs a command until it ends or the lock ends. The error is its
// exit code as a Status, or the reason why it could not be started. The command
// gets the signals. Run calls note with what else a user needs to know.
func Run(ctx context.Context, held *lock.Lock, signals <-chan os.Signal, c Command, note func(text string)) error {
	claim := func() supervise.Claim {
		now := uptime.Now() // read before the lock's state, so that a pause between the two shortens the trust
		left, lease := held.HeldFor()
		claim := supervise.ClaimFor(now.Add(left), lease, c.Grace)
		claim.Term = min(claim.Term, now.Add(held.AtMostLeft()-c.Grace))
		return claim
	}
	command, err := supervise.Start(supervise.Spec{
		Label: "lock " + held.Name(), Path: c.Path, Argv: c.Argv, Env: c.Env, Inherit: true, Grace: c.Grace,
	}, claim(), nil)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	_, lease := held.HeldFor()
	tick := time.NewTicker(min(max(lease/10, 10*time.Millisecond), time.Second))
	defer tick.Stop()
	ended := ctx.Done()
	var overdue <-chan time.Time // set after a signal that asks the command to end
	var asked os.Signal
	for {
		select {
		case <-tick.C:
			command.Hold(claim())
		case s := <-signals:
			command.Signal(s.(syscall.Signal)) //nolint:forcetypeassert // on Unix every signal is one
			if overdue == nil && asksToEnd(s) {
				overdue, asked = time.After(c.Grace), s
			}
		case <-overdue:
			overdue = nil
			note(fmt.Sprintf("the command has not ended within --grace (%v) of the signal %q, and is killed", c.Grace, asked))
			command.Stop(0)
		case <-ended:
			ended = nil
			left, _ := held.HeldFor()
			command.Stop(min(c.Grace, left))
		case <-command.Done():
			result, err := command.Wait()
			if err != nil {
				return err
			}
			return status(result, note)
		}
	}
}

// status returns the exit code of a command that has ended, and notes what else a
// user needs to know.
func status(result supervise.Result, note func(text string)) error {
	if result.Why == supervise.ClaimOver {
		note("the command was ended before the lock ended: --at-most was reached, or the lock could not be renewed")
	}
	if result.LeftBehind > 0 {
		note(fmt.Sprintf("warning: %s that the command left behind had to be ended; the lock does not cover processes that "+
			"outlive the command", plain.Plural(result.LeftBehind, "process")))
	}
	if result.Signal != 0 {
		return signalStatus(result.Signal)
	}
	if result.Code != 0 {
		return Status(result.Code)
	}
	if result.Why != supervise.Itself {
		return Status(failed)
	}
	return nil
}

// failed is the exit code if the lock, and not the command, is the reason.
const failed = 1
