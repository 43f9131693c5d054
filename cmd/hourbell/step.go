package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/lockrun"
	"github.com/hourbell/hourbell/internal/jsons"
	"github.com/hourbell/hourbell/internal/steps"
)

// exitTimedOut is the exit code of `hourbell wait` when no signal came in time.
const exitTimedOut = 4

func (p *program) stepCommand() *cobra.Command {
	return p.group("step", "Takes a step of the job, in a command that a node runs", p.stepRunCommand(), p.stepDoneCommand())
}

func (p *program) stepRunCommand() *cobra.Command {
	return &cobra.Command{
		Use: "run NAME -- PROGRAM [ARG…]", Short: "Runs a program unless the step is done",
		Long: "For commands of jobs: runs the program, passes its output on, and keeps its standard output, at most 64 KiB of\n" +
			"UTF-8, as the result of the step NAME of the job. If an earlier attempt has done the step, the program does not run,\n" +
			"and the kept output is printed. It works without a store: the node of the job is reached by " + steps.Variable + ".\n\n" +
			"Exit codes: the program's own (128 and the number of the signal if a signal ended it), and then nothing is kept;\n" +
			"0 if the step was done; " + strconv.Itoa(steps.ExitParked) + " if the job lies aside after `hourbell wait`; " +
			"1 if the step could not be kept; 2 for a usage error.",
		Example:               "  hourbell step run dump -- pg_dump --file /srv/dump app",
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if err := takesBeforeArgv("NAME")(c, args); err != nil {
				return err
			}
			if _, argv := splitArgv(c, args); len(argv) == 0 {
				return &check.FieldError{Field: "PROGRAM", Problem: "is missing: there is no program to run", Remedy: "write the program and its arguments after --"}
			}
			return check.Name("step", args[0])
		},
		RunE: func(c *cobra.Command, args []string) error {
			words, argv := splitArgv(c, args)
			ran := false
			value, err := steps.Step(c.Context(), words[0], func() (json.RawMessage, error) {
				ran = true
				return p.runStep(argv)
			})
			if err != nil || ran {
				return p.unlessParked(err)
			}
			var text string
			if err := json.Unmarshal(value, &text); err != nil { // of a program in Go
				text = string(value) + "\n"
			}
			_, err = io.WriteString(p.stdout, text)
			return err
		},
	}
}

// runStep runs the program of a step, and returns its standard output.
func (p *program) runStep(argv []string) (json.RawMessage, error) {
	path, err := lockrun.FindCommand(argv[0])
	if err != nil {
		return nil, err
	}
	var kept bytes.Buffer
	program := exec.Cmd{Path: path, Args: argv, Stdin: os.Stdin, Stdout: io.MultiWriter(p.stdout, &capped{to: &kept}), Stderr: p.stderr}
	if err := program.Run(); err != nil {
		return nil, stepStatus(argv[0], err)
	}
	value, err := jsons.Encode(kept.String())
	switch {
	case err != nil:
		return nil, err
	case len(value) > check.MaxResult:
		return nil, fmt.Errorf("the standard output of the step has more than %d bytes as JSON, so that the step cannot be kept: write it to a file", check.MaxResult)
	case !utf8.Valid(kept.Bytes()):
		return nil, errors.New("the standard output of the step is not UTF-8, so that the step cannot be kept: write it to a file")
	}
	return value, nil
}

// unlessParked returns err, or the exit code of a command whose job lies aside.
func (p *program) unlessParked(err error) error {
	if errors.Is(err, steps.ErrParked) {
		p.note(err.Error())
		return lockrun.Status(steps.ExitParked)
	}
	return err
}

// capped keeps one byte more than a result may have, so that the excess is noticed.
type capped struct{ to *bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	c.to.Write(b[:min(len(b), check.MaxResult+1-c.to.Len())])
	return len(b), nil
}

// stepStatus returns the exit code of a program that has failed.
func stepStatus(name string, err error) error {
	exit, ended := errors.AsType[*exec.ExitError](err)
	if !ended {
		return fmt.Errorf("run %q: %w", name, err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return lockrun.Status(128 + int(status.Signal()))
	}
	return lockrun.Status(exit.ExitCode())
}

func (p *program) stepDoneCommand() *cobra.Command {
	return &cobra.Command{
		Use: "done NAME", Short: "Marks a step as done",
		Long: "For commands of jobs: marks the step NAME of the job as done, without a program. jobs show and the page of the job list it\n" +
			"with its time. If it is done already, nothing changes. The exit code is 0, " + strconv.Itoa(steps.ExitParked) + " if the job\n" +
			"lies aside after `hourbell wait`, or 1 if it could not be kept.",
		Example:               "  hourbell step done uploaded",
		DisableFlagsInUseLine: true,
		Args:                  takes(false, "NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := check.Name("step", args[0]); err != nil {
				return err
			}
			_, err := steps.Step(c.Context(), args[0], func() (json.RawMessage, error) { return nil, nil })
			return p.unlessParked(err)
		},
	}
}

func (p *program) waitCommand() *cobra.Command {
	var limit string
	c := &cobra.Command{
		Use: "wait NAME [--timeout D]", Short: "Waits for a signal to the job, in a command that a node runs",
		Long: "For commands of jobs: prints the value of the signal NAME to the job as JSON. If the signal has not come, the job lies\n" +
			"aside: the exit code is " + strconv.Itoa(steps.ExitParked) + ", with which the command has to end at once (`set -e` does that), no attempt is spent,\n" +
			"and the command is run again when the signal comes; steps that are done are skipped.\n\n" +
			"Exit codes: 0 with the signal; " + strconv.Itoa(steps.ExitParked) + " if the job lies aside; " + strconv.Itoa(exitTimedOut) +
			" if --timeout has passed without the signal, from then on\nin every attempt; 2 for a usage error; 1 for other failures.",
		Example:               "  approval=$(hourbell wait approval --timeout 7d)",
		DisableFlagsInUseLine: true,
		Args:                  takes(false, "NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			timeout, err := waitTime(limit, c.Flags().Changed("timeout"))
			if err := errors.Join(check.Name("signal", args[0]), err); err != nil {
				return err
			}
			value, err := steps.Wait(c.Context(), args[0], timeout)
			switch {
			case errors.Is(err, steps.ErrTimedOut):
				p.note(err.Error())
				return lockrun.Status(exitTimedOut)
			case err != nil:
				return p.unlessParked(err)
			}
			_, err = fmt.Fprintf(p.stdout, "%s\n", value)
			return err
		},
	}
	c.Flags().StringVar(&limit, "timeout", "", "how long to wait at most, such as 90m or 7d (default without end)")
	return c
}

// waitTime reads a duration, which may be a number of days.
func waitTime(text string, given bool) (d time.Duration, err error) {
	if !given {
		return 0, nil
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		var n int
		if n, err = strconv.Atoi(days); n <= int(hourbell.MaxDuration/(24*time.Hour)) {
			d = time.Duration(n) * 24 * time.Hour
		}
	} else {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d <= 0 || d > hourbell.MaxDuration {
		return 0, &check.FieldError{Field: "timeout", Value: check.Shorten(text), Problem: "is no time to wait", Remedy: "write it as 90s, 12h or 7d"}
	}
	return d, nil
}
