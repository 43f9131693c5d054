package kinds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/hourbell/hourbell"
)

// ready is a command with everything that depends on this machine resolved: the
// program's file, the user, the environment.
type ready struct {
	path     string
	argv     []string
	shell    bool // path is the shell of a line, not the program of argv
	env      []string
	dir      string // empty: the node's own
	anywhere bool   // run it in / if dir cannot be entered
	stdin    []byte
	user     *identity // nil: the node's own
	detached Detached
	results  string // the file of resultsFile; empty: none
	steps    string // the folder of stepsFolder; empty: none
}

// prepare resolves a command so that it can start on this machine. It changes
// nothing.
func prepare(command Command, job *hourbell.JobRow) (ready, error) {
	var who *user.User
	r := ready{argv: command.Argv, dir: command.Dir, stdin: []byte(command.Stdin), detached: command.Detached}
	if command.User != "" {
		var err error
		if who, r.user, err = findUser(command.User); err != nil {
			return ready{}, err
		}
	}
	base := baseEnvironment(command.Base, who)
	r.env = environment(base, command.ownEnv(), job)
	if command.Base == BaseCron && r.dir == "" {
		r.dir = cronDir(valueOf(r.env, "HOME"))
	}
	if command.Shell != "" {
		r.useShell(command)
	} else if err := r.useProgram(command); err != nil {
		return ready{}, err
	}
	// A program path relative to the directory cannot be found from /.
	r.anywhere = command.Base == BaseCron && filepath.IsAbs(r.path)
	return r, nil
}

// useShell lets a shell run the line of a command.
func (r *ready) useShell(command Command) {
	shell := "/bin/sh"
	if command.Base == BaseCron {
		shell = valueOf(r.env, "SHELL")
	}
	r.path, r.argv, r.shell = shell, []string{shell, "-c", command.Shell}, true
}

// useProgram sets the path of the program of a command.
func (r *ready) useProgram(command Command) (err error) {
	// A crontab's line under a SHELL is read as the arguments of the shell.
	r.shell = command.Base == BaseCron && len(r.argv) == 3 && r.argv[1] == "-c" && r.argv[0] == command.Env["SHELL"]
	if r.path, err = findProgram(command, r.env); err != nil && r.shell {
		return noShell(r.argv[0], exec.ErrNotFound)
	}
	return err
}

// findUser looks up a login name on this machine. The error names it.
func findUser(name string) (*user.User, *identity, error) {
	who, identity, err := lookUpUser(name)
	if err != nil {
		return nil, nil, fmt.Errorf("user %q: %w", name, err)
	}
	return who, identity, nil
}

// lookUpUser looks up a login name on this machine, and refuses an account that has
// expired.
func lookUpUser(name string) (*user.User, *identity, error) {
	who, err := user.Lookup(name)
	if err != nil {
		return nil, nil, fmt.Errorf("not known on this machine: %w; create the user or correct the name", err)
	}
	identity, err := identify(who)
	if err == nil {
		err = checkAccount(shadowFile, name, time.Now())
	}
	if err != nil {
		return nil, nil, err
	}
	return who, identity, nil
}

// self returns the user who runs the node. A user without an entry in the list
// of users, as happens in containers, is represented by its number and the
// node's HOME.
func self() *user.User {
	number := strconv.Itoa(os.Geteuid())
	if who, err := user.LookupId(number); err == nil {
		return who
	}
	return &user.User{Uid: number, Username: number, HomeDir: os.Getenv("HOME")}
}

// cronDir returns the directory in which cron starts a command. Many service
// users have a home that does not exist; their lines run anyway.
func cronDir(home string) string {
	if info, err := os.Stat(home); err == nil && info.IsDir() {
		return home
	}
	return "/"
}

// findProgram returns the file to execute. Like execvp it looks up a bare name
// in the PATH that the command will have, which is not always the node's PATH.
func findProgram(command Command, env []string) (string, error) {
	name := command.Argv[0]
	if filepath.Base(name) != name {
		return name, nil // the system resolves it from the command's own directory
	}
	_, own := command.Env["PATH"]
	if runtime.GOOS == "windows" || !own && command.Base == BaseNode {
		return nodeProgram(name)
	}
	for _, dir := range filepath.SplitList(valueOf(env, "PATH")) {
		file := filepath.Join(dir, name)
		if filepath.IsAbs(dir) && executable(file) {
			return file, nil
		}
	}
	if own {
		return "", notFound(name, "in the PATH of its env")
	}
	return "", notFound(name, "in cron's PATH, "+cronPath)
}

func nodeProgram(name string) (string, error) {
	file, err := exec.LookPath(name)
	if err != nil {
		return "", notFound(name, "in the node's PATH")
	}
	return file, nil
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

func notFound(name, where string) error {
	return fmt.Errorf("command %q: not found %s: %w; install it on this node or give its full path", name, where, exec.ErrNotFound)
}

// startError distinguishes the causes that the system reports as one: "no such
// file or directory" may mean the directory, the program, or the interpreter in
// the program's first line.
func (r ready) startError(err error) error {
	if r.dir != "" {
		if info, statErr := os.Stat(r.dir); statErr != nil {
			return fmt.Errorf("dir %q: %w; create it on this node or correct dir", r.dir, cause(statErr))
		} else if !info.IsDir() {
			return fmt.Errorf("dir %q is not a directory; correct dir", r.dir)
		}
	}
	name := r.argv[0]
	if r.shell {
		return noShell(name, cause(err))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("command %q: %w", name, cause(err))
	}
	if _, statErr := os.Stat(fromDir(r.path, r.dir)); statErr == nil {
		return fmt.Errorf("command %q: its interpreter is missing: %w; correct its first line or install the interpreter", name, cause(err))
	}
	return fmt.Errorf("command %q: %w; install it on this node or correct the path", name, cause(err))
}

// noShell is the error for a shell that cannot be started.
func noShell(name string, why error) error {
	return fmt.Errorf("shell %q: %w; install it on this node, or set SHELL to another", name, why)
}

func fromDir(file, dir string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// cause removes the path and the system call from an error, because the message
// names them already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
