package files

import (
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

// Identity is the user of a process.
type Identity struct {
	Root bool   // it can run commands as any user
	Name string // its login name; empty if not known
	UID  int    // its number; -1 on systems without numbers
}

// WhoAmI reads the identity of this process from the system.
func WhoAmI() Identity {
	me := Identity{Root: os.Geteuid() == 0, UID: os.Geteuid()}
	if u, err := user.Current(); err == nil {
		me.Name = u.Username
	}
	return me
}

// knownUser reports whether this machine knows a login name.
func knownUser(name string) bool {
	_, err := user.Lookup(name)
	return err == nil
}

// checkUsers checks the users as which the commands of a file run. A user that
// this process cannot become is a mistake if this process runs the commands.
// Otherwise it is a warning, because another machine may be able to; a user whose
// commands would not start on this machine is a warning too. A node does not warn
// here: it looks up the users again while it runs (package watch).
func (l Loader) checkUsers(path string, set *declared.File) error {
	var errs declared.FileError
	seen := map[string]bool{}
	for _, entry := range set.All() {
		for _, name := range usersOf(entry.Schedule) {
			about := declared.Error{File: path, Line: entry.Line, Field: fmt.Sprintf("user %q", declared.Label(name, 60))}
			switch can := l.Me.Root || name == l.Me.Name; {
			case !can && l.Strict:
				about.Problem = fmt.Sprintf("needs a node that runs as root, and this one runs as %q", l.Me.Name)
				about.Remedy = "run the node as root or as this user, or leave the line out of its files"
				errs.Add(about)
			case !can:
				about.Problem, about.Remedy = "needs a node that runs as root or as this user", ""
				set.Warn(about)
			case !l.Strict && !seen[name]:
				seen[name] = true
				l.warnUser(name, about, set)
			}
		}
	}
	set.SortWarnings()
	return errs.Err()
}

// warnUser warns if commands of a user would not start on this machine.
func (l Loader) warnUser(name string, about declared.Error, set *declared.File) {
	switch err := l.UserProblem(name); {
	case !knownUser(name):
		about.Problem, about.Remedy = "is not known on this machine", "add the user to every machine that runs the line"
	case err != nil:
		about.Problem = "cannot be used on this machine: " + err.Error()
	default:
		return
	}
	set.Warn(about)
}

// UserProblem returns why commands of a user do not start on this machine, or nil.
func (l Loader) UserProblem(name string) error {
	if l.CheckUser != nil {
		return l.CheckUser(name)
	}
	return kinds.CheckUser(name)
}

// usersOf returns the users named by a schedule's command and by the commands
// of its hooks.
func usersOf(s hourbell.Schedule) []string {
	var names []string
	add := func(_ string, job hourbell.Args) {
		if name := UserOf(job); name != "" {
			names = append(names, name)
		}
	}
	add("", s.Job)
	s.Hooks.Each(add)
	return names
}

// UserOf returns the user that a command names; empty if the job is not a command,
// or if the command runs as the node's own user.
func UserOf(job hourbell.Args) string {
	raw := declared.Raw(job)
	if raw.Name != kinds.CommandKind {
		return ""
	}
	command, err := kinds.DecodeCommand(raw.JSON)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(command.User)
}
