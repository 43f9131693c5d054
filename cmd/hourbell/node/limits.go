package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/files/watch"
	"github.com/hourbell/hourbell/internal/plain"
)

// Widths are numbers of jobs at once, by queue or by kind.
type Widths struct {
	Path  string // of the file that has the numbers; empty: they do not change
	Parse func(text string) (map[string]int, error)
}

// maxWidths is how many bytes a file of Widths has at most.
const maxWidths = 1 << 20

// Read returns the numbers as they are now.
func (w Widths) Read() (map[string]int, error) {
	if w.Path == "" {
		return w.Parse("")
	}
	unreadable := func(problem string) error {
		return &check.FieldError{Field: "file", Value: check.Shorten(w.Path), Problem: "cannot be read: " + problem, Remedy: "name a readable file of at most 1 MiB after the @"}
	}
	info, err := os.Stat(w.Path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxWidths) {
		return nil, unreadable("it is not a file, or too large")
	}
	text, err := os.ReadFile(w.Path)
	if err != nil {
		return nil, unreadable(err.Error())
	}
	return w.Parse(string(text))
}

// Limits are the numbers of workers of a node.
type Limits struct {
	Queues, MaxRunning Widths
}

// checkKinds checks that the node runs the kinds that have a bound.
func checkKinds(maxRunning map[string]int, kinds []string) error {
	var errs []error
	for _, kind := range slices.Sorted(maps.Keys(maxRunning)) {
		if !slices.Contains(kinds, kind) {
			errs = append(errs, &check.FieldError{
				Field: "max-running", Value: check.Shorten(kind), Problem: "is not a kind that this node runs", Remedy: "name one of " + strings.Join(kinds, ", "),
			})
		}
	}
	return errors.Join(errs...)
}

// followLimits reads the files of Limits again whenever they change and at each signal, until ctx
// ends. A file that cannot be used changes nothing.
func (n *Node) followLimits(ctx context.Context, client *hourbell.Client, resize <-chan os.Signal) {
	if n.Limits.Queues.Path == "" && n.Limits.MaxRunning.Path == "" {
		return
	}
	queues := followed{what: "workers of queues", widths: n.Limits.Queues, log: n.Config.Logger}
	kinds := followed{what: "jobs at once by kind", widths: n.Limits.MaxRunning, log: n.Config.Logger}
	queues.now, kinds.now = maps.Clone(n.Config.Queues), n.MaxRunning
	delete(queues.now, n.starting.queue)
	tick := time.NewTicker(watch.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-resize:
		}
		queues.follow(client.SetWorkers)
		kinds.follow(client.SetMaxRunning)
	}
}

// followed are numbers of a file that may change.
type followed struct {
	what   string
	widths Widths
	now    map[string]int
	log    *slog.Logger
	failed string // the last complaint, which is not repeated
}

// follow passes numbers that have changed to set; 0 for a name that the file does not have any more.
func (f *followed) follow(set func(name string, n int) error) {
	if f.widths.Path == "" {
		return
	}
	next, err := f.widths.Read()
	if err != nil {
		f.complain(err)
		return
	}
	names := maps.Clone(next)
	maps.Copy(names, f.now)
	complaint := error(nil)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if next[name] == f.now[name] {
			continue
		}
		if err := set(name, next[name]); err != nil {
			complaint = fmt.Errorf("%w; the rest of the file is in effect", err)
			continue
		}
		f.log.Info(f.what+" changed", "name", name, "from", f.now[name], "to", next[name])
		f.now[name] = next[name]
	}
	f.complain(complaint)
}

// complain logs an error, if it is not the error that was logged last.
func (f *followed) complain(err error) {
	text := ""
	if err != nil {
		text = plain.OneLine(err.Error())
	}
	if text != "" && text != f.failed {
		f.log.Warn(f.what+" not changed", "file", f.widths.Path, "error", text)
	}
	f.failed = text
}
