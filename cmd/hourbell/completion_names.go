package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
)

// completionTime is how long a completion reads names. A store that takes longer is left out in silence.
const completionTime = 200 * time.Millisecond

// completeNames completes the names that commands look up from the store: arguments NAME, and flags that select by name.
func (p *program) completeNames(c *cobra.Command) {
	for _, below := range c.Commands() {
		p.completeNames(below)
	}
	if c.HasSubCommands() || c.InheritedFlags().Lookup("store") == nil && c.Flags().Lookup("store") == nil {
		return
	}
	if what := subjectOf(c); what != "" && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = p.namesOf(what)
	}
	for _, flag := range append(slices.Clone(namingFlags), "key", "batch") {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, p.namesOf(flag)) // it fails only for a flag that is unknown or has a completion
		}
	}
}

// namesOf completes the names of what is kept in the store, such as schedules.
func (p *program) namesOf(what string) cobra.CompletionFunc {
	return func(c *cobra.Command, given []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completionTime)
		defer cancel()
		found := make(chan []string, 1)
		go func() { found <- p.existing(ctx, storeFlagsOf(c), asked{what, begin}) }()
		var names []string
		select {
		case names = <-found:
		case <-ctx.Done():
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, begin) || slices.Contains(given, name) })
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
}

// existing returns names that exist; none if the store cannot be read.
func (p *program) existing(ctx context.Context, f storeFlags, a asked) (names []string) {
	_ = p.withReader(ctx, f, func(client *hourbell.Client) (err error) { // a completion has no place for an error
		names, err = a.known(ctx, client)
		return err
	})
	return names
}

// storeFlagsOf returns the flags of a command that say where the store is.
func storeFlagsOf(c *cobra.Command) (f storeFlags) {
	for name, value := range map[string]*string{"store": &f.url, "store-file": &f.file, "schema": &f.schema} {
		if flag := c.Flags().Lookup(name); flag != nil {
			*value = flag.Value.String()
		}
	}
	return f
}

// batchNumbers returns the numbers of the newest batches.
func batchNumbers(ctx context.Context, client *hourbell.Client) ([]string, error) {
	found, err := client.Batches.List(ctx, hourbell.BatchFilter{Limit: 20})
	numbers := make([]string, len(found))
	for i, b := range found {
		numbers[i] = fmt.Sprint(b.ID)
	}
	return numbers, err
}
