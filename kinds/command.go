package kinds

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell"
)

// CommandKind is the kind of jobs that run an external command.
const CommandKind = "command"

// outputLimit is how much of a command's output is kept: its last bytes. It is
// what JobRow.SetOutput keeps.
const outputLimit = 64 << 10

// Command is the arguments of a job that runs an external command.
type Command struct {
	// Argv is the program and its arguments, run as they are, without a shell.
	// A program without a slash is looked up in PATH: that of Env, if it has
	// one, else the node's.
	Argv []string `json:"argv,omitempty"`
	// Shell is a line for /bin/sh -c. Exactly one of Argv and Shell is given.
	Shell string `json:"shell,omitempty"`
	// Env is added to the environment that Base names.
	Env map[string]string `json:"env,omitempty"`
	// Base is the environment the command begins with: BaseNode or BaseCron.
	Base Base `json:"base,omitempty"`
	// User is the login name of the user to run as, which needs a node that
	// runs as root (or as that user). Empty: the node's own user.
	User string `json:"user,omitempty"`
	// Dir is the working directory; empty means the node's own, under BaseCron
	// HOME.
	Dir string `json:"dir,omitempty"`
	// Stdin is what the command reads; empty means nothing.
	Stdin string `json:"stdin,omitempty"`
	// Detached says what becomes of processes that have left the command's
	// session and still live when it has ended.
	Detached Detached `json:"detached,omitempty"`
}

// Base is an environment to begin with.
type Base string

// The choices of Base.
const (
	// BaseNode is the node's environment, without HOURBELL_STORE (default).
	BaseNode Base = ""
	// BaseCron is what cron gives: SHELL=/bin/sh, PATH=/usr/bin:/bin, HOME and
	// LOGNAME of the user who runs the command, and what /etc/environment and
	// /etc/default/locale set, all on the machine where it runs.
	BaseCron Base = "cron"
)

// Detached says what becomes of processes that left their command's session.
type Detached string

// The choices of Detached.
const (
	// EndDetached ends them as the command's time being over would (default).
	EndDetached Detached = ""
	// KeepDetached leaves them alone after a command that ended by itself; they
	// are ended all the same where the claim is lost or the job is stopped.
	KeepDetached Detached = "keep"
)

// Kind returns CommandKind.
func (Command) Kind() string { return CommandKind }

