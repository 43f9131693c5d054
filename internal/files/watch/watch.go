package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
)

// watchEvery is how often the files are checked. A change takes effect after
// two checks, when the file has not changed between them: a file that is read
// while an editor writes it would delete the schedules that are not written
// yet.
const watchEvery = 500 * time.Millisecond

// watcher keeps the schedules in the store equal to the files. It belongs to
// one goroutine.
type watcher struct {
	loader
	client *hourbell.Client
	log    *slog.Logger
	inputs []input
	files  []*watched
	off    bool              // this node runs no commands of the files
	former []declared.Entry  // from versions that are no longer current; see admit
	said   map[string]string // the last message about a directory
	left   map[string]bool   // ignored files that were logged
	losses int64             // number of losses of the store's history that were accepted
}

// watched is the state of a watched file.
type watched struct {
	source
	seen    os.FileInfo    // at the last check; nil: the file did not exist
	read    os.FileInfo    // when it was last read
	good    *declared.File // the last version without mistakes; nil: none yet
	stored  *declared.File // the last version that was synced to the store
	pending bool           // good is not in the store yet
	waiting *declared.File // a version that shares an owner or a name with another file
	fault   error          // the mistakes at the start
	said    string         // the last message, so that it is logged once
}

// openFiles reads the files of the inputs. Mistakes in a file that is itself an
// input are an error, which names every mistake in any such file; a file of a
// directory is left out until it has no mistakes, as it would be later.
func openFiles(l loader, list []input) (*watcher, error) {
	w := &watcher{loader: l, inputs: list, said: map[string]string{}, left: map[string]bool{}}
	files, _, err := l.tryAll(list)
	mustBe, all := []error{err}, []error{err}
	var named []loaded
	for _, f := range files {
		all = append(all, f.err)
		if f.dir == "" {
			named, mustBe = append(named, f.loaded), append(mustBe, f.err)
		}
	}
	together := checkTogether(named)
	if errors.Join(append(mustBe, together)...) != nil {
		return nil, mistakes{errors.Join(append(all, together)...)}
	}
	// Files of directories come later, and lose conflicts with files that are
	// inputs themselves.
	for _, inDir := range []bool{false, true} {
		for _, f := range files {
			if (f.dir != "") == inDir {
				w.open(f)
			}
		}
	}
	return w, nil
}

// open adds a file that was read at the start.
func (w *watcher) open(tried tried) {
	f := &watched{source: tried.source, seen: tried.seen, read: tried.seen}
	w.files = append(w.files, f)
	if tried.err != nil {
		f.fault = mistakes{tried.err}
		return
	}
	if err := checkTogether(w.with(f, tried.set)); err != nil {
		f.fault, f.waiting = mistakes{err}, tried.set
		return
	}
	f.good, f.pending = tried.set, true
}

// start sets the client and the logger of the watcher.
func (w *watcher) start(client *hourbell.Client, log *slog.Logger) {
	w.client, w.log = client, log
	for _, in := range w.inputs {
		_, left, _ := in.list()
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
func (w *watcher) tellLeft(in input, left []skipped) {
	now := map[string]bool{}
	for _, s := range left {
		now[s.path] = true
		if w.left[s.path] {
			continue
		}
		level := slog.LevelDebug
		if s.byName {
			level = slog.LevelWarn
		}
		w.log.Log(context.Background(), level, "file of a directory left alone", "file", s.path, "reason", s.reason)
		w.left[s.path] = true
	}
	maps.DeleteFunc(w.left, func(path string, _ bool) bool { return filepath.Dir(path) == filepath.Clean(in.path) && !now[path] })
}

// sets returns the good versions of all files.
func (w *watcher) sets() []*declared.File {
	var sets []*declared.File
	for _, f := range w.files {
		if f.good != nil {
			sets = append(sets, f.good)
		}
	}
	return sets
}

// syncAll syncs every file to the store at the start. The first failure ends
// it, with three exceptions: a newer revision in the store, a name of another
// owner in a file of a directory, and a store that went back in time.
func (w *watcher) syncAll(ctx context.Context) error {
	w.admit()
	for _, f := range w.files {
		if f.good == nil {
			continue
		}
		w.tellWarnings(f)
		done, err := w.sync(ctx, f)
		switch {
		case errors.Is(err, hourbell.ErrStale):
			w.stale(ctx, f)
			continue
		case errors.Is(err, hourbell.ErrConflict) && f.dir != "", errors.Is(err, hourbell.ErrSuspended):
			w.complain(f, err) // run tries again
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", f.path, err)
		}
		w.tell(ctx, "file loaded", f, done)
	}
	return nil
}

// run checks the files until ctx ends. A value on reread makes it read all
// files, changed or not.
func (w *watcher) run(ctx context.Context, reread <-chan os.Signal) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	w.tellUndeclared(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-reread:
			w.log.Info("files are read again")
			w.directories(ctx)
			for _, f := range w.files {
				if now := f.look(); now != nil || f.dir == "" {
					w.reload(ctx, f, now)
				}
			}
		case <-tick.C:
			w.bringAfterLoss()
			w.directories(ctx)
			for _, f := range w.files {
				w.step(ctx, f)
			}
		}
	}
}

