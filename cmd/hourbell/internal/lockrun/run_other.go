//go:build !unix

package lockrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// PassedOn returns the signals that the system also sends to the command; this
// process ignores them until the lock is released.
func PassedOn() []os.Signal {
	return []os.Signal{os.Interrupt}
}

// Run runs a command until it ends or the lock ends. There is no supervisor on
// this system, so the command continues if this process is killed. A signal asks
// the command to end within its grace.
func Run(ctx context.Context, _ *lock.Lock, signals <-chan os.Signal, c Command, _ func(text string)) error {
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	go func() {
		select {
		case <-signals:
			time.AfterFunc(c.Grace, kill)
		case <-ctx.Done():
		}
	}()
	command := exec.CommandContext(ctx, c.Path)
	command.Args, command.Env, command.WaitDelay = c.Argv, c.Env, c.Grace
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return Status(exit.ExitCode())
	case err != nil:
		return fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	return nil
}
