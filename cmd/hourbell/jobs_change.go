package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// jobChange is a command that changes jobs.
type jobChange struct {
	verb, short, long string
	action            store.JobAction
	flags             func(*cobra.Command) // its own flags
	check             func() error         // of their values
	do                changeJobs
	said              map[store.Change]saying // what is printed for the results of a change; the others are errors
	left              saying                  // the error for jobs that were not changed
	example           string                  // further flags of the examples
}

// saying is a text about one job, and about many.
type saying struct{ one, many string }

// same is a text that fits one job as well as many.
func same(text string) saying { return saying{text, text} }

// changeJobs is a method of JobService.
type changeJobs func(*hourbell.JobService, context.Context, hourbell.JobFilter, ...hourbell.Option) (hourbell.JobChanges, error)

// jobChanges returns the commands that change jobs.
func jobChanges() []jobChange {
	var to string
	var priority int
	var from string
	var fromFlag *pflag.Flag
	return []jobChange{{
		verb: "cancel", short: "Cancels jobs, also jobs that run on any node", action: store.CancelJobs,
		long: "Cancels jobs that do not run, and asks the nodes of running jobs to stop them. A running job that completes\n" +
			"before it stops has completed. Without --state a filter selects jobs that have not finished. A filter leaves the\n" +
			"last jobs of batches (finally) alone, which then run, or are not started, by the ends of the other jobs; their\n" +
			"numbers cancel them.",
		do: (*hourbell.JobService).Cancel,
		said: map[store.Change]saying{
			store.Changed:   same("cancelled"),
			store.Requested: {"is running; its node has been asked to cancel it", "are running; their nodes have been asked to cancel them"},
			store.Unchanged: same("had finished already"),
		},
	}, {
		verb: "retry", short: "Makes finished jobs ready again, and waiting ones due now", action: store.RetryJobs,
		long: "Makes finished jobs ready again, with at least one more attempt, and jobs that wait for their time due now.\n" +
			"Without --state a filter selects failed jobs. Steps that a job has taken are skipped; with --from it forgets a step and\n" +
			"the steps after it, and takes them again.",
		flags: func(c *cobra.Command) {
			c.Flags().StringVar(&from, "from", "", "the step from which the jobs take their steps again")
			fromFlag = c.Flags().Lookup("from")
		},
		check: func() error {
			if !fromFlag.Changed {
				return nil
			}
			return check.Name("from", from)
		},
		do: func(s *hourbell.JobService, ctx context.Context, f hourbell.JobFilter, options ...hourbell.Option) (hourbell.JobChanges, error) {
			if from != "" {
				options = append(options, hourbell.FromStep(from))
			}
			return s.Retry(ctx, f, options...)
		},
		said: map[store.Change]saying{store.Changed: same("ready to run again")},
		left: saying{"is running; cancel it first", "are running; cancel them first"},
	}, {
		verb: "delete", short: "Deletes jobs that do not run, with all records of them", action: store.DeleteJobs,
		long: "Deletes jobs that do not run, with all records of them. Without --state a filter selects all jobs that do not\n" +
			"run, also jobs that have not run yet.",
		do:   (*hourbell.JobService).Delete,
		said: map[store.Change]saying{store.Changed: same("deleted")},
		left: saying{"is running; cancel it first", "are running; cancel them first"},
	}, {
		verb: "move", short: "Moves jobs that do not run to another queue", action: store.MoveJobs,
		long: "Moves jobs that have not finished and do not run to the queue --to. Jobs that are due are due from now on,\n" +
			"behind the jobs that are due in that queue, and keep the order of their numbers.",
		flags: func(c *cobra.Command) {
			c.Flags().StringVar(&to, "to", "", "the queue to which jobs are moved")
		},
		check: func() error { return check.Name("to", to) },
		do: func(s *hourbell.JobService, ctx context.Context, f hourbell.JobFilter, options ...hourbell.Option) (hourbell.JobChanges, error) {
			return s.Move(ctx, f, to, options...)
		},
		said:    map[store.Change]saying{store.Changed: same("moved")},
		left:    saying{"is running or has finished", "are running or have finished"},
		example: " --to bulk",
	}, {
		verb: "reprioritise", short: "Gives jobs that do not run another priority", action: store.ReprioritiseJobs,
		long: "Gives jobs that have not finished and do not run another priority. Jobs that are due are due from now on, behind\n" +
			"the jobs with that priority that are due.",
		flags: func(c *cobra.Command) {
			c.Flags().IntVar(&priority, "priority", 0, "the priority, 1 (first) to 9 (last)")
		},
		check: func() error {
			if priority < store.FirstPriority || priority > store.LastPriority {
				return &check.FieldError{Field: "priority", Value: fmt.Sprint(priority), Problem: "is out of range", Remedy: "use 1 (first) to 9 (last)"}
			}
			return nil
		},
		do: func(s *hourbell.JobService, ctx context.Context, f hourbell.JobFilter, options ...hourbell.Option) (hourbell.JobChanges, error) {
			return s.Reprioritise(ctx, f, priority, options...)
		},
		said:    map[store.Change]saying{store.Changed: {"has the new priority", "have the new priority"}},
		left:    saying{"is running or has finished", "are running or have finished"},
		example: " --priority 1",
	}}
}

