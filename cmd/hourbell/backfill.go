package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *program) schedulesBackfillCommand(f *storeFlags) *cobra.Command {
	var (
		o        format
		from, to string
		overlap  string
		req      hourbell.BackfillRequest
	)
	c := &cobra.Command{
		Use:   "backfill NAME --from T --to T [--overlap queue|allow] [--dependents] [--force] [--dry-run]",
		Short: "Makes a job for each slot of a past range",
		Long: "Makes a job for each slot that the schedule's rule, as it is now, has from --from up to, but not including, --to,\n" +
			"and that its calendars, as they are now, do not exclude. The jobs run one after the other, oldest first, or\n" +
			"all at once with --overlap allow; they do not wait for the schedule's own jobs, and no slot is accounted for by\n" +
			"them. With --dependents their ends start the schedules that follow the schedule, otherwise they set off nothing.\n" +
			"A range with slots that have fired, or whose records have been pruned, is refused without --force.",
		Example: "  hourbell schedules backfill nightly --from 2027-03-01T00:00:00Z --to 2027-03-08T00:00:00Z --dry-run\n" +
			"  hourbell schedules backfill hourly --from 2027-03-01T00:00:00Z --to 2027-03-02T00:00:00Z --overlap allow",
		Args:                  takes(false, "NAME"),
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			var fromErr, toErr error
			req.From, fromErr = requiredInstant(c, "from")
			req.To, toErr = requiredInstant(c, "to")
			req.Overlap = hourbell.Overlap(overlap)
			if overlap == "skip" {
				req.Overlap = hourbell.OverlapSkip
			}
			if err := errors.Join(check.StoredName("NAME", args[0]), fromErr, toErr); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				made, err := client.Schedules.Backfill(c.Context(), args[0], req)
				if err != nil {
					return err
				}
				return printList(p, view.BackfillListing(), o, all(view.BackfillRecords(made)))
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&from, "from", "", "the first instant, such as 2027-03-01T00:00:00Z")
	flags.StringVar(&to, "to", "", "the instant after the last")
	flags.StringVar(&overlap, "overlap", "queue", "how the jobs run: queue, one after the other, or allow, all at once")
	flags.BoolVar(&req.Dependents, "dependents", false, "let the ends of the jobs start the schedules that follow the schedule")
	flags.BoolVar(&req.Force, "force", false, "run slots again that have fired, and ranges older than the records that are kept")
	flags.BoolVar(&req.DryRun, "dry-run", false, "print the slots, and make no jobs")
	o.addTo(c)
	return c
}

// requiredInstant reads a required flag whose value is an instant.
func requiredInstant(c *cobra.Command, name string) (time.Time, error) {
	if !c.Flags().Changed(name) {
		return time.Time{}, &check.FieldError{Field: name, Problem: "is missing", Remedy: fmt.Sprintf("give --%s with an instant such as 2027-03-01T00:00:00Z", name)}
	}
	return instantFlag(c, name, "")
}