// bringAfterLoss has every file synced again after an operator has accepted
// that the store went back in time, because the store may lack schedules of the
// files.
func (w *watcher) bringAfterLoss() {
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
func (w *watcher) directories(ctx context.Context) {
	for _, in := range w.inputs {
		info := look(in.path)
		if info == nil && !w.isDirectory(in) || info != nil && !info.IsDir() || in.form == yamlForm {
			continue
		}
		found, left, err := in.listDir()
		if err != nil {
			w.complainOnce(in.path, err)
			continue
		}
		delete(w.said, in.path)
		w.tellLeft(in, left)
		for _, s := range found {
			if !slices.ContainsFunc(w.files, func(f *watched) bool { return f.path == s.path }) {
				w.files = append(w.files, &watched{source: s, seen: look(s.path)})
			}
		}
		w.dropGone(ctx, in, info, found)
	}
}

// isDirectory reports whether files were found in an input.
func (w *watcher) isDirectory(in input) bool {
	return slices.ContainsFunc(w.files, func(f *watched) bool { return f.dir == in.path })
}

func (w *watcher) complainOnce(path string, err error) {
	if w.said[path] != err.Error() {
		w.said[path] = err.Error()
		w.log.Error("directory not read; the files known in it stay in effect", "directory", path, "error", plain.OneLine(err.Error()))
	}
}

// dropGone deletes the schedules of files that were missing in two checks. The
// modification time of the directory is the time of the removal; it becomes the
// last revision of the file, so that a node with an older directory does not
// restore the schedules.
func (w *watcher) dropGone(ctx context.Context, in input, info os.FileInfo, found []source) {
	before := len(w.files)
	w.files = slices.DeleteFunc(w.files, func(f *watched) bool {
		here := slices.ContainsFunc(found, func(s source) bool { return s.path == f.path })
		if f.dir != in.path || here || info == nil {
			return false
		}
		if f.seen != nil { // it may just be renamed
			f.seen = nil
			return false
		}
		gone := w.drop(ctx, f, info.ModTime().UnixMicro())
		if gone {
			w.retire(f.good)
		}
		return gone
	})
	if len(w.files) < before {
		w.admit()
	}
}

// drop deletes the schedules of a file that is gone; the result is false if the
// store failed.
func (w *watcher) drop(ctx context.Context, f *watched, at int64) bool {
	if f.stored == nil {
		return true
	}
	done, err := w.clear(ctx, f.stored, at)
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, hourbell.ErrStale):
		w.log.Warn("file is gone, but its schedules stay: the store has a newer revision", "file", f.path, "owner", f.stored.Owner)
	case err != nil:
		w.complain(f, err)
		return false
	default:
		w.log.Info("file is gone, and its schedules with it", "file", f.path, "owner", f.stored.Owner, "deleted", done.Deleted)
	}
	return true
}

// clear deletes the schedules of a set, with a time in microseconds as the
// revision.
func (w *watcher) clear(ctx context.Context, set *declared.File, at int64) (hourbell.SyncResult, error) {
	revision := set.Revision
	if set.Dated {
		revision = max(revision, at)
	}
	return w.client.Schedules.Sync(ctx, set.Owner, revision, nil)
}

// step checks one file: it is read when it has changed and is no longer being
// written.
func (w *watcher) step(ctx context.Context, f *watched) {
	now := f.look()
	if now == nil && f.dir != "" {
		return // directories decides about the file
	}
	still := same(now, f.seen)
	f.seen = now
	switch {
	case still && !same(now, f.read):
		w.reload(ctx, f, now)
	case f.pending:
		w.bring(ctx, f)
	case f.waiting != nil:
		w.take(ctx, f, f.waiting)
	}
}

// reload reads a file. A file with mistakes changes nothing: the last good
// version stays in effect.
func (w *watcher) reload(ctx context.Context, f *watched, info os.FileInfo) {
	f.read, f.said, f.waiting = info, "", nil
	file, err := w.load(f.source)
	if err != nil {
		w.complain(f, mistakes{err})
		return
	}
	w.take(ctx, f, file.set)
}

// take puts a version into effect. A version that shares an owner or a name
// with another file waits until the other file gives it up.
func (w *watcher) take(ctx context.Context, f *watched, set *declared.File) {
	if err := checkTogether(w.with(f, set)); err != nil {
		f.waiting = set
		w.complain(f, mistakes{err})
		return
	}
	w.tellStarts(f, set)
	w.retire(f.good)
	f.good, f.pending, f.waiting = set, true, nil
	w.admit()
	w.tellWarnings(f)
	w.bring(ctx, f)
}

// with returns all files; the last of them is the changed file with a new set.
func (w *watcher) with(changed *watched, set *declared.File) []loaded {
	all := make([]loaded, 0, len(w.files))
	for _, f := range w.files {
		if f != changed {
			all = append(all, loaded{f.source, f.good})
		}
	}
	return append(all, loaded{changed.source, set})
}

// look returns the file's state without reading the file; nil if the file
// cannot be seen or, in a directory, is no longer a regular file.
func (f *watched) look() os.FileInfo {
	info := look(f.path)
	if info != nil && f.dir != "" && !info.Mode().IsRegular() {
		return nil
	}
	return info
}
