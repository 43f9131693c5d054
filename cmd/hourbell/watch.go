package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/declared"
)

// watchEvery is how often the files are looked at. A change is in effect after
// two looks, once the file has been still for one: who reads while an editor
// writes would delete the schedules that are not written yet.
const watchEvery = 500 * time.Millisecond

// watcher keeps the schedules in the store equal to the files. It belongs to
// one goroutine.
type watcher struct {
	client *hourbell.Client
	log    *slog.Logger
	list   []source
	files  []*watched
}

// watched is where a file stands.
type watched struct {
	seen    os.FileInfo    // at the last look; nil: it was not there
	read    os.FileInfo    // when it was last read
	good    *declared.File // the last version without mistakes
	pending bool           // good is not in the store yet
	said    string         // the last complaint, so that it is made once
}

// newWatcher takes over files that have been read, and are not in the store
// yet. seen is how each looked before that.
func newWatcher(client *hourbell.Client, log *slog.Logger, list []source, seen []os.FileInfo, sets []*declared.File) *watcher {
	w := &watcher{client: client, log: log, list: list}
	for i, set := range sets {
		w.files = append(w.files, &watched{seen: seen[i], read: seen[i], good: set, pending: true})
	}
	return w
}

// syncAll brings every file into the store at the start; the first failure
// that is not a newer revision ends it.
func (w *watcher) syncAll(ctx context.Context) error {
	for i, f := range w.files {
		done, err := w.sync(ctx, f)
		switch {
		case errors.Is(err, hourbell.ErrStale):
			w.complain(i, err)
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", w.list[i].path, err)
		}
		w.tell(ctx, "file loaded", i, done)
	}
	return nil
}

// run looks at the files until ctx ends. Something on reread makes it read
// them whether they have changed or not.
func (w *watcher) run(ctx context.Context, reread <-chan os.Signal) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-reread:
			w.log.Info("files are read again")
			for i := range w.files {
				w.reload(ctx, i, look(w.list[i].path))
			}
		case <-tick.C:
			for i := range w.files {
				w.step(ctx, i)
			}
		}
	}
}

// step looks at one file: it is read when it has changed and is still.
func (w *watcher) step(ctx context.Context, i int) {
	f := w.files[i]
	now := look(w.list[i].path)
	still := same(now, f.seen)
	f.seen = now
	switch {
	case still && !same(now, f.read):
		w.reload(ctx, i, now)
	case f.pending:
		w.bring(ctx, i)
	}
}

// reload reads a file. One with mistakes changes nothing: the last good
// version goes on.
func (w *watcher) reload(ctx context.Context, i int, info os.FileInfo) {
	f := w.files[i]
	f.read, f.said = info, ""
	set, err := w.list[i].load()
	if err == nil {
		err = checkTogether(w.list, w.with(i, set))
	}
	if err != nil {
		w.complain(i, mistakes{err})
		return
	}
	f.good, f.pending = set, true
	w.bring(ctx, i)
}

// with are the sets of all files, with a new one for file i.
func (w *watcher) with(i int, set *declared.File) []*declared.File {
	sets := make([]*declared.File, len(w.files))
	for j, f := range w.files {
		sets[j] = f.good
	}
	sets[i] = set
	return sets
}

// bring syncs a file. Where the store fails it stays pending, and the next
// step tries again.
func (w *watcher) bring(ctx context.Context, i int) {
	f := w.files[i]
	done, err := w.sync(ctx, f)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		w.complain(i, err)
		return
	}
	f.said = ""
	w.tell(ctx, "file read again", i, done)
}

// sync makes the owner's schedules equal to the file's. An older revision is
// refused for good; after any other failure the file stays pending.
func (w *watcher) sync(ctx context.Context, f *watched) (hourbell.SyncResult, error) {
	done, err := w.client.Sync(ctx, f.good.Owner, f.good.Revision, f.good.Schedules())
	f.pending = err != nil && !errors.Is(err, hourbell.ErrStale)
	return done, err
}

// complain logs what is wrong with a file, once, a line for each mistake.
func (w *watcher) complain(i int, err error) {
	f := w.files[i]
	if f.said == err.Error() {
		return
	}
	f.said = err.Error()
	path := slog.String("file", w.list[i].path)
	var (
		wrong      mistakes
		unreadable *hourbell.FieldError
	)
	switch {
	case errors.Is(err, hourbell.ErrStale):
		w.log.Warn("file not used: a newer revision is in place", path, slog.Int64("revision", f.good.Revision))
	case errors.As(err, &wrong) && errors.As(err, &unreadable):
		w.log.Error("file not read; its last good version goes on", path, slog.String("error", oneLine(unreadable.Error())))
	case errors.As(err, &wrong):
		w.log.Error("file has mistakes; its last good version goes on", path, slog.String("mistakes", wrong.Error()))
	default:
		w.log.Error("file not in effect", path, slog.String("error", oneLine(err.Error())))
	}
}

// tell logs what a file brought.
func (w *watcher) tell(ctx context.Context, message string, i int, done hourbell.SyncResult) {
	set := w.files[i].good
	attrs := []slog.Attr{
		slog.String("file", w.list[i].path), slog.String("owner", set.Owner), slog.Int("schedules", len(set.Entries)),
		slog.Int("changed", done.Changed), slog.Int("deleted", done.Deleted),
	}
	if next := w.next(ctx, set.Owner); !next.IsZero() {
		attrs = append(attrs, slog.Time("next", next))
	}
	w.log.LogAttrs(ctx, slog.LevelInfo, message, attrs...)
}

// next is when the first of an owner's schedules rings; zero where that is not
// known, or too much to look through for a line in the log.
func (w *watcher) next(ctx context.Context, owner string) time.Time {
	const most = 1000
	found, err := w.client.Schedules(ctx, hourbell.ScheduleFilter{Owner: &owner, Limit: most})
	if err != nil || len(found) == most {
		return time.Time{}
	}
	var first time.Time
	for _, s := range found {
		if s.State() == "active" && (first.IsZero() || s.NextAt.Before(first)) {
			first = s.NextAt
		}
	}
	return first
}

// lookAll looks at every file.
func lookAll(list []source) []os.FileInfo {
	seen := make([]os.FileInfo, len(list))
	for i, s := range list {
		seen[i] = look(s.path)
	}
	return seen
}

// look is what is known of a file without reading it; nil: it cannot be seen.
func look(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// same says whether a file is the same in place, size and time of change.
func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
