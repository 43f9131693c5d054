package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// doctorTime is how long an examination may take.
const doctorTime = time.Minute

func (p *program) doctorCommand() *cobra.Command {
	var (
		f      storeFlags
		notify notifyFlag
		o      format
	)
	c := &cobra.Command{
		Use: "doctor", Short: "Examines a store, and names what has to be mended; changes nothing", Args: takes(false),
		Long: "Examines whether nodes can work on a store: connection, latency, clock, pooler, wake-ups, schema, rights, indexes,\n" +
			"the plan of the claim, old transactions, and what needs attention among nodes and jobs. Each finding that is\n" +
			"not ok has a remedy. Nothing is changed, and no password is printed.\n\n" +
			"Exit codes: 0 if there is nothing to mend, or warnings only; 1 if something has to be mended.",
		Example: "  hourbell doctor\n  hourbell doctor --store postgres://user@host/database --output json",
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := p.locate(f)
			if err != nil {
				return err
			}
			if l, err = notify.apply(p, l); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), doctorTime)
			defer cancel()
			return p.printFindings(l, o, examine(ctx, l))
		},
	}
	f.addTo(c)
	_ = c.PersistentFlags().MarkHidden("no-migrate") // doctor never migrates; MarkHidden fails only for an unknown flag
	notify.addTo(c)
	o.addTo(c)
	return c
}

// examine returns the findings on a store.
func examine(ctx context.Context, l stores.Location) []store.Finding {
	b, err := l.Connect(ctx)
	if err != nil {
		return []store.Finding{{Check: "connection", Level: store.FindingError, Found: err.Error()}}
	}
	defer b.Close()
	found := b.Examine(ctx)
	for _, one := range found {
		if one.Level == store.FindingError {
			return found // a list of nodes and jobs could not be read, or would be misleading
		}
	}
	if b.CheckSchema(ctx) != nil { // there are no tables yet
		return found
	}
	client, err := hourbell.New(b, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return append(found, store.Finding{Check: "work", Level: store.FindingError, Found: err.Error()})
	}
	examined := slices.Clone(found)
	for _, one := range wrong(ctx, client) {
		if !slices.ContainsFunc(examined, func(e store.Finding) bool { return e.Check == one.Check }) { // of this user, with the statement that mends it
			found = append(found, one)
		}
	}
	return found
}

// wrong returns what is wrong with the nodes, the schedules and the jobs.
func wrong(ctx context.Context, client *hourbell.Client) []store.Finding {
	facts, err := findings.Read(ctx, client)
	if err != nil {
		return []store.Finding{{Check: "work", Level: store.FindingError, Found: err.Error()}}
	}
	if found := findings.Find(facts); len(found) > 0 {
		return found
	}
	alive := plain.Plural(facts.Living(), "node") + " alive; nothing needs attention"
	if facts.Living() == 0 {
		alive = "no node is alive, and neither a job nor a schedule waits for one"
	}
	return []store.Finding{{Check: "work", Found: alive}}
}

// printFindings prints findings, and fails if something has to be mended.
func (p *program) printFindings(l stores.Location, f format, found []store.Finding) error {
	errors, warnings := 0, 0
	for _, one := range found {
		switch one.Level {
		case store.FindingError:
			errors++
		case store.FindingWarning:
			warnings++
		}
	}
	var err error
	if f == asTable {
		err = p.printExamination(l, found, errors, warnings)
	} else {
		err = printList(p, view.FindingListing(), f, all(found))
	}
	if err == nil && errors > 0 {
		err = errReported
	}
	return err
}

// printExamination prints findings for people: each remedy is below what was found.
func (p *program) printExamination(l stores.Location, found []store.Finding, errors, warnings int) error {
	out := bufio.NewWriter(p.stdout)
	fmt.Fprintf(out, "%s\n\n", plain.Clean(l.String()))
	width := 0
	for _, one := range found {
		width = max(width, len(one.Check))
	}
	for _, one := range found {
		word := fmt.Sprintf("%-7s", one.Level)
		found := plain.OneLine(one.Found)
		if !one.Since.IsZero() {
			found += " (since " + plain.Stamp(one.Since) + ")"
		}
		fmt.Fprintf(out, "%s  %-*s  %s\n", p.painted(view.FindingTone(one.Level), word), width, one.Check, found)
		if one.Remedy != "" {
			fmt.Fprintf(out, "%s→ %s\n", strings.Repeat(" ", len(word)+width+4), plain.OneLine(one.Remedy))
		}
	}
	switch {
	case errors > 0:
		fmt.Fprintf(out, "\n%s to mend, %s\n", plain.Plural(errors, "error"), plain.Plural(warnings, "warning"))
	case warnings > 0:
		fmt.Fprintf(out, "\nnothing to mend, %s\n", plain.Plural(warnings, "warning"))
	default:
		fmt.Fprintf(out, "\nnothing to mend\n")
	}
	return out.Flush()
}
