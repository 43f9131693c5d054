// Package watch keeps the schedules in a store equal to files while a node runs,
// and the node's allow-list equal to the commands that its files declare. A file
// with mistakes changes nothing: its last good version stays in effect.
//
//	w, err := watch.Open(loader, inputs) // reads the files, opens no store
//	w.Start(client, logger)
//	err = w.SyncAll(ctx)
//	w.Run(ctx, reread) // until ctx ends
//
// The states of a file:
//
//	seen ──unchanged for two checks──▶ read ──no mistakes──▶ good, pending ──synced──▶ stored
//	                                    │                        ▲
//	                                    ├──mistakes──▶ the last good version stays
//	                                    └──shares an owner or a name──▶ waiting, until the other file gives it up
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/plan"
)

// Every is how often the files are checked. A change takes effect after
// two checks, when the file has not changed between them: a file that is read
// while an editor writes it would delete the schedules that are not written
// yet.
const Every = 500 * time.Millisecond

// Watcher keeps the schedules in the store equal to the files. It belongs to
// one goroutine, except States.
type Watcher struct {
	// OnReread, if it is set, is called when Run begins to read all files again, and the function that it
	// returns when they were read.
	OnReread func() (done func())

	loader files.Loader
	client *hourbell.Client
	log    *slog.Logger
	inputs []files.Input
	files  []*watched
	off    bool              // this node runs no commands of the files: see KeepAllowList
	former []declared.Entry  // from versions that are no longer current; see allow
	users  map[string]string // users whose commands do not start on this machine, and why
	said   map[string]string // the last message about a directory
	left   map[string]bool   // ignored files that were logged
	losses int64             // number of losses of the store's history that were accepted
	states atomic.Pointer[[]FileState]
}

// watched is the state of a watched file.
type watched struct {
	files.Source
	seen    os.FileInfo    // at the last check; nil: the file did not exist
	read    os.FileInfo    // when it was last read
	good    *declared.File // the last version without mistakes; nil: none yet
	stored  *declared.File // the last version that was synced to the store
	pending bool           // good is not in the store yet
	waiting *declared.File // a version that shares an owner or a name with another file
	differs string         // the digest of the version in force, if that is another and was logged
	fault   error          // the mistakes at the start
	said    string         // the last message, so that it is logged once
	refused bool           // the message is about a version that was refused
}

// Open reads the files of the inputs. Mistakes in a file that is itself an input
// are an error (files.MistakesError), which names every mistake in any such file; a
// file of a directory is left out until it has no mistakes, as it would be later.
func Open(l files.Loader, inputs []files.Input) (*Watcher, error) {
	if l.Host == "" {
		l.Host = plan.DefaultHost()
	}
	w := &Watcher{loader: l, inputs: inputs, said: map[string]string{}, left: map[string]bool{}}
	read, _, err := l.TryAll(inputs)
	mustBe, all := []error{err}, []error{err}
	var named []files.Loaded
	for _, f := range read {
		all = append(all, f.Err)
		if f.Dir == "" {
			named, mustBe = append(named, f.Loaded), append(mustBe, f.Err)
		}
	}
	together := files.CheckTogether(named)
	if errors.Join(append(mustBe, together)...) != nil {
		return nil, files.MistakesError{Err: errors.Join(append(all, together)...)}
	}
	// Files of directories come later, and lose conflicts with files that are
	// inputs themselves.
	for _, inDir := range []bool{false, true} {
		for _, f := range read {
			if (f.Dir != "") == inDir {
				w.open(f)
			}
		}
	}
	return w, nil
}

// open adds a file that was read at the start.
func (w *Watcher) open(tried files.Tried) {
	f := &watched{Source: tried.Source, seen: tried.Seen, read: tried.Seen}
	w.files = append(w.files, f)
	if tried.Err != nil {
		f.fault = files.MistakesError{Err: tried.Err}
		return
	}
	if err := files.CheckTogether(w.with(f, tried.Set)); err != nil {
		f.fault, f.waiting = files.MistakesError{Err: err}, tried.Set
		return
	}
	f.good, f.pending = tried.Set, true
}

// KeepAllowList leaves the client's allow-list as it is, for a node that runs no
// commands of its files. Call it before Start.
func (w *Watcher) KeepAllowList() { w.off = true }

