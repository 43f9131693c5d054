package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/measure"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
	"github.com/hourbell/hourbell/internal/plain"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	store   storeFlags
	format  format
	jobs    int
	seconds int
}

// The greatest values of the flags.
const (
	mostBenchJobs    = 10_000_000
	mostBenchSeconds = 3600
)

func (p *program) benchCommand() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use: "bench", Short: "Measures the speed of this database", Args: takes(false),
		Long: "Measures the speed of this database, as seen from this machine: how fast jobs are enqueued, one after the other,\n" +
			"by many callers at once and 1,000 a call; how fast one node works jobs that do nothing; and how long it takes from\n" +
			"enqueuing a job to its start. The figures depend on what a commit waits for, so these settings are printed too.\n\n" +
			"It works in a new schema in PostgreSQL, in a new database in MySQL, or in a new file next to a SQLite store, which it\n" +
			"removes at the end and when it is interrupted; a later run removes what a killed run has left. It needs the right to\n" +
			"create a schema or a database.\n" +
			"Other work on the database is slower during the run.",
		Example: "  hourbell bench\n" +
			"  hourbell bench --store postgres://owner@db/app --seconds 10 --output json",
		RunE: func(c *cobra.Command, _ []string) error { return p.bench(c.Context(), f) },
	}
	f.format.addTo(c)
	f.store.addTo(c)
	_ = c.PersistentFlags().MarkHidden("no-migrate") // MarkHidden fails only for an unknown flag
	_ = c.PersistentFlags().MarkHidden("schema")
	c.Flags().IntVar(&f.jobs, "jobs", 100_000, "end a measurement after this many jobs")
	c.Flags().IntVar(&f.seconds, "seconds", 4, "or after this many seconds")
	return c
}

// check returns all mistakes in the flags.
func (f benchFlags) check() error {
	var errs []error
	for _, flag := range []struct {
		name        string
		value, most int
	}{{"jobs", f.jobs, mostBenchJobs}, {"seconds", f.seconds, mostBenchSeconds}} {
		if flag.value < 1 || flag.value > flag.most {
			errs = append(errs, &check.FieldError{
				Field: flag.name, Value: strconv.Itoa(flag.value), Problem: "is out of range", Remedy: fmt.Sprintf("use 1 to %d", flag.most),
			})
		}
	}
	for name, given := range map[string]bool{"schema": f.store.schema != "", "no-migrate": f.store.noMigrate} {
		if given {
			errs = append(errs, &check.FieldError{Field: name, Problem: "does not apply to bench, which works in a new schema or file", Remedy: "leave it out"})
		}
	}
	return errors.Join(errs...)
}

// limit returns how long the whole run may take.
func (f benchFlags) limit() time.Duration {
	return time.Minute + 10*time.Duration(f.seconds)*time.Second
}

func (p *program) bench(ctx context.Context, f benchFlags) error {
	l, err := p.locate(f.store)
	if err := errors.Join(f.check(), err); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.limit(), fmt.Errorf("it has not ended within %v; use a smaller --jobs or --seconds", f.limit()))
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process in the default way

	note := func(text string) { fmt.Fprintln(p.stderr, "hourbell: "+plain.Clean(text)) }
	place, err := measure.NewPlace(ctx, l, f.limit(), note)
	if err != nil {
		return stopped(ctx, fmt.Errorf("prepare a place for bench in %s: %w", l, err))
	}
	bar := p.newBar(measure.Steps())
	rows, err := measure.All(ctx, place, measure.Options{Jobs: f.jobs, Span: time.Duration(f.seconds) * time.Second}, bar.show)
	bar.clear()
	if cleanErr := place.Remove(); cleanErr != nil {
		err = errors.Join(err, fmt.Errorf("remove %s, which you can delete yourself: %w", place, cleanErr))
	}
	if err != nil {
		return stopped(ctx, err)
	}
	return p.printBench(f.format, l, place, rows)
}

// stopped returns the reason why a run ended early, if a signal stopped it.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("the measurement ended early: %w (%w)", context.Cause(ctx), err)
}

func (p *program) printBench(o format, l stores.Location, place *measure.Place, rows []measure.Row) error {
	if err := printList(p, measure.Listing(), o, all(rows)); err != nil || o != asTable {
		return err
	}
	fmt.Fprintf(p.stdout, "\n%s, %s\n", plain.Clean(l.String()), plain.Clean(place.Describe()))
	return nil
}
