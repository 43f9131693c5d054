//go:build !unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// guarded is a command that runs under a lock.
type guarded struct {
	path  string
	argv  []string
	env   []string
	grace time.Duration
}

// passedOn are signals that the system also sends to the command; this process
// ignores them until the lock is released.
var passedOn = []os.Signal{os.Interrupt}

// runLocked runs a command until it ends or the lock ends. There is no
// supervisor on this system, so the command continues if this process is
// killed. A signal asks the command to end within its grace.
func (p *program) runLocked(ctx context.Context, _ *lock.Lock, signals <-chan os.Signal, g guarded) error {
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	go func() {
		select {
		case <-signals:
			time.AfterFunc(g.grace, kill)
		case <-ctx.Done():
		}
	}()
	command := exec.CommandContext(ctx, g.path)
	command.Args, command.Env, command.WaitDelay = g.argv, g.env, g.grace
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exitStatus(exit.ExitCode())
	case err != nil:
		return fmt.Errorf("run %s: %w", g.argv[0], err)
	}
	return nil
}
