package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// policyFlags are the policies of a schedule. Each flag is a key of schedule
// files, and is read in the same way.
type policyFlags []policyFlag

type policyFlag struct{ flag, key, usage string }

var allPolicies = policyFlags{
	{"overlap", "overlap", "what a slot does while a job of this schedule runs, or is due and has not started: skip, queue, allow or replace (default skip)"},
	{"misfire", "misfire", "what happens to slots that no node fired in time: skip, once or all (default skip)"},
	{"misfire-cap", "misfire_cap", "how many slots --misfire all makes up for, 1 to 1000 (default 100)"},
	{"grace", "grace", "how late a slot is still in time, such as 10m (default 1m)"},
	{"window", "window", "how old a slot may be to be made up for, such as 24h (default: any age)"},
	{"count", "count", "how many slots may fire; after that the schedule has ended (default: any number)"},
	{"jitter", "jitter", "delay each slot's job by a different time, up to this, such as 30s"},
	{"on", "on", "where the jobs run: one (any node), every (each host), host=NAME, label=KEY=VALUE or " +
		"every:label=KEY=VALUE, as in serve --host and --label (default one)"},
	{"pause-after-failures", "pause_after_failures", "pause when so many jobs in a row have failed, 1 to 1000 (default never)"},
}

func (p policyFlags) addTo(c *cobra.Command) {
	for _, one := range p {
		c.Flags().String(one.flag, "", one.usage)
	}
}

// apply sets the policies that were given. An empty value means the default if
// mayClear is set, which is used when a schedule is edited.
func (p policyFlags) apply(c *cobra.Command, s *hourbell.Schedule, mayClear bool) error {
	var errs []error
	for _, one := range p {
		key, found := declared.FindKey(one.key)
		if !found {
			return fmt.Errorf("there is no key %s", one.key) // a mistake in this program
		}
		switch flag := c.Flags().Lookup(one.flag); {
		case !flag.Changed:
		case flag.Value.String() == "" && mayClear:
			key.Clear(s)
		case flag.Value.String() == "":
			errs = append(errs, notEmpty(c, one.flag))
		default:
			errs = append(errs, key.Set(s, flag.Value.String()))
		}
	}
	return errors.Join(errs...)
}

// warnRule warns about parts of a rule that are probably a mistake.
func (p *program) warnRule(rule recur.Spec) {
	for _, warning := range rule.Warnings() {
		printError(p.stderr, fmt.Errorf("warning: %w", warning))
	}
}

// warnLeft warns about a schedule that was put and whose slots no living node fires. A node that has
// its job in its own files gets a moment to look at it.
func (p *program) warnLeft(ctx context.Context, client *hourbell.Client, s hourbell.ScheduleInfo) {
	if s.Waits == "" {
		return
	}
	time.Sleep(300 * time.Millisecond)
	if s, err := client.Schedules.Get(ctx, s.Name); err == nil && s.Waits != "" {
		printError(p.stderr, fmt.Errorf("warning: schedule %q: %s", s.Name, s.Waits))
	}
}

// noteRefused prints that nodes refuse a stored job of this kind by default, while no node lives that could say it itself. A
// failure to find it out is ignored, because the job or the schedule is stored.
func (p *program) noteRefused(ctx context.Context, client *hourbell.Client, f storeFlags, kind string) {
	at, err := p.locate(f)
	if err != nil {
		return
	}
	byDefault, err := node.ParseCommands("", false, at)
	if err != nil || byDefault == node.AnyCommands || !slices.Contains([]string{kinds.CommandKind, kinds.HTTPKind, kinds.SQLKind}, kind) {
		return
	}
	nodes, err := client.Nodes.List(ctx)
	if err != nil || slices.ContainsFunc(nodes, func(n store.NodeInfo) bool { return n.EndedAt.IsZero() }) {
		return
	}
	fmt.Fprintf(p.stderr, "hourbell: no node is alive, and on a shared database `hourbell serve` runs no stored %s by default: "+
		"start a node with --commands any, or with a --file that declares the same job\n", kind)
}

// warnEnded warns about a schedule that was put and makes no job.
func (p *program) warnEnded(s hourbell.ScheduleInfo) {
	if s.State() != "ended" {
		return
	}
	because := "no instant from now on matches its rule; check that its months have its day"
	switch {
	case s.Rule.Stop != "":
		because = fmt.Sprintf("its stop, %s, is over or leaves it no slot", s.Rule.Stop)
	case s.Count > 0 && s.Fired >= s.Count:
		because = fmt.Sprintf("%d of its slots have fired, and its count is %d", s.Fired, s.Count)
	case s.Rule.At != "":
		because = fmt.Sprintf("its instant, %s, is in the past", s.Rule.At)
	}
	printError(p.stderr, fmt.Errorf("warning: schedule %q has ended: %s", s.Name, because))
}
