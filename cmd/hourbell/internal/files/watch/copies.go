package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// everyCompare is how often the files are compared with the versions in force, which other
// hosts may have replaced.
const everyCompare = 5 * time.Second

// compare logs which files differ from the version in force, and which differ no longer. A
// file whose version no host has any more is synced again.
func (w *Watcher) compare(ctx context.Context) {
	owners, err := w.ownersOfFiles(ctx)
	if err != nil {
		w.log.Debug("the copies of other hosts could not be read", "error", plain.OneLine(err.Error()))
		return
	}
	for _, f := range w.files {
		if f.good == nil || f.pending {
			continue
		}
		owner := owners[f.good.Owner]
		mine, known := owner.CopyOf(w.loader.Host)
		switch {
		case !known:
		case !owner.InForce(mine):
			w.differs(ctx, f, owner)
			f.pending = len(owner.Declaring()) == 0 && owner.Version.Host != ""
		case f.differs != "":
			f.differs, f.said, f.refused = "", "", false
			w.log.Info("file equals the version in force again", "file", f.Path, "owner", f.good.Owner)
		}
	}
}

// ownersOfFiles reads the owners of the files.
func (w *Watcher) ownersOfFiles(ctx context.Context) (map[string]store.Owner, error) {
	var names []string
	for _, set := range w.sets() {
		names = append(names, set.Owner)
	}
	found := map[string]store.Owner{}
	for part := range slices.Chunk(names, mostLookedAt) {
		owners, err := w.client.Schedules.Owners(ctx, hourbell.OwnerFilter{Names: part, Limit: mostLookedAt})
		if err != nil {
			return nil, err
		}
		for _, owner := range owners {
			found[owner.Name] = owner
		}
	}
	return found, nil
}

// differs logs once, for each version in force, that a file is not in force.
func (w *Watcher) differs(ctx context.Context, f *watched, owner store.Owner) {
	if f.differs == owner.Version.Digest {
		return
	}
	f.differs = owner.Version.Digest
	f.refused = false
	f.said = "it differs from the version in force, which " + declarer(owner.Version) + " declared"
	attrs := []slog.Attr{
		slog.String("file", f.Path), slog.String("owner", owner.Name), slog.String("host", owner.Version.Host), slog.Time("since", owner.Version.At),
	}
	if text := w.difference(ctx, f.good); text != "" {
		attrs = append(attrs, slog.String("difference", text))
	}
	attrs = append(attrs, slog.String("remedy", differsRemedy(f, owner, w.loader.Host)))
	w.log.LogAttrs(ctx, slog.LevelWarn, "file not in force: it differs from the version in force", attrs...)
}

// declarer returns in words who brought a version.
func declarer(v store.Version) string {
	if v.Host == "" {
		return "a program, or hourbell apply,"
	}
	return "host " + v.Host
}

// differsRemedy returns what to do about a file that is not in force.
func differsRemedy(f *watched, owner store.Owner, host string) string {
	bring := "bring the version in force to this host"
	if owner.Version.Host != "" && owner.Version.Host != host {
		bring = "bring the file of host " + owner.Version.Host + " to this host"
	}
	if f.good.Revision < owner.Revision {
		return fmt.Sprintf("%s, or give this file a revision of at least %d if it is the right version", bring, owner.Revision)
	}
	text := bring + ", or change this file if it is the right version: the newest change wins, and touch is no change"
	if f.Form != files.YAML && f.User() == "" && f.Host == "" {
		text += "; if it is another crontab of the same name, give it the line #hourbell-file: owner=NAME"
	}
	return text
}

// difference describes how the schedules in force differ from the schedules of a set; empty if the
// difference is not known.
func (w *Watcher) difference(ctx context.Context, set *declared.File) string {
	found, ok := w.ofOwner(ctx, set.Owner)
	if !ok {
		return ""
	}
	stored := map[string]hourbell.Schedule{}
	for _, info := range found {
		stored[info.Name] = asStored(info.Schedule)
	}
	var here, other, zones []string
	for _, entry := range set.Entries {
		mine, theirs := asStored(entry.Schedule), stored[entry.Name]
		_, known := stored[entry.Name]
		delete(stored, entry.Name)
		zone := theirs.Rule.Zone
		switch {
		case !known:
			here = append(here, entry.Name)
		case reflect.DeepEqual(mine, theirs):
		default:
			if theirs.Rule.Zone = mine.Rule.Zone; reflect.DeepEqual(mine, theirs) {
				zones = append(zones, fmt.Sprintf("%s here, %s in force", mine.Rule.Zone, zone))
				continue
			}
			other = append(other, entry.Name)
		}
	}
	var parts []string
	for _, part := range []struct {
		what  string
		names []string
	}{{"only here", here}, {"only in force", sortedNames(stored)}, {"not the same", other}} {
		if n := len(part.names); n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", part.what, someOf(part.names)))
		}
	}
	if len(zones) > 0 {
		slices.Sort(zones)
		parts = append(parts, "time zone: "+strings.Join(slices.Compact(zones), ", "))
	}
	return strings.Join(parts, "; ")
}

func sortedNames(schedules map[string]hourbell.Schedule) (names []string) {
	for name := range schedules {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// someOf returns the first of some names, and how many more there are.
func someOf(names []string) string {
	const most = 3
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// dropMissing ends the copies of files that this host declared before the node started, and
// that are no longer in the directories of this node.
func (w *Watcher) dropMissing(ctx context.Context) error {
	err := w.eachOwner(ctx, func(owner store.Owner) error {
		mine, known := owner.CopyOf(w.loader.Host)
		if !known || !w.missing(owner.Name, mine.Path) {
			return nil
		}
		done, err := w.client.Schedules.SyncCopy(w.as(ctx, mine.Path), hourbell.HostCopy{Owner: owner.Name, Host: w.loader.Host, Gone: true})
		if err == nil {
			w.logGone(mine.Path, owner.Name, done.Deleted)
		}
		return err
	})
	if errors.Is(err, hourbell.ErrSuspended) {
		return nil
	}
	return err
}

// eachOwner calls do for all owners that were synced.
func (w *Watcher) eachOwner(ctx context.Context, do func(store.Owner) error) error {
	filter := hourbell.OwnerFilter{Limit: mostLookedAt}
	for {
		owners, err := w.client.Schedules.Owners(ctx, filter)
		if err != nil {
			return err
		}
		for _, owner := range owners {
			filter.After = owner.Name
			if err := do(owner); err != nil {
				return err
			}
		}
		if len(owners) < filter.Limit {
			return nil
		}
	}
}

// missing reports whether a file was in a directory of this node and is there no longer.
func (w *Watcher) missing(owner, path string) bool {
	for _, set := range w.sets() {
		if set.Owner == owner {
			return false
		}
	}
	for _, in := range w.inputs {
		if in.Form != files.YAML && sameFolder(in.Path, filepath.Dir(path)) {
			info := files.Look(in.Path)
			return info != nil && info.IsDir() && files.Look(path) == nil
		}
	}
	return false
}

func sameFolder(a, b string) bool { return absolute(a) == absolute(b) }

// absolute returns a path from / on.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// logGone logs that a file has gone, and what became of its schedules.
func (w *Watcher) logGone(path, owner string, deleted int) {
	if deleted > 0 {
		w.log.Info("file is gone, and its schedules with it", "file", path, "owner", owner, "deleted", deleted)
		return
	}
	w.log.Info("file is gone from this host", "file", path, "owner", owner)
}
