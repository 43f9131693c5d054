package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/internal/crontab"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// Bounds for reading and listing schedules that no file declares.
const (
	mostSearched = 100_000
	mostNamed    = 20
)

// tellUndeclared logs the owners of crontabs whose schedules are in the store,
// in no file of this node, and in no copy of another host.
func (w *Watcher) tellUndeclared(ctx context.Context) {
	found, err := w.undeclared(ctx)
	if err != nil {
		w.log.Debug("schedules that no file declares could not be listed", "error", plain.OneLine(err.Error()))
		return
	}
	for _, owner := range slices.Sorted(maps.Keys(found)) {
		w.log.Warn("schedules of a crontab that neither a file of this node nor another host declares", "owner", owner,
			"schedules", len(found[owner]), "remedy", deleteRemedy(owner, found[owner]))
	}
}

// undeclared returns the names of such schedules, by owner.
func (w *Watcher) undeclared(ctx context.Context) (map[string][]string, error) {
	declared := map[string]bool{}
	for _, f := range w.files {
		if f.good != nil {
			declared[f.good.Owner] = true
		} else if f.Form != files.YAML {
			declared[w.loader.DefaultOwner(f.Source)] = true // its schedules stay until its mistakes are corrected
		}
	}
	if err := w.eachOwner(ctx, func(owner store.Owner) error {
		declared[owner.Name] = declared[owner.Name] || slices.ContainsFunc(owner.Copies, func(c store.Copy) bool { return c.Host != w.loader.Host })
		return nil
	}); err != nil {
		return nil, err
	}
	found, ofHost := map[string][]string{}, crontab.HostOwners(w.loader.Host)+":"
	filter := hourbell.ScheduleFilter{Limit: 1000}
	for range mostSearched / filter.Limit {
		page, err := w.client.Schedules.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			if ofCrontab := strings.HasPrefix(s.Owner, crontab.OwnerPrefix) || strings.HasPrefix(s.Owner, ofHost); ofCrontab && !declared[s.Owner] {
				found[s.Owner] = append(found[s.Owner], s.Name)
			}
			filter.After = s.Name
		}
		if len(page) < filter.Limit {
			break
		}
	}
	return found, nil
}

// deleteRemedy returns how to delete an owner's schedules.
func deleteRemedy(owner string, names []string) string {
	const when = "if its file is gone for good, delete them: "
	if len(names) > mostNamed {
		return fmt.Sprintf("%shourbell schedules list --owner %s lists their names, hourbell schedules delete deletes them", when, plain.ShellQuote(owner))
	}
	var words []string
	for _, name := range names {
		words = append(words, plain.ShellQuote(name))
	}
	return when + "hourbell schedules delete " + strings.Join(words, " ")
}
