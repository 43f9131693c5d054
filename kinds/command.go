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
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/supervise"
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
	// one, else that of Base.
	Argv []string `json:"argv,omitempty"`
	// Shell is a line for /bin/sh -c, under BaseCron for the SHELL of Env, if
	// it has one. Exactly one of Argv and Shell is given.
	Shell string `json:"shell,omitempty"`
	// Env is added to the environment that Base names. Under BaseCron LOGNAME
	// cannot be set.
	Env map[string]string `json:"env,omitempty"`
	// Base is the environment the command begins with: BaseNode or BaseCron.
	Base Base `json:"base,omitempty"`
	// User is the login name of the user to run as, with all its groups, which
	// needs a node that runs as root (or as that user). HOME, LOGNAME and USER
	// are set to match unless Env sets them. Empty: the node's own user.
	User string `json:"user,omitempty"`
	// Dir is the working directory; empty means the node's own, under BaseCron
	// HOME, or / if there is no such directory. As cron does, BaseCron runs a
	// command also where Dir cannot be entered: on Unix, in /, with a line about
	// it in the output.
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
	// BaseCron is what Debian's cron gives: what /etc/environment and
	// /etc/default/locale set, and over that SHELL=/bin/sh, PATH=/usr/bin:/bin,
	// HOME and LOGNAME of the user who runs the command, all on the machine
	// where it runs.
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
	// One that still writes to the command's output gets SIGPIPE.
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
		Remedy: `write {"argv":["program","argument"]} or {"shell":"line"}, with env, base, user, dir, stdin and detached if needed`,
	}
}

// Validate reports everything that is wrong with the command, each as a
// *hourbell.FieldError joined by errors.Join, or nil. It looks at the command
// alone: whether the program exists is known only to the node that runs it.
func (c Command) Validate() error {
	errs := []error{
		c.checkOne(), checkText("shell", c.Shell), checkText("dir", c.Dir), checkUTF8("stdin", c.Stdin), c.checkUser(),
		checkChoice("base", string(c.Base), string(BaseNode), string(BaseCron)),
		checkChoice("detached", string(c.Detached), string(EndDetached), string(KeepDetached)),
	}
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

// checkUser refuses what can be no login name; whether there is such a user is
// known only to the node that runs the command.
func (c Command) checkUser() error {
	if !strings.ContainsAny(c.User, ": \t\r\n\x00/") && utf8.ValidString(c.User) {
		return nil
	}
	return &hourbell.FieldError{
		Field: "user", Value: c.User, Problem: "is not a login name",
		Remedy: "write the name as it is in the first column of /etc/passwd",
	}
}

// checkChoice refuses anything but the default, which is empty, and the other.
func checkChoice(field, value, empty, other string) error {
	if value == empty || value == other {
		return nil
	}
	return &hourbell.FieldError{
		Field: field, Value: value, Problem: "is not a choice",
		Remedy: "write " + other + ", or leave it out",
	}
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
// On Unix each command runs under a supervisor, a small process of its own
// that is this program's file run anew and that knows how long the claim on
// the job may be trusted. So a command never runs on beside its replacement:
// it ends, with all it has started, when the job's context ends, when the node
// dies (kill -9 too) and before the claim passes, also while the node is
// stopped by a signal. All of it gets SIGTERM then, and SIGKILL after Grace or
// when the claim passes, if that is sooner; after a lost claim at once. A
// command that was ended because its claim was about to pass gives an error
// that wraps hourbell.ErrClaimLost: the attempt does not count.
//
// A run lasts until the command's session (it has one of its own, as under
// cron) is empty, background processes of a shell line included. Then what has
// left the session is ended as well, with a line about it in the output, or
// left alone if Command.Detached says so.
//
// On Linux nothing escapes but what runs as a user whom the node may not
// signal, or is started by other services (at, systemd-run, a container's
// daemon), or attacks its supervisor and has the node killed too: running
// commands as another user prevents that. On other Unix systems what leaves the
// command's process group is not found. Systems that are no Unix kill the
// command alone, at once, and only while the node lives.
//
// What a command sees is the environment that Command.Base names, then
// Command.Env, then HOURBELL_JOB_ID, HOURBELL_ATTEMPT, HOURBELL_SLOT (RFC 3339
// in UTC; empty if the job was made for no slot) and HOURBELL_TOKEN, the
// fencing token. On Unix there is also HOURBELL_RUN, by which the node finds
// what is left of a command whose supervisor was killed. The node's
// HOURBELL_STORE is not passed on: it may hold a password. The command of a
// hook also has HOURBELL_HOOK, which is failure, missed or recovery, and reads
// what it is about from its standard input, unless it has one of its own.
//
// Standard output and error, as they come, are kept with the attempt: the
// last 64 KiB. The command never waits for them to be taken.
type CommandWorker struct {
	// Grace is how long a command may take to end after SIGTERM. 0 means 3 s,
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
	if about, hook := job.Headers[hourbell.HookHeader]; hook && command.Stdin == "" {
		command.Stdin = about
	}
	output := supervise.NewTail(outputLimit)
	err = w.run(ctx, command, job, output)
	job.SetOutput(output.Bytes())
	return err
}

// run starts the command, unless it is too late, and stays with it to its end.
func (w CommandWorker) run(ctx context.Context, command Command, job *hourbell.JobRow, output *supervise.Tail) error {
	if ctx.Err() != nil {
		return fmt.Errorf("command not started: %w", context.Cause(ctx))
	}
	ready, err := prepare(command, job)
	if err != nil {
		return err
	}
	return w.execute(ctx, ready, job, output)
}

// grace is how long a command may take to end after SIGTERM.
func (w CommandWorker) grace() time.Duration { return cmp.Or(w.Grace, 3*time.Second) }

// graceFor is the grace that the end of a job's context leaves: none when
// another node may start the job at any moment.
func (w CommandWorker) graceFor(cause error) time.Duration {
	if errors.Is(cause, hourbell.ErrClaimLost) {
		return 0
	}
	return w.grace()
}

// stopped is the error of a command that ended because its job's context did.
func stopped(exit, cause error) error {
	if exit != nil {
		return fmt.Errorf("command stopped (%w): %w", exit, cause)
	}
	return fmt.Errorf("command stopped: %w", cause)
}
