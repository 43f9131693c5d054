package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// nearestCommand returns the command of a group that was probably meant; it may be empty.
func nearestCommand(group *cobra.Command, name string) string {
	var known []string
	for _, c := range group.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	if name = plain.Nearest(name, known); name == "" {
		return ""
	}
	return "`" + group.CommandPath() + " " + name + "`"
}

// nearestFlag returns the flag of a command that was probably meant; it may be empty. A long
// flag with one dash was read as several short flags.
func nearestFlag(c *cobra.Command, name string) string {
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if !slices.Contains(known, name) {
		name = plain.Nearest(name, known)
	}
	if name == "" {
		return ""
	}
	return "--" + name
}

// asked is a name by which a command was asked to look something up.
type asked struct{ what, name string }

// namingFlags are the flags that select by a name.
var namingFlags = []string{"schedule", "group", "calendar", "queue", "kind"}

// askedFor returns the names that a command looks up: its arguments NAME, and the values of
// the flags that select by name.
func askedFor(c *cobra.Command, args []string) (names []asked) {
	if what := subjectOf(c); what != "" && what != "batch" { // no number was meant for another number
		for _, name := range args {
			names = append(names, asked{what, name})
		}
	}
	for _, what := range namingFlags {
		if f := c.Flags().Lookup(what); f != nil && f.Changed {
			names = append(names, asked{what, f.Value.String()})
		}
	}
	return names
}

// subjectOf returns what the arguments of a command name; it may be empty.
func subjectOf(c *cobra.Command) string {
	switch {
	case c.Name() == "explain":
		return "schedule"
	case c.HasParent():
		return map[string]string{
			"schedules": "schedule", "groups": "group", "queues": "queue", "kinds": "kind", "keys": "key",
			"calendars": "calendar", "limits": "limit", "handlers": "handler", "batches": "batch",
		}[c.Parent().Name()]
	}
	return ""
}

const (
	namesRead = 1000        // how many names of schedules or calendars are read at a time
	namesTime = time.Second // how long the names are read
)

// known returns names that exist, among which the nearest is looked for. Of calendars these are the first in the order of names; of
// schedules the first, and the first that begin with the same letter or follow it. Of keys these are the paused keys, of kinds and queues
// what nodes and the newest jobs have, of groups what schedules and the newest jobs have, and of queues and groups also what is counted in
// time.
func (a asked) known(ctx context.Context, client *hourbell.Client) (names []string, err error) {
	pages := []string{""}
	if len(a.name) > 0 {
		pages = append(pages, a.name[:1])
	}
	switch a.what {
	case "schedule":
		for _, after := range pages {
			found, err := client.Schedules.List(ctx, hourbell.ScheduleFilter{After: after, Limit: namesRead})
			if err != nil {
				return nil, err
			}
			for _, s := range found {
				names = append(names, s.Name)
			}
			if len(found) < namesRead {
				break
			}
		}
	case "calendar":
		found, err := client.Calendars.List(ctx, hourbell.CalendarFilter{Limit: namesRead})
		return namesOf(found, func(c hourbell.CalendarInfo) string { return c.Name }), err
	case "group":
		schedules, schedulesErr := client.Schedules.List(ctx, hourbell.ScheduleFilter{Limit: namesRead})
		jobs, jobsErr := client.Jobs.List(ctx, hourbell.JobFilter{Limit: namesRead})
		counted, countErr := within(ctx, client.Groups.Estimate)
		return slices.Concat(
			namesOf(schedules, func(s hourbell.ScheduleInfo) string { return s.Group }), namesOf(jobs, func(j store.JobInfo) string { return j.Group }),
			namesOf(counted, func(g hourbell.GroupInfo) string { return g.Name }),
		), errors.Join(schedulesErr, jobsErr, countErr)
	case "limit":
		found, err := client.Limits.List(ctx)
		return namesOf(found, func(l hourbell.LimitInfo) string { return l.Name }), err
	case "handler":
		found, err := client.Handlers.List(ctx)
		return namesOf(found, func(h hourbell.EventHandlerInfo) string { return h.Name }), err
	case "batch":
		return batchNumbers(ctx, client)
	case "key":
		found, err := client.Keys.List(ctx)
		return namesOf(found, func(k store.Pause) string { return k.Name }), err
	case "queue":
		nodes, nodesErr := client.Nodes.List(ctx)
		for _, n := range nodes {
			names = append(names, n.Queues...)
		}
		jobs, jobsErr := client.Jobs.List(ctx, hourbell.JobFilter{Limit: namesRead})
		counted, countErr := within(ctx, client.Queues.Estimate)
		return slices.Concat(
			names, namesOf(jobs, func(j store.JobInfo) string { return j.Queue }), namesOf(counted, func(q hourbell.QueueInfo) string { return q.Name }),
		), errors.Join(nodesErr, jobsErr, countErr)
	case "kind":
		nodes, err := client.Nodes.List(ctx)
		for _, n := range nodes {
			names = append(names, n.Kinds...)
		}
		jobs, jobsErr := client.Jobs.List(ctx, hourbell.JobFilter{Limit: namesRead})
		return append(names, namesOf(jobs, func(j store.JobInfo) string { return j.Kind })...), errors.Join(err, jobsErr)
	}
	return names, nil
}

// within reads for half of the time that ctx has left. A reading that takes longer, as a count of very many jobs, finds nothing.
func within[T any](ctx context.Context, read func(context.Context) ([]T, error)) ([]T, error) {
	if deadline, set := ctx.Deadline(); set {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	found, err := read(ctx)
	if ctx.Err() != nil {
		return nil, nil
	}
	return found, err
}

// namesOf returns the names of what a listing has found, as far as it has names.
func namesOf[T any](found []T, name func(T) string) (names []string) {
	for i := range found {
		if one := name(found[i]); one != "" {
			names = append(names, one)
		}
	}
	return names
}

// notFoundError is an error about a name that does not exist.
type notFoundError struct {
	error
	what  string // such as a limit
	meant string // the name that was probably meant; may be empty
}

func (m notFoundError) Unwrap() error { return m.error }

// remedy names the name that was probably meant or, if no name is similar, the command that lists the names.
func (m notFoundError) remedy() string {
	switch {
	case m.meant != "":
		return fmt.Sprintf("; did you mean %q?", m.meant)
	case m.what == "key":
		return "; `hourbell keys list` shows the keys that are paused"
	default:
		return fmt.Sprintf("; `hourbell %ss list` shows what exists", m.what)
	}
}

// suggest adds to an error about a name that does not exist the name that was probably
// meant, or the command that lists the names. Where a listing found nothing, it prints such a name.
func (p *program) suggest(ctx context.Context, client *hourbell.Client, err error) error {
	notFound := errors.Is(err, hourbell.ErrNotFound)
	if !notFound && (err != nil || !p.empty) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	for _, a := range p.asked {
		if notFound && !strings.Contains(err.Error(), fmt.Sprintf("%s %q", a.what, a.name)) {
			continue
		}
		known, readErr := a.known(ctx, client)
		name := plain.Nearest(a.name, known)
		if readErr != nil {
			name = ""
		}
		switch {
		case notFound:
			return notFoundError{err, a.what, name}
		case name != "":
			fmt.Fprintf(p.stderr, "hourbell: there is no %s %q; did you mean %q?\n", a.what, a.name, name)
		}
	}
	return err
}
