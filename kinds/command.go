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
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/steps"
)

// CommandKind is the kind of the jobs that run an external command.
const CommandKind = "command"

// Command is the arguments of a job that runs an external command.
type Command struct {
	// Argv is the program and its arguments, executed without a shell. A
	// program name without a slash is looked up in the PATH of Env, or else in
	// the PATH of Base.
	Argv []string `json:"argv,omitempty"`
	// Shell is a line for /bin/sh -c; under BaseCron for the SHELL variable of
	// Env, if Env sets it. Exactly one of Argv and Shell is given.
	Shell string `json:"shell,omitempty"`
	// Env is added to the environment that Base selects. Under BaseCron LOGNAME
	// cannot be set.
	Env map[string]string `json:"env,omitempty"`
	// Base selects the initial environment of the command: BaseNode or
	// BaseCron.
	Base Base `json:"base,omitempty"`
	// User is the login name of the user to run as, with all its groups. This
	// needs a node that runs as root (or as that user). HOME, LOGNAME and USER
	// are set to match unless Env sets them. Empty: the node's own user.
	User string `json:"user,omitempty"`
	// Dir is the working directory. Empty means the node's own directory, and
	// under BaseCron HOME, or / if that directory does not exist. As cron does,
	// BaseCron runs a command even if Dir cannot be entered: on Unix in /, with
	// a line about it in the output.
	Dir string `json:"dir,omitempty"`
	// Stdin is the command's standard input, a pipe on Unix; it may be empty.
	Stdin string `json:"stdin,omitempty"`
	// Detached selects what happens to processes that have left the command's
	// session and are still alive when the session has ended.
	Detached Detached `json:"detached,omitempty"`
}

// Base is an initial environment.
type Base string

// The values of Base.
const (
	// BaseNode is the node's environment, without HOURBELL_STORE and
	// HOURBELL_NOTIFY_URL (default).
	BaseNode Base = ""
	// BaseCron is the environment of Debian's cron: the variables of
	// /etc/environment and /etc/default/locale, overridden by SHELL=/bin/sh,
	// PATH=/usr/bin:/bin, and HOME and LOGNAME of the user who runs the
	// command, all on the machine where it runs.
	BaseCron Base = "cron"
)

// Detached selects what happens to processes that left their command's session.
type Detached string

// The values of Detached.
const (
	// EndDetached ends them, with SIGTERM and SIGKILL as after the job's
	// timeout (default).
	EndDetached Detached = ""
	// KeepDetached leaves them running after a command that ended by itself;
	// they are still ended if the claim is lost or the job is stopped. A
	// process that still writes to the command's output gets SIGPIPE.
	KeepDetached Detached = "keep"
)

// Kind returns CommandKind.
func (Command) Kind() string { return CommandKind }

// Encode returns the command as the arguments of a job. Equal commands have
// equal bytes, and the characters <, > and &, which are common in shell lines,
// stay readable.
func (c Command) Encode() ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return encode(c)
}

// DecodeCommand reads the arguments of a job of this kind. It refuses unknown
// fields, because a misspelt field must not be ignored silently.
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
	return &check.FieldError{
		Field: "args", Problem: "are not a command: " + problem,
		Remedy: `write {"argv":["program","argument"]} or {"shell":"line"}, with env, base, user, dir, stdin and detached if needed`,
	}
}

// Validate reports everything that is wrong with the command, each as a
// *check.FieldError joined by errors.Join, or nil. It checks the command
// only; whether the program exists is known only to the node that runs it.
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

// checkOne refuses a command that has neither Argv nor Shell, or both.
func (c Command) checkOne() error {
	switch {
	case len(c.Argv) > 0 && c.Shell != "":
		return &check.FieldError{Field: "shell", Problem: "is given besides argv", Remedy: "give only one of them"}
	case len(c.Argv) > 0 && c.Argv[0] == "":
		return &check.FieldError{Field: "argv[0]", Problem: "is empty", Remedy: "begin with the program to run"}
	case len(c.Argv) == 0 && c.Shell == "":
		return &check.FieldError{
			Field: "argv", Problem: "is empty, and so is shell",
			Remedy: "give the program and its arguments as argv, or one line as shell",
		}
	case len(c.Argv) == 0 && strings.TrimSpace(c.Shell) == "":
		return &check.FieldError{Field: "shell", Problem: "is blank", Remedy: "write the line to run"}
	}
	return nil
}

