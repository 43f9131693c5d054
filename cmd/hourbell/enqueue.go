package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// enqueueFlags are the flags of enqueue that schedules do not have.
type enqueueFlags struct {
	work   workFlags
	store  storeFlags
	format format
	in     time.Duration
	at     string
	group  string
	key    string
	unique uniqueFlags
	after  []string
	graph  string
	batch  int64
}

func (p *program) enqueueCommand() *cobra.Command {
	var f enqueueFlags
	c := &cobra.Command{
		Use:   "enqueue KIND [--args JSON] [flags] | command [flags] -- PROGRAM [ARG…] | --graph FILE",
		Short: "Adds a job, or a graph of jobs, and prints its number",
		Long: "Adds a job of a kind that some node has code for, and prints its number. Nodes of `hourbell serve` have\n" +
			"the kind command, which runs a program (after --) or a line for the shell (--shell).\n\n" +
			"With --graph it adds all jobs of a file (YAML or JSON), or none, and prints a line NAME NUMBER for each:\n\n" +
			"  jobs:\n" +
			"    export:  {command: [export, --full], queue: night}\n" +
			"    publish: {shell: ./publish, after: {export: {on: success, delay: 5m}}}\n" +
			"    tell:    {kind: mail, args: {to: ops}, after: {export: failure, publish: failure}, need: any}",
		Example: "  hourbell enqueue command -- pg_dump --file app.sql app\n" +
			"  hourbell enqueue command --in 10m --on-loss fail --shell 'cd /srv && ./report | mail -s report ops'\n" +
			"  hourbell enqueue greet --args '{\"name\":\"Ada\"}' --queue mail --priority 1\n" +
			"  hourbell enqueue invoice --unique 2027-42 --args '{\"number\":42}'\n" +
			"  hourbell enqueue reindex --unique-args --args '{\"shop\":7}' --in 5s --on-conflict reschedule --push-at-most 1m\n" +
			"  hourbell enqueue --graph nightly.yaml --output json\n" +
			"  make-report-args | hourbell enqueue report --args - --at 2027-03-01T06:00:00Z",
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("graph") {
				return takes(false)(c, args)
			}
			return takesBeforeArgv("KIND")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("graph") {
				return p.enqueueGraph(c, f)
			}
			words, argv := splitArgv(c, args)
			return p.enqueue(c, f, words[0], argv)
		},
	}
	f.work.addTo(c)
	f.store.addTo(c)
	f.format.addTo(c)
	c.Flags().DurationVar(&f.in, "in", 0, "run it no sooner than this from now")
	f.unique.addTo(c)
	addAfter(c, &f.after)
	c.Flags().StringVar(&f.group, "group", "", "its group: a label by which jobs are selected")
	c.Flags().StringVar(&f.key, "key", "", "its key: what the job is for, such as a customer")
	c.Flags().Int64Var(&f.batch, "batch", 0, "add it to the batch with this number, which has not ended")
	c.Flags().StringVar(&f.graph, "graph", "", "enqueue the jobs of this file, - for standard input, instead of one job")
	c.Flags().StringVar(&f.at, "at", "", "run it no sooner than this instant, such as 2027-03-01T09:00:00Z")
	return c
}

func (p *program) enqueue(c *cobra.Command, f enqueueFlags, kind string, argv []string) error {
	payload, err := p.payload(c, f.work, kind, argv)
	if err != nil {
		return err
	}
	options, err := f.options(c)
	if err != nil {
		return err
	}
	args := hourbell.RawArgs{Name: kind, JSON: payload}
	// Checked before the store is opened, because opening may create it.
	if err := (hourbell.Request{Args: args, Options: options}).Validate(); err != nil {
		return err
	}
	return p.withClient(c.Context(), f.store, func(client *hourbell.Client) error {
		job, err := client.Enqueue(c.Context(), args, options...)
		if err != nil {
			return err
		}
		if job.Conflict != store.ConflictNone {
			p.noteConflict(f.unique, job)
		} else {
			p.noteWaits(c.Context(), client, job.ID)
			p.noteRefused(c.Context(), client, f.store, kind)
			if len(f.after) > 0 {
				p.warnLateJobs(c.Context(), client, job.ID)
			}
		}
		if f.unique.given(c) {
			return p.show(f.format, map[string]any{"id": job.ID, "found": job.Existed, "conflict": job.Conflict.String()},
				func(out *bufio.Writer) { fmt.Fprintln(out, job.ID) })
		}
		return p.printID(f.format, job.ID)
	})
}

// noteWaits prints, in addition to the number, why no living node takes the new
// job, if no node has taken it a moment later. It prints nothing if there are
// no nodes, because that is normal while a cluster is set up, or if the job waits
// for other jobs, because the caller asked for this. A failure to find the reason
// is ignored, because the job was enqueued.
func (p *program) noteWaits(ctx context.Context, client *hourbell.Client, id int64) {
	job, err := client.Jobs.Get(ctx, id)
	if err != nil || job.State == store.StateWaiting {
		return
	}
	if reasons, err := client.Jobs.Waits(ctx, job); err != nil || reasons[id] == "" {
		return
	}
	time.Sleep(300 * time.Millisecond) // a node that has the job in its files may take it
	job, err = client.Jobs.Get(ctx, id)
	if err != nil {
		return
	}
	nodes, err := client.Nodes.List(ctx)
	if err != nil || !slices.ContainsFunc(nodes, func(n store.NodeInfo) bool { return n.EndedAt.IsZero() }) {
		return
	}
	if reasons, err := client.Jobs.Waits(ctx, job); err == nil && reasons[id] != "" {
		fmt.Fprintf(p.stderr, "hourbell: job %d waits: %s\n", id, reasons[id])
	}
}

func (f enqueueFlags) options(c *cobra.Command) ([]hourbell.Option, error) {
	options, err := f.work.options(c)
	if err != nil {
		return nil, err
	}
	if c.Flags().Changed("group") {
		options = append(options, hourbell.Group(f.group))
	}
	if c.Flags().Changed("key") {
		options = append(options, hourbell.Key(f.key))
	}
	if c.Flags().Changed("batch") {
		options = append(options, hourbell.InBatch(f.batch))
	}
	after, err := parseAfter(f.after)
	if err != nil {
		return nil, err
	}
	options = append(options, after...)
	keyed, err := f.unique.options(c)
	if err != nil {
		return nil, err
	}
	options = append(options, keyed...)
	if c.Flags().Changed("in") {
		options = append(options, hourbell.In(f.in))
	}
	if c.Flags().Changed("at") {
		at, err := instantFlag(c, "at", "")
		if err != nil {
			return nil, err
		}
		options = append(options, hourbell.At(at))
	}
	return options, nil
}

// printID prints the number of a new job; in a table without a heading, for
// scripts.
func (p *program) printID(f format, id int64) error {
	return p.show(f, map[string]int64{"id": id}, func(out *bufio.Writer) { fmt.Fprintln(out, id) })
}