// Start sets the client and the logger of the watcher, and logs what Open left
// out.
func (w *Watcher) Start(client *hourbell.Client, log *slog.Logger) {
	w.client, w.log = client, log
	for _, in := range w.inputs {
		_, left, _ := in.List()
		w.tellLeft(in, left)
	}
	for _, f := range w.files {
		if f.fault != nil {
			w.complain(f, f.fault)
			f.fault = nil
		}
	}
}

// tellLeft logs the ignored files of a directory, each once while it exists. A
// file that a user may expect to run is a warning.
func (w *Watcher) tellLeft(in files.Input, left []files.Skipped) {
	now := map[string]bool{}
	for _, s := range left {
		now[s.Path] = true
		if w.left[s.Path] {
			continue
		}
		level := slog.LevelDebug
		if s.ByName {
			level = slog.LevelWarn
		}
		w.log.Log(context.Background(), level, "file of a directory left alone", "file", s.Path, "reason", s.Reason)
		w.left[s.Path] = true
	}
	maps.DeleteFunc(w.left, func(path string, _ bool) bool { return filepath.Dir(path) == filepath.Clean(in.Path) && !now[path] })
}

// sets returns the good versions of all files.
func (w *Watcher) sets() []*declared.File {
	var sets []*declared.File
	for _, f := range w.files {
		if f.good != nil {
			sets = append(sets, f.good)
		}
	}
	return sets
}

// SyncAll syncs every file to the store at the start. The first failure ends
// it, with three exceptions: a copy that is not in force, a name of another
// owner in a file of a directory, and a store that went back in time.
func (w *Watcher) SyncAll(ctx context.Context) error {
	defer w.publish()
	w.allow()
	for _, f := range w.files {
		if f.good == nil {
			continue
		}
		w.tellWarnings(f)
		done, err := w.sync(ctx, f)
		switch {
		case w.keptOut(ctx, f, err):
			continue
		case errors.Is(err, hourbell.ErrConflict) && f.Dir != "", errors.Is(err, hourbell.ErrSuspended):
			w.complain(f, err) // Run tries again
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		w.logChanges(ctx, "file loaded", f, done)
	}
	return w.dropMissing(ctx)
}

// SyncLater is SyncAll for a node that works already: Run syncs the files, which have not changed
// as a rule.
func (w *Watcher) SyncLater() {
	w.allow()
	w.publish()
}

// Run checks the files until ctx ends. A value on reread makes it read all
// files, changed or not.
func (w *Watcher) Run(ctx context.Context, reread <-chan os.Signal) {
	tick, users, others := time.NewTicker(Every), time.NewTicker(everyUsers), time.NewTicker(everyCompare)
	defer tick.Stop()
	defer users.Stop()
	defer others.Stop()
	w.tellUndeclared(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-reread:
			w.log.Info("files are read again")
			done := func() {}
			if w.OnReread != nil {
				done = w.OnReread()
			}
			w.checkUsers()
			w.directories(ctx)
			for _, f := range w.files {
				if now := f.look(); now != nil || f.Dir == "" {
					w.reload(ctx, f, now)
				}
			}
			done()
		case <-users.C:
			w.checkUsers()
		case <-others.C:
			w.compare(ctx)
		case <-tick.C:
			w.bringAfterLoss()
			w.directories(ctx)
			for _, f := range w.files {
				w.step(ctx, f)
			}
		}
		w.publish()
	}
}

// bringAfterLoss has every file synced again after an operator has accepted
// that the store went back in time, because the store may lack schedules of the
// files.
func (w *Watcher) bringAfterLoss() {
	now := w.client.Events.Counts()[event.HistoryAccepted]
	if now == w.losses {
		return
	}
	w.losses = now
	for _, f := range w.files {
		f.pending = f.good != nil
	}
}

// directories adds files that have appeared in the directories, and drops files
// that have gone. A directory that cannot be read changes nothing.
func (w *Watcher) directories(ctx context.Context) {
	for _, in := range w.inputs {
		info := files.Look(in.Path)
		if info == nil && !w.isDirectory(in) || info != nil && !info.IsDir() || in.Form == files.YAML {
			continue
		}
		found, left, err := in.ListDir()
		if err != nil {
			w.complainOnce(in.Path, err)
			continue
		}
		delete(w.said, in.Path)
		w.tellLeft(in, left)
		for _, s := range found {
			if !slices.ContainsFunc(w.files, func(f *watched) bool { return f.Path == s.Path }) {
				w.files = append(w.files, &watched{Source: s, seen: files.Look(s.Path)})
			}
		}
		w.dropGone(ctx, in, info, found)
	}
}