// Encode returns the command as the arguments of a job. Equal commands have
// equal bytes, and what a shell line is full of (<, >, &) stays readable.
func (c Command) Encode() ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(c); err != nil {
		return nil, fmt.Errorf("encode command: %w", err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// DecodeCommand reads the arguments of a job of this kind. It refuses fields
// it does not know: a misspelt one must not be silently left out of what runs.
func DecodeCommand(args []byte) (Command, error) {
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.DisallowUnknownFields()
	var c Command
	if err := decoder.Decode(&c); err != nil {
		return Command{}, badArgs(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Command{}, badArgs("something follows the JSON value")
	}
	if err := c.Validate(); err != nil {
		return Command{}, err
	}
	return c, nil
}

func badArgs(problem string) error {
	return &hourbell.FieldError{
		Field: "args", Problem: "are not a command: " + problem,
		Remedy: `write {"argv":["program","argument"]} or {"shell":"line"}, with env, dir and stdin if needed`,
	}
}

// Validate reports everything that is wrong with the command, each as a
// *hourbell.FieldError joined by errors.Join, or nil. It looks at the command
// alone: whether the program exists is known only to the node that runs it.
func (c Command) Validate() error {
	errs := []error{c.checkOne(), checkText("shell", c.Shell), checkText("dir", c.Dir), checkUTF8("stdin", c.Stdin)}
	for i, arg := range c.Argv {
		errs = append(errs, checkText(fmt.Sprintf("argv[%d]", i), arg))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		errs = append(errs, checkEnvName(name), checkText("env "+strconv.Quote(name), c.Env[name]))
	}
	return errors.Join(errs...)
}

// checkOne refuses a command with nothing to run, or with two things.
func (c Command) checkOne() error {
	const remedy = "give the program and its arguments as argv, or one line as shell"
	switch {
	case len(c.Argv) > 0 && c.Shell != "":
		return &hourbell.FieldError{Field: "shell", Problem: "is given besides argv", Remedy: "give only one of them"}
	case len(c.Argv) > 0 && c.Argv[0] == "":
		return &hourbell.FieldError{Field: "argv[0]", Problem: "is empty", Remedy: "begin with the program to run"}
	case len(c.Argv) == 0 && c.Shell == "":
		return &hourbell.FieldError{Field: "argv", Problem: "is empty, and so is shell", Remedy: remedy}
	case len(c.Argv) == 0 && strings.TrimSpace(c.Shell) == "":
		return &hourbell.FieldError{Field: "shell", Problem: "is blank", Remedy: remedy}
	}
	return nil
}

// The messages of these checks leave the value out: it may be a secret.

func checkText(field, text string) error {
	if strings.ContainsRune(text, 0) {
		return &hourbell.FieldError{Field: field, Problem: "contains a NUL byte, which no system can pass on", Remedy: "remove it"}
	}
	return checkUTF8(field, text)
}

func checkUTF8(field, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return &hourbell.FieldError{Field: field, Problem: "is not valid UTF-8", Remedy: "write it in UTF-8, or read other bytes from a file"}
}

func checkEnvName(name string) error {
	if name != "" && !strings.ContainsAny(name, "=\x00") && utf8.ValidString(name) {
		return nil
	}
	return &hourbell.FieldError{
		Field: "env", Value: name, Problem: "is not a name of a variable",
		Remedy: "use a name without =, for example PATH",
	}
}

// ExitError says that a command ran and failed.
type ExitError struct {
	// Code is what the command exited with, 1 to 255; -1 if a signal ended it.
	Code int
	// Signal is the system's words for the signal that ended the command, such
	// as "killed", or empty.
	Signal string
}

// Error is "exit code 3" or "ended by signal: killed".
func (e *ExitError) Error() string {
	if e.Signal != "" {
		return "ended by signal: " + e.Signal
	}
	return "exit code " + strconv.Itoa(e.Code)
}

// CommandWorker runs commands. The zero value is ready, and safe for
// concurrent use.
//
// A command runs in a process group of its own and never outlives its job:
// when the job's context ends the group gets SIGTERM, and SIGKILL after Grace;
// what is left of the group after the command itself has ended goes the same
// way. After a lost claim there is no grace, since another node may start the
// job at any moment. Only processes that made a group or session of their own stay behind.
// (Systems without process groups kill the command alone, at once.)
//
// Its environment is the node's, then Command.Env, then HOURBELL_JOB_ID,
// HOURBELL_ATTEMPT, HOURBELL_SLOT (RFC 3339 in UTC; empty if the job was made
// for no slot) and HOURBELL_TOKEN, the fencing token. The node's
// HOURBELL_STORE is not passed on: it may hold a password.
//
// Standard output and error, as they come, are kept with the attempt: the
// last 64 KiB.
type CommandWorker struct {
	// Grace is how long a command may take to end after SIGTERM, and how long
	// its output is awaited from processes that it left behind. 0 means 3 s,
	// which is less than a stopping node waits (hourbell.Config.Grace).
	Grace time.Duration
}

// Work runs the job's command to its end; it is a hourbell.Handler. A command
// that failed gives an *ExitError; one that was stopped, an error that wraps
// context.Cause(ctx). Arguments that are no command fail the job for good.
func (w CommandWorker) Work(ctx context.Context, job *hourbell.JobRow) error {
	command, err := DecodeCommand(job.RawArgs)
	if err != nil {
		return hourbell.Fail(err)
	}
	output := &tail{limit: outputLimit}
	err = w.run(ctx, command, environment(os.Environ(), command.Env, job), output)
	job.SetOutput(output.bytes())
	return err
}

// run starts the command and stays with it until nothing of its group is left.
func (w CommandWorker) run(ctx context.Context, command Command, env []string, output io.Writer) error {
	if ctx.Err() != nil {
		return fmt.Errorf("command not started: %w", context.Cause(ctx))
	}
	grace := cmp.Or(w.Grace, 3*time.Second)
	cmd, err := prepare(command, env)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return startError(cmd, command, err)
	}
	finished := make(chan error, 1)
	go func() { finished <- cmd.Wait() }()

	select {
	case err := <-finished:
		endGroup(cmd.Process, grace)
		return exitError(err)
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), hourbell.ErrClaimLost) {
		grace = 0
	}
	endGroup(cmd.Process, grace)
	if err := exitError(<-finished); err != nil {
		return fmt.Errorf("command stopped (%w): %w", err, context.Cause(ctx))
	}
	return fmt.Errorf("command stopped: %w", context.Cause(ctx))
}

// prepare turns a command into a process that has not started.
func prepare(command Command, env []string) (*exec.Cmd, error) {
	argv := command.Argv
	if command.Shell != "" {
		argv = []string{"/bin/sh", "-c", command.Shell}
	}
	program, err := findProgram(argv[0], command.Env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: program, Args: argv, Env: env, Dir: command.Dir}
	if command.Stdin != "" {
		cmd.Stdin = strings.NewReader(command.Stdin)
	}
	ownGroup(cmd)
	return cmd, nil
}

// environment is what the command sees. Of a name given twice the last counts.
func environment(node []string, own map[string]string, job *hourbell.JobRow) []string {
	env := slices.DeleteFunc(slices.Clone(node), func(pair string) bool {
		return strings.HasPrefix(pair, "HOURBELL_STORE=")
	})
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+own[name])
	}
	slot := ""
	if !job.Slot.IsZero() {
		slot = job.Slot.UTC().Format(time.RFC3339Nano)
	}
	return append(env,
		"HOURBELL_JOB_ID="+strconv.FormatInt(job.ID, 10),
		"HOURBELL_ATTEMPT="+strconv.Itoa(job.Attempt),
		"HOURBELL_SLOT="+slot,
		"HOURBELL_TOKEN="+strconv.FormatInt(job.Token, 10),
	)
}

// exitError translates what exec.Cmd.Wait says.
func exitError(err error) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		// It ended well, but a process it left behind still holds its output.
		return nil
	case errors.As(err, &exit):
		return &ExitError{Code: exit.ExitCode(), Signal: endSignal(exit.ProcessState)}
	case err != nil:
		return fmt.Errorf("await command: %w", err)
	}
	return nil
}
