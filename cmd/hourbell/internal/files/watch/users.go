package watch

import (
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/internal/declared"
)

// A node runs no command as a user whose commands would not start on its machine: the
// command is not on the node's allow-list, so that the job stays in the queue for
// a node whose machine has the user.

// everyUsers is how often the users of commands are looked up again.
const everyUsers = 10 * time.Second

// userProblems returns why commands of users do not start on this machine, by the name of
// the user.
func (w *Watcher) userProblems() map[string]string {
	found := map[string]string{}
	for name := range w.linesOfUsers() {
		if err := w.loader.UserProblem(name); err != nil {
			found[name] = err.Error()
		}
	}
	return found
}

// linesOfUsers returns the names of the entries with commands of each user.
func (w *Watcher) linesOfUsers() map[string][]string {
	lines := map[string][]string{}
	for _, set := range w.sets() {
		for _, entry := range set.All() {
			add := func(_ string, job hourbell.Args) {
				if name := files.UserOf(job); name != "" && !slices.Contains(lines[name], entry.Name) {
					lines[name] = append(lines[name], entry.Name)
				}
			}
			add("", entry.Job)
			entry.Hooks.Each(add)
		}
	}
	return lines
}

// findUsers looks up the users of commands, and logs which of them can be used no longer,
// and again.
func (w *Watcher) findUsers() {
	before, lines := w.users, w.linesOfUsers()
	w.users = w.userProblems()
	for _, name := range slices.Sorted(maps.Keys(w.users)) {
		if why := w.users[name]; before[name] != why {
			w.log.Warn("lines not run by this node, because of their user", "user", name, "reason", why, "lines", len(lines[name]), "first", lines[name][0])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if w.users[name] == "" && len(lines[name]) > 0 {
			w.log.Info("lines run by this node again, because their user can be used", "user", name, "lines", len(lines[name]))
		}
	}
}

// checkUsers makes the allow-list again if a user has appeared, has gone or has
// expired.
func (w *Watcher) checkUsers() {
	if !w.off && !maps.Equal(w.userProblems(), w.users) {
		w.allow()
	}
}

// runnable returns a schedule without the commands, also of its hooks, that do not start on
// this machine because of their user.
func (w *Watcher) runnable(s hourbell.Schedule) hourbell.Schedule {
	if len(w.users) == 0 {
		return s
	}
	bad := func(job hourbell.Args) bool { return w.users[files.UserOf(job)] != "" }
	if bad(s.Job) {
		s.Job = nil
	}
	for _, name := range hourbell.HookNames() {
		s.Hooks.Set(name, slices.DeleteFunc(slices.Clone(s.Hooks.Field(name)), bad)...)
	}
	return s
}

// AtStart returns the commands that the files run at the start of a node, without
// the commands that do not start because of their user.
func (w *Watcher) AtStart() (entries []declared.Entry) {
	for _, set := range w.sets() {
		for _, entry := range set.AtStart {
			if name := files.UserOf(entry.Job); name == "" || w.loader.UserProblem(name) == nil {
				entries = append(entries, entry)
			}
		}
	}
	return entries
}