// jobsChangeFlags are the flags of a command that changes jobs.
type jobsChangeFlags struct {
	jobFilterFlags
	all, dryRun bool
	format      format
}

func (p *program) jobsChangeCommand(f *storeFlags, change jobChange) *cobra.Command {
	var l jobsChangeFlags
	c := &cobra.Command{
		Use: change.verb + " [ID…] [flags]", Short: change.short, Args: takes(true),
		Long: change.long + "\n\nJobs are selected by their numbers, by flags, or by both, which then all have to hold; without either, --all is needed.\n" +
			"Many jobs are changed in batches of at most 1,000, each in a transaction: if the command is interrupted, the batches\n" +
			"before stay changed. It never asks back; see what it would do with --dry-run.",
		Example: fmt.Sprintf("  hourbell jobs %[1]s 17 18 19%[2]s\n"+
			"  hourbell jobs %[1]s --kind mail --since 2h --dry-run%[2]s\n"+
			"  hourbell jobs %[1]s --schedule nightly --output ndjson%[2]s", change.verb, change.example),
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			selection, err := l.target(c, args)
			if err == nil && change.check != nil {
				err = change.check()
			}
			if err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				filter, err := selection.At(c.Context(), client)
				if err != nil {
					return err
				}
				return p.jobsChange(c, client, change, filter, l)
			})
		},
	}
	l.addTo(c)
	if change.flags != nil {
		change.flags(c)
	}
	c.Flags().BoolVar(&l.all, "all", false, "all jobs that a filter without --state selects")
	c.Flags().BoolVar(&l.dryRun, "dry-run", false, "change nothing, and print what would be changed")
	l.format.addTo(c)
	return c
}

// target reads which jobs a command changes: without numbers, a filter or --all it is
// not used as it should be.
func (l *jobsChangeFlags) target(c *cobra.Command, args []string) (*view.JobSelection, error) {
	f, err := l.read(c)
	for _, name := range []string{"to", "priority"} {
		if flag := c.Flags().Lookup(name); flag != nil && !flag.Changed {
			err = errors.Join(err, &check.FieldError{
				Field: name, Problem: "is missing",
				Remedy: fmt.Sprintf("give --%s; `%s --help` explains it", name, c.CommandPath()),
			})
		}
	}
	if err != nil {
		return nil, err
	}
	switch f.All = l.all; {
	case len(args) > 0 && l.all:
		err = &check.FieldError{Field: "ID", Value: check.Shorten(args[0]), Problem: "is given together with --all", Remedy: "use one of them"}
	case len(args) > 0:
		f.IDs, err = parseIDs(args)
	case !l.all && !l.given(c):
		err = &check.FieldError{
			Field: "ID", Problem: "is missing",
			Remedy: fmt.Sprintf("give the numbers of jobs, a filter such as --state failed, or --all; `%s --help` lists the "+
				"filters", c.CommandPath()),
		}
	}
	return f, err
}

// jobsChange changes jobs, and prints what became of them.
func (p *program) jobsChange(c *cobra.Command, client *hourbell.Client, change jobChange, filter hourbell.JobFilter, l jobsChangeFlags) error {
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process in the default way

	filter = view.Changeable(filter, change.action)
	run := jobsChanging{p: p, client: client, change: change, filter: filter, dryRun: l.dryRun, format: l.format, filtered: l.given(c)}
	if err := run.do(ctx); err != nil {
		return run.interrupted(ctx, err)
	}
	p.empty = filter.IDs == nil && l.format == asTable && run.res == (tally{})
	if filter.Schedule != "" && filter.IDs == nil && run.res == (tally{}) {
		if _, err := client.Schedules.Get(ctx, filter.Schedule); err != nil {
			return err // a misspelt name is an error, a schedule without jobs is not
		}
	}
	return run.tell(ctx)
}
