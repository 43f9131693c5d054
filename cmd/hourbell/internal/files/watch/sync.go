package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
)

// allow sets how long the client keeps jobs of each kind, and its allow-list to the commands that
// its files declare.
// Commands of earlier versions stay allowed while this process lives: otherwise
// no node would run a job that was made just before an edit, or that waits for
// a retry.
func (w *Watcher) allow() {
	w.keepKinds()
	if w.off {
		return
	}
	w.findUsers()
	var all []hourbell.Schedule
	for _, set := range w.sets() {
		for _, entry := range set.All() {
			all = append(all, w.runnable(entry.Schedule))
		}
	}
	for _, entry := range w.former {
		all = append(all, w.runnable(entry.Schedule))
	}
	if err := w.client.Allow(all...); err != nil { // the files were checked when they were read
		w.log.Error("commands are not allowed", "error", plain.OneLine(err.Error()))
	}
}

// keepKinds sets how long the node keeps finished jobs of each kind. The first
// file that names a kind decides.
func (w *Watcher) keepKinds() {
	keep, from := map[string]hourbell.Keep{}, map[string]string{}
	for _, f := range w.files {
		if f.good == nil {
			continue
		}
		for kind, k := range f.good.Keep {
			if first, taken := keep[kind]; taken {
				if first != k {
					w.log.Warn("kinds of the file not used: another file of this node decides", "file", f.Path, "kind", kind, "other", from[kind])
				}
				continue
			}
			keep[kind], from[kind] = k, f.Path
		}
	}
	if err := w.client.KeepKinds(keep); err != nil { // the files were checked when they were read
		w.log.Error("times to keep jobs are not in effect", "error", plain.OneLine(err.Error()))
	}
}

// mostFormer bounds the number of entries kept from earlier versions.
const mostFormer = 1000

// retire keeps the entries of a version of a file that is no longer current. set may be nil: there was no
// version.
func (w *Watcher) retire(set *declared.File) {
	if set == nil {
		return
	}
	w.former = append(w.former, set.All()...)
	w.former = w.former[max(0, len(w.former)-mostFormer):]
}

// bring syncs a file. If the store fails, the file stays pending, and the next
// step tries again.
func (w *Watcher) bring(ctx context.Context, f *watched) {
	done, err := w.sync(ctx, f)
	if ctx.Err() != nil {
		return
	}
	if w.keptOut(ctx, f, err) {
		return
	}
	if err != nil {
		w.complain(f, err)
		return
	}
	f.said, f.refused = "", false
	w.logChanges(ctx, "file read again", f, done)
}

// sync declares the file as this host's copy. A copy that is not in force is no failure for
// a repetition; after any other failure the file stays pending. If the file has
// changed its owner, the copy of the earlier owner ends.
func (w *Watcher) sync(ctx context.Context, f *watched) (hourbell.SyncResult, error) {
	if f.stored != nil && f.stored.Owner != f.good.Owner {
		if _, err := w.clear(w.as(ctx, f.Path), f.stored); err != nil {
			return hourbell.SyncResult{}, err
		}
	}
	done, err := w.client.Schedules.SyncCopy(w.as(ctx, f.Path), hourbell.HostCopy{
		Owner: f.good.Owner, Host: w.loader.Host, Path: absolute(f.Path), Revision: f.good.Revision, Schedules: f.good.Schedules(),
	}, f.good.LimitsOption()...)
	if f.pending = err != nil && !errors.Is(err, hourbell.ErrStale); !f.pending {
		f.stored = f.good
	}
	return done, err
}

// keptOut reports whether a sync failed because the file is not in force, and logs
// it.
func (w *Watcher) keptOut(ctx context.Context, f *watched, err error) bool {
	var kept *hourbell.NotInForceError
	if !errors.As(err, &kept) {
		if err == nil {
			f.differs = ""
		}
		return false
	}
	w.differs(ctx, f, kept.Owner)
	return true
}

// as returns a context for changes that a file of this node causes; the audit shows the file.
func (w *Watcher) as(ctx context.Context, path string) context.Context {
	return hourbell.WithActor(ctx, hourbell.Actor{Name: w.client.Name(), Source: "file " + path})
}