// checkUser refuses text that cannot be a login name; whether the user exists
// is known only to the node that runs the command.
func (c Command) checkUser() error {
	if !strings.ContainsAny(c.User, ": \t\r\n\x00/") && utf8.ValidString(c.User) {
		return nil
	}
	return &check.FieldError{
		Field: "user", Value: c.User, Problem: "is not a login name",
		Remedy: "write the name as it is in the first column of /etc/passwd",
	}
}

// checkChoice refuses every value except the default, which is empty, and
// other.
func checkChoice(field, value, empty, other string) error {
	if value == empty || value == other {
		return nil
	}
	return &check.FieldError{
		Field: field, Value: value, Problem: "is not a choice",
		Remedy: "write " + other + ", or leave it out",
	}
}

// The messages of these checks do not contain the value, because it may be a
// secret.

func checkText(field, text string) error {
	if strings.ContainsRune(text, 0) {
		return &check.FieldError{Field: field, Problem: "contains a NUL byte, which no system accepts", Remedy: "remove it"}
	}
	return checkUTF8(field, text)
}

func checkUTF8(field, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return &check.FieldError{Field: field, Problem: "is not valid UTF-8", Remedy: "write it in UTF-8, or read other bytes from a file"}
}

func checkEnvName(name string) error {
	if name != "" && !strings.ContainsAny(name, "=\x00") && utf8.ValidString(name) {
		return nil
	}
	return &check.FieldError{
		Field: "env", Value: name, Problem: "is not a name of a variable",
		Remedy: "use a name without =, for example PATH",
	}
}

// ExitError reports that a command ran and failed.
type ExitError struct {
	// Code is the command's exit code, 1 to 255; -1 if a signal ended it.
	Code int
	// Signal is the system's description of the signal that ended the command,
	// such as "killed"; empty if no signal did.
	Signal string
}

// Error returns a text such as "exit code 3" or "ended by signal: killed".
func (e *ExitError) Error() string {
	if e.Signal != "" {
		return "ended by signal: " + e.Signal
	}
	return "exit code " + strconv.Itoa(e.Code)
}

// CommandWorker runs commands. The zero value is ready, and safe for concurrent
// use.
//
// On Unix each command runs under a supervisor: a small process that is this
// program's file, executed again, and that knows how long the claim on the job
// may be trusted. Therefore a command never runs concurrently with its
// replacement. The supervisor ends the command, with every process it has
// started, when the job's context ends, when the node dies (also by kill -9)
// and before the claim expires, even if the node is stopped by a signal. All
// these processes get SIGTERM, and SIGKILL after Grace or when the claim
// expires, if that is sooner; after a lost claim they get SIGKILL at once. A
// command that was ended because its claim was about to expire returns an error
// that wraps hourbell.ErrClaimLost: the attempt does not count.
//
// A run lasts until the command's session is empty (each command has its own
// session, as under cron), including the background processes of a shell line.
// Then processes that have left the session are ended as well, with a line
// about it in the output, or left running if Command.Detached selects that.
//
// On Linux the only processes that escape run as a user whom the node may not
// signal, are started by other services (at, systemd-run, a container's
// daemon), or belong to a command that attacks its supervisor and has the node
// killed too; running commands as another user prevents the last case. On other
// Unix systems, processes that leave the command's process group are not found.
// On systems other than Unix only the command itself is killed, at once, and
// only while the node lives.
//
// The environment of a command is the one that Command.Base selects, then
// Command.Env, then HOURBELL_JOB_ID, HOURBELL_ATTEMPT, HOURBELL_SLOT (RFC 3339
// in UTC; empty if the job was made for no slot), HOURBELL_TOKEN, the fencing
// token, HOURBELL_NODE and HOURBELL_HOST, the name and the host of the node. On Unix there is also HOURBELL_RUN, by which the node finds
// the remaining processes of a command whose supervisor was killed. The node's
// HOURBELL_STORE and HOURBELL_NOTIFY_URL are not passed on, because they may
// contain a password. The
// command of a hook also has HOURBELL_HOOK, which is success, failure, retry,
// missed or recovery, and reads the hook's event from its standard input, unless the
// command has its own input. If the job follows others, HOURBELL_RESULTS names a file
// with mode 0600 that is removed after the attempt: a JSON object that has, by the name
// of a predecessor in its graph or by its number, its id, kind, state, reason and
// result.
//
// Standard output and error are stored together with the attempt, in the order
// of arrival: the last 64 KiB, which can be read while the command runs (see
// JobRow.Writer). The command never blocks on writing them.
type CommandWorker struct {
	// Grace is how long a command may run after SIGTERM before it gets SIGKILL.
	// 0 means 3 s, which is less than a stopping node waits
	// (hourbell.Config.Grace).
	Grace time.Duration
	// Mail, if not nil, mails the output of commands in cron's environment.
	Mail *Mailer
}

