package files

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/hourbell/hourbell/internal/declared"
)

// spools are the folders in which cron programs keep users' crontabs, each with
// the name of its user.
var spools = []string{"/var/spool/cron/crontabs", "/var/spool/cron/tabs", "/var/spool/cron", "/var/cron/tabs"}

// spoolUser returns the user whose crontab a file is because of its place;
// empty if the file is not in a spool.
func spoolUser(path string) string { return userIn(spools, path) }

// userIn finds the user of a file in spools: by its path, and by the path
// behind its links. A link in a spool also has the name of its user.
func userIn(spools []string, path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	places := []string{abs}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		places = append(places, real)
	}
	for _, place := range places {
		if slices.ContainsFunc(spools, func(spool string) bool { return sameDir(spool, filepath.Dir(place)) }) {
			return filepath.Base(place)
		}
	}
	return ""
}

// sameDir reports whether two paths are the same directory, by name or in the
// file system.
func sameDir(a, b string) bool {
	if filepath.ToSlash(a) == filepath.ToSlash(b) {
		return true
	}
	first, second := Look(a), Look(b)
	return first != nil && second != nil && os.SameFile(first, second)
}

// distrust returns why the lines of a file may come from an untrusted user:
// every user who can write the file decides what runs. For a node that runs as
// root this is a mistake in a crontab, as for Debian's cron. Otherwise it is a
// warning, because the lines run with the rights of the node's own user, who
// chose the file.
func (l Loader) distrust(s Source, info os.FileInfo) (problems []declared.Error, refuse bool) {
	if runtime.GOOS == "windows" {
		return nil, false // this system does not keep permissions in the mode
	}
	add := func(problem, remedy string) {
		problems = append(problems, declared.Error{File: s.Path, Problem: problem, Remedy: remedy})
	}
	if info.Mode().Perm()&0o022 != 0 {
		add("can be written by other users than its owner, and "+l.Me.runsAs(), "chmod go-w it")
	}
	if uid, known := fileOwner(info); known && !l.trusts(s, uid) {
		add(fmt.Sprintf("belongs to user %s, and %s", userText(uid), l.Me.runsAs()), l.chown(s)+" it")
	}
	return problems, l.Me.Root && (l.Strict || l.Refuse) && s.Form != YAML
}

// trusts reports whether a file may belong to a user: root, the user of this
// process or, in cron's spool, the user whose name the file has.
func (l Loader) trusts(s Source, uid int) bool {
	return uid == 0 || uid == l.Me.UID || s.Form == UserCrontab && strconv.Itoa(uid) == uidOf(spoolUser(s.Path))
}

func (l Loader) chown(s Source) string {
	name := spoolUser(s.Path)
	switch {
	case s.Form == UserCrontab && uidOf(name) != "":
		return "chown " + name
	case l.Me.Root:
		return "chown root"
	}
	return "chown root or " + l.Me.Name
}

// runsAs returns the end of a sentence about users who can write a file.
func (me Identity) runsAs() string {
	if me.Root {
		return "this process runs as root"
	}
	return fmt.Sprintf("this process runs as %q", me.Name)
}

// uidOf returns the number of a user as a text; empty if there is no such user.
func uidOf(name string) string {
	if name == "" {
		return ""
	}
	u, err := user.Lookup(name)
	if err != nil {
		return ""
	}
	return u.Uid
}

// userText returns a user's name, or the number if the user has no name.
func userText(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return fmt.Sprintf("%q", u.Username)
	}
	return strconv.Itoa(uid)
}

// checkTrust adds the problems that distrust finds to the mistakes or warnings
// of the file. The set may be nil if the file has other mistakes.
func (l Loader) checkTrust(s Source, info os.FileInfo, set *declared.File) error {
	problems, refuse := l.distrust(s, info)
	var errs []error
	for _, p := range problems {
		if refuse {
			errs = append(errs, &p)
		} else if set != nil {
			set.Warn(p)
		}
	}
	return errors.Join(errs...)
}
