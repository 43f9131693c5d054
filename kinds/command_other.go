//go:build !unix

package kinds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/steps"
)

// identity is the user that a command runs as; on this system it is always the
// node's user.
type identity struct{}

// identify refuses to run a command as another user.
func identify(*user.User) (*identity, error) {
	return nil, errors.New("running commands as another user needs a Unix system")
}

// giveTo is never called, because identify finds no other user.
func giveTo(*os.File, *identity) error { return nil }

// execute runs a prepared command, and kills it when ctx ends.
func (w CommandWorker) execute(ctx context.Context, ready ready, job *hourbell.JobRow, _ *steps.Server) error {
	return w.runTo(ctx, ready, job, job.Writer())
}

// runTo runs a program with an output, and kills it when ctx ends.
func (w CommandWorker) runTo(ctx context.Context, ready ready, _ *hourbell.JobRow, output io.Writer) error {
	cmd := exec.CommandContext(ctx, ready.path)
	cmd.Args, cmd.Env, cmd.Dir = ready.argv, ready.env, ready.dir
	if len(ready.stdin) > 0 {
		cmd.Stdin = bytes.NewReader(ready.stdin)
	}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = w.graceFor(nil) // for its output, if another process holds that open
	if err := cmd.Start(); err != nil {
		return ready.startError(err)
	}
	err := exitError(cmd.Wait())
	if ctx.Err() != nil {
		return stopped(err, context.Cause(ctx))
	}
	return err
}

// goOn is never called, because on this system no command is handed over.
func (w CommandWorker) goOn(context.Context, *handover.Left, *hourbell.JobRow) error {
	return errors.New("commands are handed over on Linux only")
}

// exitError translates the error of exec.Cmd.Wait.
func exitError(err error) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		// The command ended with 0, but a process that it left behind still
		// holds its output open.
		return nil
	case errors.As(err, &exit):
		return &ExitError{Code: exit.ExitCode()}
	case err != nil:
		return fmt.Errorf("await command: %w", err)
	}
	return nil
}