// Work runs the job's command until it ends; it is a hourbell.Handler. A
// command that failed returns an *ExitError; a command that was stopped returns
// an error that wraps context.Cause(ctx). Arguments that are not a valid
// command fail the job without a retry.
//
// On Linux a running command can be handed over: register the worker with
// hourbell.CanHandOver.
func (w CommandWorker) Work(ctx context.Context, job *hourbell.JobRow) error {
	command, err := DecodeCommand(job.RawArgs)
	if left := handover.Of(ctx).Left; left != nil {
		err = w.goOn(ctx, left, job)
	} else if err != nil {
		return hourbell.Fail(err)
	} else {
		if about, hook := job.Headers[hourbell.HookHeader]; hook && command.Stdin == "" {
			command.Stdin = about
		}
		err = w.run(ctx, command, job)
	}
	w.Mail.send(ctx, w, command, job, err)
	return err
}

// run starts the command, unless ctx has ended, and waits until it ends.
func (w CommandWorker) run(ctx context.Context, command Command, job *hourbell.JobRow) (err error) {
	if ctx.Err() != nil {
		return fmt.Errorf("command not started: %w", context.Cause(ctx))
	}
	ready, err := prepare(command, job)
	if err != nil {
		return err
	}
	if ready.results, err = resultsFile(ctx, job, ready.user); err != nil {
		return err
	}
	defer func() { removeResults(ready.results, err) }()
	if ready.results != "" {
		ready.env = lastOfEach(append(ready.env, "HOURBELL_RESULTS="+ready.results))
	}
	if ready.steps, err = stepsFolder(ready.user); err != nil {
		return err
	}
	defer func() { removeSteps(ready.steps, err) }()
	ready.env = lastOfEach(append(ready.env, steps.Variable+"="+steps.Path(ready.steps)))
	server, err := serveSteps(ctx, ready.steps, job)
	if err != nil {
		return err
	}
	defer server.Close()
	err = w.execute(ctx, ready, job, server)
	return afterSteps(server.Parked(), err)
}

// grace is how long a command may run after SIGTERM.
func (w CommandWorker) grace() time.Duration { return cmp.Or(w.Grace, 3*time.Second) }

// graceFor returns the grace after the job's context has ended for the given
// cause: none if another node may start the job at any moment.
func (w CommandWorker) graceFor(cause error) time.Duration {
	if errors.Is(cause, hourbell.ErrClaimLost) {
		return 0
	}
	return w.grace()
}

// stopped returns the error of a command that ended because its job's context
// ended.
func stopped(exit, cause error) error {
	if exit != nil {
		return fmt.Errorf("command stopped (%w): %w", exit, cause)
	}
	return fmt.Errorf("command stopped: %w", cause)
}

// tell appends a line to the output that does not come from the command.
func tell(job *hourbell.JobRow, format string, args ...any) {
	if text := job.Output(); len(text) > 0 && text[len(text)-1] != '\n' {
		job.Log("")
	}
	job.Log("hourbell: "+format, args...)
}
