package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// workFlags are the flags for the work of one job or of a schedule's jobs.
type workFlags struct {
	args        string
	shell       string
	env         []string
	dir         string
	queue       string
	priority    int
	maxAttempts int
	onLoss      string
	timeout     time.Duration
	backoff     string
}

func (w *workFlags) addTo(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&w.args, "args", "", "arguments as JSON, - to read them from standard input, @FILE from a file")
	flags.StringVar(&w.shell, "shell", "", "kind command: a line for /bin/sh -c instead of an argument list")
	flags.StringArrayVar(&w.env, "env", nil, "kind command: NAME=VALUE to add to its environment; may be repeated")
	flags.StringVar(&w.dir, "dir", "", "kind command: its working directory")
	flags.StringVar(&w.queue, "queue", "default", "the queue")
	flags.IntVar(&w.priority, "priority", 5, "1 (first) to 9 (last)")
	flags.IntVar(&w.maxAttempts, "max-attempts", 25, "how often it may be tried, 1 to 1000")
	flags.StringVar(&w.onLoss, "on-loss", "retry", "when its node dies while it runs: retry, or fail and never start it twice")
	flags.Var(timeoutFlag{&w.timeout}, "timeout", "bound of each attempt, or none (default the worker's own; one hour for commands)")
	flags.StringVar(&w.backoff, "backoff", "", "delays between attempts: constant:30s, linear:10s:1h, exponential:1s:10m or default (default the worker's own)")
}

// timeoutFlag is a flag for a timeout, which may be none.
type timeoutFlag struct{ at *time.Duration }

func (t timeoutFlag) Type() string { return "duration" }

func (t timeoutFlag) String() string {
	if t.at == nil || *t.at == 0 {
		return ""
	}
	return declared.TimeoutText(*t.at)
}

func (t timeoutFlag) Set(text string) (err error) {
	if text == declared.NoTimeout {
		*t.at = hourbell.MaxDuration
		return nil
	}
	*t.at, err = time.ParseDuration(text)
	return err
}

// options returns the options of a job.
func (w workFlags) options(c *cobra.Command) ([]hourbell.Option, error) {
	onLoss, err := parseOnLoss(w.onLoss)
	if err != nil {
		return nil, err
	}
	options := []hourbell.Option{
		hourbell.Queue(w.queue), hourbell.Priority(w.priority), hourbell.MaxAttempts(w.maxAttempts), hourbell.OnLoss(onLoss), hourbell.Timeout(w.timeout),
	}
	if c.Flags().Changed("backoff") {
		options = append(options, hourbell.Backoff(w.backoff))
	}
	return options, nil
}

// setSchedule sets the work of a schedule. The error names every mistake in the flags.
func (w workFlags) setSchedule(s *hourbell.Schedule, p *program, c *cobra.Command, kind string, argv []string) (err error) {
	s.Job, s.OnLoss, err = w.read(p, c, kind, argv)
	s.Queue, s.Priority, s.MaxAttempts, s.Timeout, s.Backoff = w.queue, w.priority, w.maxAttempts, w.timeout, w.backoff
	return err
}

// setHandler sets the work of a handler. The error names every mistake in the flags.
func (w workFlags) setHandler(h *hourbell.EventHandler, p *program, c *cobra.Command, kind string, argv []string) (err error) {
	h.Job, h.OnLoss, err = w.read(p, c, kind, argv)
	h.Queue, h.Priority, h.MaxAttempts, h.Timeout, h.Backoff = w.queue, w.priority, w.maxAttempts, w.timeout, w.backoff
	return err
}

// read returns the job that a schedule or a handler makes, and what happens when the node
// of such a job dies. The error names every mistake in the flags.
func (w workFlags) read(p *program, c *cobra.Command, kind string, argv []string) (hourbell.RawArgs, store.OnLoss, error) {
	payload, payloadErr := p.payload(c, w, kind, argv)
	onLoss, onLossErr := parseOnLoss(w.onLoss)
	return hourbell.RawArgs{Name: kind, JSON: payload}, onLoss, errors.Join(payloadErr, onLossErr, w.zeroMeansDefault(c))
}

// zeroMeansDefault refuses values that mean "not given" in a hourbell.Schedule and in a
// hourbell.EventHandler.
func (w workFlags) zeroMeansDefault(c *cobra.Command) error {
	errs := []error{notEmpty(c, "queue")}
	if w.priority == 0 {
		errs = append(errs, &check.FieldError{Field: "priority", Value: "0", Problem: "is out of range", Remedy: "use 1 (first) to 9 (last)"})
	}
	if w.maxAttempts == 0 {
		errs = append(errs, &check.FieldError{
			Field: "max_attempts", Value: "0", Problem: "is out of range",
			Remedy: fmt.Sprintf("use 1 to %d", hourbell.MaxAttemptsLimit),
		})
	}
	return errors.Join(errs...)
}

