package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
)

// The exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitSkipped = 3 // a lock is held by someone else, or nothing is due
)

// mistakes are what is wrong with files: usage errors that print a line each.
type mistakes struct{ err error }

func (m mistakes) Error() string { return m.err.Error() }
func (m mistakes) Unwrap() error { return m.err }

// exitCode is the one table from errors to exit codes.
func exitCode(err error) int {
	var (
		field *hourbell.FieldError
		rule  *recur.Error
		files mistakes
		code  exitStatus
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &field), errors.As(err, &rule), errors.As(err, &files):
		return exitUsage
	}
	return exitFailed
}

// printError writes an error as one line, or, for the mistakes of a file, a
// line each. Whatever the error quotes, nothing but printable text comes out.
func printError(w io.Writer, err error) {
	var files mistakes
	if !errors.As(err, &files) {
		fmt.Fprintln(w, "hourbell: "+oneLine(err.Error())+remedy(err))
		return
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(w, "hourbell: "+clean(strings.TrimSuffix(line, "\n")))
	}
}

// remedy is what to do about those errors of the library that leave it to the
// program to say; empty for all others.
func remedy(err error) string {
	switch {
	case errors.Is(err, hourbell.ErrConflict):
		return "; `hourbell schedules show` tells its owner and revision: change it in the owner's file, or start from the current revision"
	case errors.Is(err, hourbell.ErrStale):
		return "; give the file a revision that is not less, or apply it without --prune"
	case errors.Is(err, hourbell.ErrNotFound):
		return "; `hourbell schedules list` and `hourbell jobs list` show what is there"
	}
	return ""
}

// oneLine joins the lines of joined errors.
func oneLine(text string) string {
	var b strings.Builder
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		switch {
		case b.Len() == 0:
		case strings.HasSuffix(b.String(), ":"):
			b.WriteString(" ")
		default:
			b.WriteString("; ")
		}
		b.WriteString(clean(strings.TrimSpace(line)))
	}
	return b.String()
}

// each does something for every item and goes on after failures, which it
// prints; the error counts them.
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

// errReported ends a command with exit code 1 after its errors were printed.
var errReported = errors.New("failed")
