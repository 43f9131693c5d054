//go:build unix

package main

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

// guarded is a command that runs under a lock.
type guarded struct {
	path  string
	argv  []string
	env   []string
	grace time.Duration
}

// passedOn are the signals that the command gets instead of this process.
var passedOn = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// asksToEnd reports whether a signal asks the command to end, so that the
// command must not continue for longer than its grace. SIGQUIT does not: Java
// programs answer it with a list of their threads.
func asksToEnd(s os.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP
}

// runLocked runs a command until it ends or the lock ends. The error is its
// exit code as an exitStatus, or the reason why it could not be started. The
// command gets the signals.
func (p *program) runLocked(ctx context.Context, held *lock.Lock, signals <-chan os.Signal, g guarded) error {
	claim := func() supervise.Claim {
		now := uptime.Now() // read before the lock's state, so that a pause between the two shortens the trust
		left, lease := held.HeldFor()
		claim := supervise.ClaimFor(now.Add(left), lease, g.grace)
		claim.Term = min(claim.Term, now.Add(held.AtMostLeft()-g.grace))
		return claim
	}
	command, err := supervise.Start(supervise.Spec{
		Label: "lock " + held.Name(), Path: g.path, Argv: g.argv, Env: g.env, Inherit: true, Grace: g.grace,
	}, claim(), nil)
	if err != nil {
		return fmt.Errorf("start %s: %w", g.argv[0], err)
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
				overdue, asked = time.After(g.grace), s
			}
		case <-overdue:
			overdue = nil
			fmt.Fprintf(p.stderr, "hourbell: the command has not ended within --grace (%v) of the signal %q, and is killed\n", g.grace, asked)
			command.Stop(0)
		case <-ended:
			ended = nil
			left, _ := held.HeldFor()
			command.Stop(min(g.grace, left))
		case <-command.Done():
			return p.lockedStatus(command.Wait())
		}
	}
}

// lockedStatus returns the exit code of a command that has ended, and prints
// what else a user needs to know.
func (p *program) lockedStatus(result supervise.Result, err error) error {
	if err != nil {
		return err
	}
	if result.Why == supervise.ClaimOver {
		fmt.Fprintln(p.stderr, "hourbell: the command was ended before the lock ended: --at-most was reached, or the lock could not be renewed")
	}
	if result.LeftBehind > 0 {
		fmt.Fprintf(p.stderr, "hourbell: warning: %s that the command left behind had to be ended; the lock does not cover processes that outlive the command\n", plain.Plural(result.LeftBehind, "process"))
	}
	if result.Signal != 0 {
		return signalStatus(result.Signal)
	}
	if result.Code != 0 {
		return exitStatus(result.Code)
	}
	if result.Why != supervise.Itself {
		return exitStatus(exitFailed)
	}
	return nil
}