// complain logs the mistakes of a file once, one line for each mistake.
func (w *Watcher) complain(f *watched, err error) {
	if f.said == err.Error() {
		return
	}
	f.said, f.refused = err.Error(), true
	stays := "; its last good version stays in effect"
	if f.good == nil {
		stays = "; none of it is used"
	}
	path := slog.String("file", f.Path)
	var (
		wrong      files.MistakesError
		unreadable *check.FieldError
	)
	switch {
	case errors.As(err, &wrong) && errors.As(err, &unreadable):
		w.log.Error("file not read"+stays, path, slog.String("error", plain.OneLine(unreadable.Error())))
	case errors.As(err, &wrong):
		w.log.Error("file has mistakes"+stays, path, slog.String("mistakes", wrong.Error()))
	default:
		w.log.Error("file not in effect", path, slog.String("error", plain.OneLine(err.Error())))
	}
}

// tellWarnings logs the parts of a file that have no effect.
func (w *Watcher) tellWarnings(f *watched) {
	for _, warning := range f.good.Warnings {
		w.log.Warn("part of the file has no effect", slog.String("file", f.Path), slog.String("warning", warning.Error()))
	}
}

// tellStarts logs that new commands for the start of a node are not run now.
func (w *Watcher) tellStarts(f *watched, set *declared.File) {
	known := map[string]bool{}
	if f.good != nil {
		for _, entry := range f.good.AtStart {
			known[entry.Name] = true
		}
	}
	for _, entry := range set.AtStart {
		if !known[entry.Name] {
			w.log.Info("command for the start of a node waits for the next start", "file", f.Path, "line", entry.Line, "name", entry.Name)
		}
	}
}

// logChanges logs the changes that a file made.
func (w *Watcher) logChanges(ctx context.Context, message string, f *watched, done hourbell.SyncResult) {
	attrs := []slog.Attr{
		slog.String("file", f.Path), slog.String("owner", f.good.Owner), slog.Int("schedules", len(f.good.Entries)),
		slog.Int("changed", done.Changed), slog.Int("deleted", done.Deleted),
	}
	if n := len(f.good.Limits); n+done.Limits.Deleted > 0 {
		attrs = append(attrs, slog.Int("limits", n), slog.Int("limits_changed", done.Limits.Changed), slog.Int("limits_deleted", done.Limits.Deleted))
	}
	if n := len(f.good.AtStart); n > 0 {
		attrs = append(attrs, slog.Int("at_start", n))
	}
	if next := w.next(ctx, f.good.Owner); !next.IsZero() {
		attrs = append(attrs, slog.Time("next", next))
	}
	w.log.LogAttrs(ctx, slog.LevelInfo, message, attrs...)
}

// mostLookedAt bounds how many schedules of an owner are read for the log.
const mostLookedAt = 1000

// ofOwner returns the schedules of an owner in the store; ok is false if they
// are not known, or too many for a line in the log.
func (w *Watcher) ofOwner(ctx context.Context, owner string) (found []hourbell.ScheduleInfo, ok bool) {
	found, err := w.client.Schedules.List(ctx, hourbell.ScheduleFilter{Owner: &owner, Limit: mostLookedAt})
	return found, err == nil && len(found) < mostLookedAt
}

// next returns when the first of an owner's schedules rings; zero if that is
// not known.
func (w *Watcher) next(ctx context.Context, owner string) time.Time {
	found, ok := w.ofOwner(ctx, owner)
	if !ok {
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

// asStored returns a schedule as the store returns it, without its revision.
func asStored(s hourbell.Schedule) hourbell.Schedule {
	s.Revision = 0
	s.Queue = cmp.Or(s.Queue, "default")
	s.Priority = cmp.Or(s.Priority, 5)
	s.MaxAttempts = cmp.Or(s.MaxAttempts, 25)
	if job := declared.Raw(s.Job); len(job.JSON) == 0 {
		job.JSON = []byte("null")
		s.Job = job
	}
	s.Exclude = slices.Clone(s.Exclude)
	for i, c := range s.Exclude {
		if c.Stored {
			s.Exclude[i] = hourbell.StoredCalendar(c.Name) // whatever the calendar excludes now
		}
	}
	return s
}
