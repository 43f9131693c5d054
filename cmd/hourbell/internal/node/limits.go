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
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/watch"
	"github.com/hourbell/hourbell/internal/plain"
)

// Setting is where the values of a setting are read, by queue or by kind.
type Setting[V comparable] struct {
	Path  string // of the file that has the values; empty: they do not change
	Parse func(text string) (map[string]V, error)
}

// maxSetting is how many bytes the file of a Setting has at most.
const maxSetting = 1 << 20

// Read returns the values as they are now.
func (s Setting[V]) Read() (map[string]V, error) {
	if s.Path == "" {
		return s.Parse("")
	}
	unreadable := func(problem string) error {
		return &check.FieldError{
			Field: "file", Value: check.Shorten(s.Path), Problem: "cannot be read: " + problem,
			Remedy: "name a readable file of at most 1 MiB after the @",
		}
	}
	info, err := os.Stat(s.Path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxSetting) {
		return nil, unreadable("it is not a file, or too large")
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		return nil, unreadable(err.Error())
	}
	return s.Parse(string(text))
}

// Limits are how much a node takes: numbers of workers by queue, and of jobs at once by kind, and the ageing of queues.
type Limits struct {
	Queues, MaxRunning Setting[int]
	Ageing             Setting[time.Duration]
}

// idle returns the queues that have no workers by their file. A client has to begin with at least one worker of each of its
// queues: they get one, which Client.SetWorkers takes away before the client runs.
func (l Limits) idle(queues map[string]int) (idle []string) {
	if l.Queues.Path == "" {
		return nil
	}
	for queue, width := range queues {
		if width == 0 {
			idle = append(idle, queue)
		}
	}
	for _, queue := range idle {
		queues[queue] = 1
	}
	return idle
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
	if n.Limits.Queues.Path+n.Limits.MaxRunning.Path+n.Limits.Ageing.Path == "" {
		return
	}
	log := n.Config.Logger
	queues := followed[int]{what: "workers of queues", setting: n.Limits.Queues, log: log, now: maps.Clone(n.Config.Queues)}
	kinds := followed[int]{what: "jobs at once by kind", setting: n.Limits.MaxRunning, log: log, now: n.MaxRunning}
	ageing := followed[time.Duration]{what: "ageing of queues", setting: n.Limits.Ageing, log: log, now: maps.Clone(n.Config.Ageing)}
	delete(queues.now, n.starting.queue)
	for _, queue := range n.idle {
		queues.now[queue] = 0
	}
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
		ageing.follow(client.SetAgeing)
	}
}

// followed are the values of a setting whose file may change.
type followed[V comparable] struct {
	what    string
	setting Setting[V]
	now     map[string]V
	log     *slog.Logger
	failed  string // the last complaint, which is not repeated
}

// follow passes values that have changed to set; the zero value for a name that the file does not have any more.
func (f *followed[V]) follow(set func(name string, v V) error) {
	if f.setting.Path == "" {
		return
	}
	next, err := f.setting.Read()
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
func (f *followed[V]) complain(err error) {
	text := ""
	if err != nil {
		text = plain.OneLine(err.Error())
	}
	if text != "" && text != f.failed {
		f.log.Warn(f.what+" not changed", "file", f.setting.Path, "error", text)
	}
	f.failed = text
}
