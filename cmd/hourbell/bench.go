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
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
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
			"It works in a new schema in PostgreSQL, or in a new file next to a SQLite store, which it removes at the end and\n" +
			"when it is interrupted; a later run removes what a killed run has left. It needs the right to create a schema.\n" +
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
	place, err := newBenchPlace(ctx, l, f.limit(), note)
	if err != nil {
		return stopped(ctx, fmt.Errorf("prepare a place for bench in %s: %w", l, err))
	}
	results, err := p.benchIn(ctx, place, f)
	if cleanErr := place.remove(); cleanErr != nil {
		err = errors.Join(err, fmt.Errorf("remove %s, which you can delete yourself: %w", place, cleanErr))
	}
	if err != nil {
		return stopped(ctx, err)
	}
	return p.printBench(f.format, l, place, results)
}

// stopped returns the reason why a run ended early, if a signal stopped it.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("the measurement ended early: %w (%w)", context.Cause(ctx), err)
}

// benchIn measures in a place that has been prepared.
func (p *program) benchIn(ctx context.Context, place *benchPlace, f benchFlags) ([]benchResult, error) {
	b := &benchRun{backend: place.backend, jobs: f.jobs, span: time.Duration(f.seconds) * time.Second}
	bar := p.newBar(len(benchCells))
	defer bar.clear()
	var results []benchResult
	for i, cell := range benchCells {
		b.progress = func(done float64) { bar.show(cell.title, float64(i)+done) }
		b.progress(0)
		result, err := cell.measure(b, ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", cell.title, err)
		}
		result.cell = cell
		results = append(results, result)
	}
	return results, nil
}

func (p *program) printBench(o format, l location, place *benchPlace, results []benchResult) error {
	items := make([]benchRow, len(results))
	for i, r := range results {
		items[i] = benchRow{r, l.String(), place.settings}
	}
	if err := printList(p, benchListing(), o, all(items)); err != nil || o != asTable {
		return err
	}
	fmt.Fprintf(p.stdout, "\n%s, %s\n", plain.Clean(l.String()), plain.Clean(place.describe()))
	return nil
}

// benchRow is a result with its conditions.
type benchRow struct {
	benchResult
	store    string
	settings []view.Fact
}

// benchListing shows measurements.
func benchListing() view.Listing[benchRow] {
	return view.Listing[benchRow]{
		Columns: []string{"MEASURED", "JOBS", "PER SECOND", "P50", "P99"},
		Row: func(r benchRow) []string {
			rate := "-"
			if !r.cell.paced {
				rate = strconv.FormatFloat(r.rate(), 'f', 0, 64)
			}
			return []string{r.cell.title, strconv.Itoa(r.jobs), rate, millis(r.quantile(0.5)), millis(r.quantile(0.99))}
		},
		Record: func(r benchRow) any {
			settings := map[string]string{}
			for _, s := range r.settings {
				settings[s.Name] = s.Value
			}
			record := benchRecord{Measured: r.cell.name, Jobs: r.jobs, Seconds: r.took.Seconds(), Store: r.store, Settings: settings}
			if !r.cell.paced {
				record.PerSecond = r.rate()
			}
			if len(r.waits) > 0 {
				record.P50, record.P99 = r.quantile(0.5).Seconds()*1000, r.quantile(0.99).Seconds()*1000
			}
			return record
		},
	}
}

// benchRecord is a measurement in machine-readable output. Fields are only ever
// added.
type benchRecord struct {
	Measured  string            `json:"measured"` // enqueue_single, enqueue_gathered, enqueue_many, drain, latency
	Jobs      int               `json:"jobs"`
	Seconds   float64           `json:"seconds"`
	PerSecond float64           `json:"per_second,omitempty"` // not for latency, whose pace is fixed
	P50       float64           `json:"p50_ms,omitempty"`     // of a call; for latency: from the call to the start
	P99       float64           `json:"p99_ms,omitempty"`
	Store     string            `json:"store"`
	Settings  map[string]string `json:"settings"` // settings of the server that determine when a commit returns
}

// millis formats a short time for tables; "-" for zero.
func millis(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return strconv.FormatFloat(d.Seconds()*1000, 'f', 2, 64) + " ms"
}
