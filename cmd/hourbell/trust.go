package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/hourbell/hourbell/cmd/hourbell/declared"
)

// spools are where crons keep users' crontabs, each called as its user.
var spools = []string{"/var/spool/cron/crontabs", "/var/spool/cron/tabs", "/var/spool/cron", "/var/cron/tabs"}

// spoolUser is whose crontab a file is by its place; empty: it is in no spool.
func spoolUser(path string) string { return userIn(spools, path) }

// userIn looks for the file in spools: where the path leads by itself, and
// where it leads through links. A link in a spool is called as its user too.
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

// sameDir says whether two paths lead to one directory, by its name or in fact.
func sameDir(a, b string) bool {
	if filepath.ToSlash(a) == filepath.ToSlash(b) {
		return true
	}
	first, second := look(a), look(b)
	return first != nil && second != nil && os.SameFile(first, second)
}

// distrust says why the lines of a file may be another's than they should:
// whoever can write it decides what runs. For a node that is root that is a
// mistake in a crontab, as it is for Debian's cron, and else a warning: the file
// gets no more then than the node's own user, who chose it.
func (l loader) distrust(s source, info os.FileInfo) (problems []declared.Error, refuse bool) {
	if runtime.GOOS == "windows" {
		return nil, false // permissions are kept elsewhere
	}
	add := func(problem, remedy string) {
		problems = append(problems, declared.Error{File: s.path, Problem: problem, Remedy: remedy})
	}
	if info.Mode().Perm()&0o022 != 0 {
		add("can be written by others than its owner, and "+l.me.runsAs(), "chmod go-w it")
	}
	if uid, known := fileOwner(info); known && !l.trusts(s, uid) {
		add(fmt.Sprintf("belongs to user %s, and %s", userText(uid), l.me.runsAs()), l.chown(s)+" it")
	}
	return problems, l.me.root && l.strict && s.form != yamlForm
}

// trusts says whether a file may belong to a user: root, this process's own
// or, in cron's spool, the one it is called as.
func (l loader) trusts(s source, uid int) bool {
	return uid == 0 || uid == l.me.uid || s.form == userForm && strconv.Itoa(uid) == uidOf(spoolUser(s.path))
}

func (l loader) chown(s source) string {
	name := spoolUser(s.path)
	switch {
	case s.form == userForm && uidOf(name) != "":
		return "chown " + name
	case l.me.root:
		return "chown root"
	}
	return "chown root or " + l.me.name
}

// runsAs ends a sentence about who can write a file.
func (me identity) runsAs() string {
	if me.root {
		return "this process runs as root"
	}
	return fmt.Sprintf("this process runs as %q", me.name)
}

// uidOf is the number of a user as a text; empty: there is no such user.
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

// userText is a user's name, or the number if it has none.
func userText(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return fmt.Sprintf("%q", u.Username)
	}
	return strconv.Itoa(uid)
}

// checkTrust adds what distrust says to what the file is refused or warned for.
// The set may be nil: the file has other mistakes.
func (l loader) checkTrust(s source, info os.FileInfo, set *declared.File) error {
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