// payload returns the arguments of a job of a kind: the value of --args. The kind command
// has its arguments from --shell, --env, --dir and the words after -- instead.
func (p *program) payload(c *cobra.Command, w workFlags, kind string, argv []string) ([]byte, error) {
	if err := check.Name("kind", kind); err != nil {
		return nil, err
	}
	flag, given := commandFlag(c, argv)
	switch {
	case c.Flags().Changed("args") && given:
		return nil, &check.FieldError{Field: "args", Problem: "are given together with " + flag, Remedy: "use one of them"}
	case given && kind != kinds.CommandKind:
		return nil, &check.FieldError{Field: flag, Problem: "is for the kind command", Remedy: "give the arguments of other kinds by --args"}
	case c.Flags().Changed("args"):
		return p.readArgs(w.args, kind)
	case kind == kinds.CommandKind:
		return w.commandPayload(c, argv)
	}
	return nil, nil
}

// commandPayload returns the arguments of a command that flags and the words after -- give.
func (w workFlags) commandPayload(c *cobra.Command, argv []string) ([]byte, error) {
	switch {
	case w.shell != "" || len(argv) > 0:
		return w.command(argv)
	case c.Flags().Changed("shell"):
		return nil, &check.FieldError{Field: "shell", Problem: "is empty", Remedy: "write the line to run"}
	}
	return nil, &check.FieldError{
		Field: "argv", Problem: "is empty: there is no command to run",
		Remedy: "write the program and its arguments after --, or a line as --shell",
	}
}

// commandFlag returns the name of the first given flag or argument that only a
// command has.
func commandFlag(c *cobra.Command, argv []string) (name string, given bool) {
	for _, name := range []string{"shell", "env", "dir"} {
		if c.Flags().Changed(name) {
			return name, true
		}
	}
	return "argv", len(argv) > 0
}

// command encodes the arguments of the kind command.
func (w workFlags) command(argv []string) ([]byte, error) {
	env, err := parseEnv(w.env)
	if err != nil {
		return nil, err
	}
	return kinds.Command{Argv: argv, Shell: w.shell, Env: env, Dir: w.dir}.Encode()
}

// parseEnv reads NAME=VALUE pairs. Values may be secrets, so messages leave
// them out.
func parseEnv(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	env := make(map[string]string, len(pairs))
	for i, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, &check.FieldError{Field: fmt.Sprintf("env[%d]", i), Problem: "has no name before a =", Remedy: "write NAME=VALUE"}
		}
		if _, twice := env[name]; twice {
			return nil, &check.FieldError{Field: "env", Value: check.Shorten(name), Problem: "is given twice", Remedy: "give each variable once"}
		}
		env[name] = value
	}
	return env, nil
}

// readArgs reads --args and checks it.
func (p *program) readArgs(source, kind string) ([]byte, error) {
	text, err := p.argsText(source)
	if err != nil {
		return nil, err
	}
	if err := check.Args("args", text); err != nil {
		return nil, err
	}
	if err := kinds.CheckArgs(kind, text); err != nil {
		return nil, err
	}
	return text, nil
}

func (p *program) argsText(source string) ([]byte, error) {
	if source == "-" {
		return readBounded(p.stdin, "standard input")
	}
	path, isFile := strings.CutPrefix(source, "@")
	if !isFile {
		return []byte(source), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, badArgsFile(path, err)
	}
	defer file.Close()
	return readBounded(file, path)
}

// readBounded reads at most the greatest size of arguments and one byte more,
// which shows that the input is too long.
func readBounded(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, check.MaxArgs+1))
	if err != nil {
		return nil, badArgsFile(name, err)
	}
	if len(text) > check.MaxArgs {
		return nil, &check.FieldError{
			Field: "args", Problem: fmt.Sprintf("are longer than %d bytes", check.MaxArgs),
			Remedy: "pass a reference to larger data",
		}
	}
	return bytes.TrimRight(text, "\r\n"), nil // the end of the line belongs to the file, not to the value
}

func badArgsFile(name string, err error) error {
	return &check.FieldError{
		Field: "args", Value: check.Shorten(name), Problem: "cannot be read: " + withoutPath(err).Error(),
		Remedy: "name a readable file, or - for standard input",
	}
}

// takesBeforeArgv checks the number of words before --, as takes does; names are the words.
func takesBeforeArgv(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		words, _ := splitArgv(c, args)
		return takes(false, names...)(c, words)
	}
}

// splitArgv separates the words before -- from the words after it.
func splitArgv(c *cobra.Command, args []string) (words, argv []string) {
	if dash := c.ArgsLenAtDash(); dash >= 0 {
		return args[:dash], args[dash:]
	}
	return args, nil
}
