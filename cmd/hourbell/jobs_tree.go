package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
)

// treeFormat is the format of a drawing.
type treeFormat string

const (
	asTree    treeFormat = "tree"
	treeJSON  treeFormat = "json"
	asDOT     treeFormat = "dot"
	asMermaid treeFormat = "mermaid"
)

func (f *treeFormat) String() string { return string(*f) }
func (f *treeFormat) Type() string   { return "format" }

func (f *treeFormat) Set(value string) error {
	switch treeFormat(value) {
	case asTree, treeJSON, asDOT, asMermaid:
		*f = treeFormat(value)
		return nil
	}
	return &check.FieldError{Field: "output", Value: check.Shorten(value), Problem: "is unknown", Remedy: "use tree, json, dot or mermaid"}
}

// addTo adds the flag --output to a command.
func (f *treeFormat) addTo(c *cobra.Command) {
	*f = asTree
	c.Flags().Var(f, "output", "tree, json, dot or mermaid")
	words := []string{string(asTree), string(treeJSON), string(asDOT), string(asMermaid)}
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // it fails only for an unknown flag
}

// draw prints a drawing; record is its content for JSON.
func (p *program) draw(f treeFormat, t view.Tree, record any) error {
	switch f {
	case treeJSON:
		object, err := encode(record)
		if err != nil {
			return err
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, object, "", "  "); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		_, err = fmt.Fprintln(p.stdout, indented.String())
		return err
	case asDOT:
		return t.DOT(p.stdout)
	case asMermaid:
		return t.Mermaid(p.stdout)
	}
	return t.Text(p.stdout)
}

func (p *program) jobsTreeCommand(f *storeFlags) *cobra.Command {
	var o treeFormat
	var limit int
	c := &cobra.Command{
		Use: "tree ID", Short: "Draws the graph of a job: what it follows, and what follows it", Args: takes(false, "ID"),
		Long: "Draws the jobs that a job is connected with by --after or a graph, each under a job that it follows, with its\n" +
			"state. A job that follows several is drawn under the first, and only named under the others. Edges without a\n" +
			"label wait for success.",
		Example: "  hourbell jobs tree 17\n  hourbell jobs tree 17 --output dot | dot -Tsvg > graph.svg",
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			if err := checkTreeLimit(limit); err != nil {
				return err
			}
			return p.withReader(c.Context(), *f, func(client *hourbell.Client) error {
				graph, err := client.Jobs.Graph(c.Context(), ids[0], limit)
				if err != nil {
					return err
				}
				now, err := client.Now(c.Context())
				if err != nil {
					return err
				}
				return p.draw(o, view.JobTree(graph, ids[0], now), view.NewJobTreeRecord(graph, ids[0], now))
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 200, "how many jobs are drawn at most, the nearest first")
	o.addTo(c)
	return c
}
