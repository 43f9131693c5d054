package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/lockrun"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// The exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitSkipped = 3 // a lock is held by another owner, or nothing is due
)

// exitCode maps errors to exit codes.
func exitCode(err error) int {
	var (
		field *check.FieldError
		rule  *recur.Error
		wrong files.MistakesError
		code  lockrun.Status
	)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errMisused):
		return exitUsage
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &field), errors.As(err, &rule), errors.As(err, &wrong):
		return exitUsage
	}
	return exitFailed
}

// printError writes an error as one line, or the mistakes of a file as one line
// each. Text that is not printable is escaped.
func printError(w io.Writer, err error) {
	var wrong files.MistakesError
	if !errors.As(err, &wrong) {
		fmt.Fprintln(w, "hourbell: "+plain.OneLine(err.Error())+remedy(err))
		return
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(w, "hourbell: "+plain.Clean(strings.TrimSuffix(line, "\n")))
	}
}

// remedy returns the remedy for errors of the library that leave the remedy to
// the program; empty for all other errors.
func remedy(err error) string {
	var (
		missing notFoundError
		limit   *store.LimitConflictError
	)
	switch {
	case errors.As(err, &missing):
		return missing.remedy()
	case errors.As(err, &limit):
		return limitRemedy(limit)
	case errors.Is(err, hourbell.ErrConflict):
		return "; `hourbell schedules show` shows its owner and revision: change it in the owner's file, or start from the current revision"
	case errors.Is(err, hourbell.ErrStale):
		return "; give the file a revision that is not less"
	case errors.Is(err, hourbell.ErrNotFound):
		return "; `hourbell schedules list` and `hourbell jobs list` show what exists"
	}
	return ""
}

// limitRemedy returns the remedy for a put of a limit that was refused.
func limitRemedy(e *store.LimitConflictError) string {
	name := plain.OneLine(e.Name)
	switch {
	case e.Missing:
		return "; leave the revision out to create it, or look at `hourbell limits list`"
	case e.Owner == e.PutOwner:
		return fmt.Sprintf("; `hourbell limits show %s` shows its revision: start from the current revision", name)
	case e.PutOwner == "":
		return fmt.Sprintf("; `hourbell limits show %s` shows its owner and revision: change it in the owner's file, or give --owner", name)
	default:
		return fmt.Sprintf("; delete it with `hourbell limits delete %s`, or give the new limit another name", name)
	}
}

// each calls do for every item. It continues after failures, which it prints;
// the returned error counts them.
func (p *program) each(items []string, do func(item string) error) error {
	failed := 0
	for _, item := range items {
		if err := do(item); err != nil {
			printError(p.stderr, err)
			failed++
		}
	}
	if failed > 0 {
		return errReported
	}
	return nil
}

// errReported ends a command with exit code 1 after its errors have been
// printed.
var errReported = errors.New("failed")

// errMisused ends a command with exit code 2 after the right use has been printed.
var errMisused = errors.New("usage error")

// withoutPath returns an error of a file without the path, which the caller names.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
