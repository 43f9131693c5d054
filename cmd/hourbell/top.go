package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

const (
	topRead = 50 // how many rows each list of the screen has at most
	topRows = 10 // and where there is no terminal that limits them
)

func (p *program) topCommand() *cobra.Command {
	var f storeFlags
	var once bool
	l := listFlags{format: asTable, watch: watchFlag(watchEvery)}
	c := &cobra.Command{
		Use: "top", Short: "Shows what the cluster does now, on one screen that is kept up to date", Args: takes(false),
		Long: "Shows on one screen what to look at first, the nodes, the queues, the jobs that run, with their nodes, tokens and\n" +
			"progress, and the failed jobs and missed slots of the last day. The screen is read again and again, until q or\n" +
			"Ctrl-C. RATE/S is about how many jobs a second ended in the last minute. --once prints it once, as for a mail.",
		Example: "  hourbell top\n  hourbell top --watch=10s\n  hourbell top --once",
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case once && c.Flags().Changed("watch"):
				return &check.FieldError{Field: "once", Problem: "is given together with --watch", Remedy: "use one of them"}
			case once:
				l.watch = 0
			}
			return p.list(c, f, l, func(p *program, client *hourbell.Client) error { return p.top(c.Context(), client) })
		},
	}
	l.addWatch(c)
	c.Flags().BoolVar(&once, "once", false, "print the screen once")
	f.addTo(c)
	return c
}

// top prints the screen.
func (p *program) top(ctx context.Context, client *hourbell.Client) error {
	o, err := view.ReadOverview(ctx, client, topRead)
	if err != nil {
		return err
	}
	nodes, running := o.Present(), o.Longest()
	sizes := []int{len(nodes), len(o.Queues), len(running), len(o.Failed), len(o.Missed)}
	sum := o.Sum()
	head := append(append([]string{plain.Clean(p.where)}, p.findingLines(o.Findings)...),
		fmt.Sprintf("%s alive, %d running, %d ready, %d scheduled, %d waiting, %.3g jobs/s", plain.Plural(o.Living(), "node"),
			sum.Running, sum.Ready, sum.Scheduled, sum.Waiting, o.Rate()))
	shown := p.topRoom(len(head), sizes)
	running = running[:shown[2]]
	if running, err = withProgress(ctx, client, running); err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	fmt.Fprintln(out, strings.Join(head, "\n"))
	printSection(p, out, "Nodes", view.NodeListing(o.Now, o.Suspended()).Only("NAME", "STATE", "RUNNING", "SEEN", "QUEUES",
		"VERSION"), nodes[:shown[0]], len(nodes))
	printSection(p, out, "Queues", o.RateListing(), o.Queues[:shown[1]], len(o.Queues))
	printSection(p, out, "Running now", view.RunningListing(), running, int(sum.Running))
	printSection(p, out, "Failed in the last day", view.FailedListing(), o.Failed[:shown[3]], len(o.Failed))
	printSection(p, out, "Missed slots of the last day", view.SlotListing().Only("SCHEDULE", "SLOT", "COUNT", "REASON"), o.Missed[:shown[4]], len(o.Missed))
	return out.Flush()
}

// topFindings is how many findings the screen has at most.
const topFindings = 8

// findingLines returns what is wrong, the most urgent first, and what to do.
func (p *program) findingLines(found []store.Finding) (lines []string) {
	if len(found) == 0 {
		return []string{p.painted(view.Good, "Nothing needs attention.")}
	}
	for i, one := range found {
		if i == topFindings {
			return append(lines, fmt.Sprintf("%d more: `hourbell doctor`", len(found)-i))
		}
		text := plain.OneLine(one.Found)
		switch {
		case one.Job != 0:
			text += fmt.Sprintf(" (`hourbell jobs show %d`)", one.Job)
		case one.Schedule != "" && findings.About(one) == "slots":
			text += " (`hourbell slots --schedule " + plain.Clean(plain.ShellQuote(one.Schedule)) + "`)"
		default:
			text += " → " + plain.OneLine(one.Remedy)
		}
		lines = append(lines, p.painted(view.FindingTone(one.Level), fmt.Sprintf("%-7s", one.Level))+"  "+text)
	}
	return lines
}

// printSection prints a list of the screen below its heading. all is how long the list is as
// far as it is known.
func printSection[T any](p *program, out *bufio.Writer, heading string, l view.Listing[T], items []T, all int) {
	switch {
	case all > len(items):
		heading += fmt.Sprintf(" (%d of %d)", len(items), all)
	case all == 0:
		heading += ": none"
	}
	fmt.Fprintf(out, "\n%s\n", p.bold(heading))
	if len(items) == 0 {
		return
	}
	var rows []table.Row
	for _, item := range items {
		rows = append(rows, p.cells(l.Columns, l.Row(item)))
	}
	shown, _ := p.render(l.Columns, l.Minor, rows)
	fmt.Fprintln(out, shown)
}

// topRoom returns how many rows of each list there is room for on the terminal, below the
// given number of lines.
func (p *program) topRoom(head int, sizes []int) []int {
	room, most := topRows*len(sizes), topRows
	if terminal := p.terminal(); terminal != nil && p.watched != nil {
		if _, height, err := term.GetSize(int(terminal.Fd())); err == nil {
			room, most = height-head-1, topRead // the last line shows the time
			for _, size := range sizes {
				room -= 2 + min(size, 1) // an empty line, the heading, and the names of the columns
			}
		}
	}
	return share(sizes, room, most)
}

// share divides room among lists: as equally as possible, to none more than it has or more
// than most.
func share(sizes []int, room, most int) []int {
	shares := make([]int, len(sizes))
	for given := true; given && room > 0; {
		given = false
		for i, size := range sizes {
			if room > 0 && shares[i] < min(size, most) {
				shares[i]++
				room--
				given = true
			}
		}
	}
	return shares
}

// withProgress reads the progress of jobs. Jobs that have ended since are as they were.
func withProgress(ctx context.Context, client *hourbell.Client, jobs []store.JobInfo) ([]store.JobInfo, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	at := map[int64]int{}
	filter := hourbell.JobFilter{Limit: len(jobs), Details: true}
	for i, job := range jobs {
		at[job.ID] = i
		filter.IDs = append(filter.IDs, job.ID)
	}
	found, err := client.Jobs.List(ctx, filter)
	for _, job := range found {
		jobs[at[job.ID]].Progress = job.Progress
	}
	return jobs, err
}
