package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/internal/view"
)

// jobFilterFlags are the flags that select jobs, for all commands that list, count or
// change them.
type jobFilterFlags struct {
	states                            []string
	queue, kind, schedule, group, key string
	since, until                      string
	finishedSince, finishedUntil      string
	errorText, unique                 string
	args                              []string
	batch                             int64
}

// jobFilterNames are the names of these flags.
var jobFilterNames = []string{
	"state", "queue", "kind", "schedule", "group", "key", "batch", "since", "until",
	"finished-since", "finished-until", "error", "args", "unique",
}

func (l *jobFilterFlags) addTo(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&l.states, "state", nil, "only these states: waiting, ready, running, completed, failed, "+
		"cancelled, not_started; or, of the ready jobs, only scheduled or retrying")
	// RegisterFlagCompletionFunc fails only for an unknown flag
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(view.ListedStates(), cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&l.queue, "queue", "", "only jobs of this queue")
	flags.StringVar(&l.kind, "kind", "", "only jobs of this kind")
	flags.StringVar(&l.schedule, "schedule", "", "only jobs made for this schedule; if it is on every host, the jobs of all hosts")
	flags.StringVar(&l.group, "group", "", "only jobs of this group")
	flags.StringVar(&l.key, "key", "", "only jobs with this key")
	flags.Int64Var(&l.batch, "batch", 0, "only jobs of the batch with this number")
	flags.StringVar(&l.since, "since", "", "only jobs enqueued at or after this instant, such as 2027-03-01T09:00:00Z, or this long ago, such as 2h or 7d")
	flags.StringVar(&l.until, "until", "", "only jobs enqueued before this instant, or longer ago than this")
	flags.StringVar(&l.finishedSince, "finished-since", "", "only jobs that ended at or after this instant, or this long ago")
	flags.StringVar(&l.finishedUntil, "finished-until", "", "only jobs that ended before this instant, or longer ago than this")
	flags.StringVar(&l.errorText, "error", "", "only jobs whose last error contains this text")
	flags.StringArrayVar(&l.args, "args", nil, "only jobs whose arguments have this value, such as customer=42 or order.items.0.sku=A7; "+
		"an array has the values of its elements; may be repeated")
	flags.StringVar(&l.unique, "unique", "", "only jobs with this unique key, also jobs that have ended")
}

// jobFilterGiven reports whether a command was given any of the flags.
func jobFilterGiven(c *cobra.Command) bool {
	return slices.ContainsFunc(jobFilterNames, func(name string) bool { return c.Flags().Changed(name) })
}

// read returns the filter that the flags of a command describe.
func (l *jobFilterFlags) read(c *cobra.Command) (*view.JobSelection, error) {
	given := func(name string, value *string) *string {
		if !c.Flags().Changed(name) {
			return nil
		}
		return value
	}
	conditions := view.JobConditions{
		Queue: given("queue", &l.queue), Kind: given("kind", &l.kind), Schedule: given("schedule", &l.schedule),
		Group: given("group", &l.group), Key: given("key", &l.key), Unique: given("unique", &l.unique),
		Error: given("error", &l.errorText), Args: l.args, Since: given("since", &l.since), Until: given("until", &l.until),
		FinishedSince: given("finished-since", &l.finishedSince), FinishedUntil: given("finished-until", &l.finishedUntil),
	}
	if c.Flags().Changed("batch") {
		conditions.Batch = &l.batch
	}
	if c.Flags().Changed("state") {
		conditions.States = append([]string{}, l.states...)
	}
	return conditions.Select()
}
