package kinds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/steps"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// stepsFolder makes the folder of the socket by which a command takes steps. Only the user of the command may enter it.
func stepsFolder(user *identity) (folder string, err error) {
	folder, err = steps.Folder()
	if err == nil && user != nil {
		err = giveFolder(folder, user)
	}
	if err != nil {
		return "", fmt.Errorf("make the socket for the steps of the command: %w", err)
	}
	return folder, nil
}

func giveFolder(folder string, user *identity) error {
	dir, err := os.Open(filepath.Clean(folder))
	if err != nil {
		return err
	}
	return errors.Join(giveTo(dir, user), dir.Close())
}

// serveSteps serves the socket in a folder while the command runs.
func serveSteps(ctx context.Context, folder string, job *hourbell.JobRow) (*steps.Server, error) {
	server, err := steps.Serve(ctx, folder, steps.Job{
		ID: strconv.FormatInt(job.ID, 10), Token: strconv.FormatInt(job.Token, 10),
		Step: func(ctx context.Context, name string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
			return hourbell.Step(ctx, job, name, do)
		},
		Wait: func(ctx context.Context, name string, timeout time.Duration) (json.RawMessage, error) {
			return hourbell.Wait[json.RawMessage](ctx, job, name, timeout)
		},
		Parked: func(err error) bool {
			result, selected := work.Selected(err)
			return selected && result == store.Snooze
		},
		TimedOut: func(err error) bool { return errors.Is(err, hourbell.ErrNoSignal) },
	})
	if err != nil {
		return nil, fmt.Errorf("serve the socket for the steps of the command: %w", err)
	}
	return server, nil
}

// removeSteps removes the folder after the attempt, unless the command goes on with another worker.
func removeSteps(folder string, err error) {
	var left *handover.LeftError
	if folder != "" && !errors.As(err, &left) {
		_ = os.RemoveAll(folder)
	}
}

// afterSteps returns the error of a command that has ended with err, and whose job lies aside if parked is an error.
func afterSteps(parked, err error) error {
	var exit *ExitError
	switch {
	case parked == nil:
		return err
	case errors.As(err, &exit) && exit.Code == steps.ExitParked:
		return parked
	case err == nil:
		return errors.New("the command went on after `hourbell wait` had let its job lie aside, and ended with exit code 0: " +
			"begin a script with `set -e`, or end it with the exit code of `hourbell wait`")
	}
	return err
}