// isDirectory reports whether files were found in an input.
func (w *Watcher) isDirectory(in files.Input) bool {
	return slices.ContainsFunc(w.files, func(f *watched) bool { return f.Dir == in.Path })
}

func (w *Watcher) complainOnce(path string, err error) {
	if w.said[path] != err.Error() {
		w.said[path] = err.Error()
		w.log.Error("directory not read; the files known in it stay in effect", "directory", path, "error", plain.OneLine(err.Error()))
	}
}

// dropGone ends the copies of files that were missing in two checks.
func (w *Watcher) dropGone(ctx context.Context, in files.Input, info os.FileInfo, found []files.Source) {
	before := len(w.files)
	w.files = slices.DeleteFunc(w.files, func(f *watched) bool {
		here := slices.ContainsFunc(found, func(s files.Source) bool { return s.Path == f.Path })
		if f.Dir != in.Path || here || info == nil {
			return false
		}
		if f.seen != nil { // it may just be renamed
			f.seen = nil
			return false
		}
		gone := w.drop(ctx, f)
		if gone {
			w.retire(f.good)
		}
		return gone
	})
	if len(w.files) < before {
		w.allow()
	}
}

// drop ends the copy of a file that is gone; the result is false if the store
// failed.
func (w *Watcher) drop(ctx context.Context, f *watched) bool {
	if f.stored == nil {
		return true
	}
	done, err := w.clear(w.as(ctx, f.Path), f.stored)
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		w.complain(f, err)
		return false
	}
	w.logGone(f.Path, f.stored.Owner, done.Deleted)
	return true
}

// clear ends this host's copy of a set. The schedules end with the last copy.
func (w *Watcher) clear(ctx context.Context, set *declared.File) (hourbell.SyncResult, error) {
	return w.client.Schedules.SyncCopy(ctx, hourbell.HostCopy{Owner: set.Owner, Host: w.loader.Host, Gone: true})
}

// step checks one file: it is read when it has changed and is no longer being
// written.
func (w *Watcher) step(ctx context.Context, f *watched) {
	now := f.look()
	if now == nil && f.Dir != "" {
		return // directories decides about the file
	}
	still := files.Same(now, f.seen)
	f.seen = now
	switch {
	case still && !files.Same(now, f.read):
		w.reload(ctx, f, now)
	case f.pending:
		w.bring(ctx, f)
	case f.waiting != nil:
		w.take(ctx, f, f.waiting)
	}
}

// reload reads a file. A file with mistakes changes nothing: the last good
// version stays in effect.
func (w *Watcher) reload(ctx context.Context, f *watched, info os.FileInfo) {
	f.read, f.said, f.refused, f.differs, f.waiting = info, "", false, "", nil
	file, err := w.loader.Load(f.Source)
	if err != nil {
		w.complain(f, files.MistakesError{Err: err})
		return
	}
	w.take(ctx, f, file.Set)
}

// take puts a version into effect. A version that shares an owner or a name
// with another file waits until the other file gives it up.
func (w *Watcher) take(ctx context.Context, f *watched, set *declared.File) {
	if err := files.CheckTogether(w.with(f, set)); err != nil {
		f.waiting = set
		w.complain(f, files.MistakesError{Err: err})
		return
	}
	w.tellStarts(f, set)
	w.retire(f.good)
	f.good, f.pending, f.waiting = set, true, nil
	w.allow()
	w.tellWarnings(f)
	w.bring(ctx, f)
}

// with returns all files; the last of them is the changed file with a new set.
func (w *Watcher) with(changed *watched, set *declared.File) []files.Loaded {
	all := make([]files.Loaded, 0, len(w.files))
	for _, f := range w.files {
		if f != changed {
			all = append(all, files.Loaded{Source: f.Source, Set: f.good})
		}
	}
	return append(all, files.Loaded{Source: changed.Source, Set: set})
}

// look returns the file's state without reading the file; nil if the file
// cannot be seen or, in a directory, is no longer a regular file.
func (f *watched) look() os.FileInfo {
	info := files.Look(f.Path)
	if info != nil && f.Dir != "" && !info.Mode().IsRegular() {
		return nil
	}
	return info
}
