package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
)

// completionTime is how long a completion reads names. What a store has not answered by then is left out in silence. completionRest is
// how long the completion waits for the end of a reading that is over.
const (
	completionTime = 180 * time.Millisecond
	completionRest = 20 * time.Millisecond
)

// completeNames completes the names that commands look up from the store: arguments NAME, and flags that select by name.
func (p *program) completeNames(c *cobra.Command) {
	for _, below := range c.Commands() {
		p.completeNames(below)
	}
	if c.HasSubCommands() || !usesStore(c) {
		return
	}
	if what := subjectOf(c); what != "" && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = p.namesOf(what)
	}
	if subjectOf(c) == "" && c.Name() == "retry" {
		_ = c.RegisterFlagCompletionFunc("from", p.namesOf("step"))
	}
	for _, flag := range append(slices.Clone(namingFlags), "key", "batch") {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, p.namesOf(flag)) // it fails only for a flag that is unknown or has a completion
		}
	}
}

// usesStore reports whether a command has the flag --store.
func usesStore(c *cobra.Command) bool {
	return c.InheritedFlags().Lookup("store") != nil || c.Flags().Lookup("store") != nil
}

// namesOf completes the names of what is kept in the store, such as schedules.
func (p *program) namesOf(what string) cobra.CompletionFunc {
	return func(c *cobra.Command, given []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completionTime)
		defer cancel()
		found := make(chan []string, 1) // closed without names if the store cannot be read
		go func() {
			defer close(found)
			_ = p.withReader(ctx, storeFlagsOf(c), func(client *hourbell.Client) error { // a completion has no place for an error
				read := asked{what, begin}.known
				if what == "step" {
					read = func(ctx context.Context, client *hourbell.Client) ([]string, error) {
						return stepNames(ctx, client, given)
					}
				}
				names, err := read(ctx, client)
				found <- names
				return err
			})
		}()
		var names []string
		select {
		case names = <-found:
		case <-ctx.Done():
			select {
			case names = <-found: // what was found before the time was over
			case <-time.After(completionRest):
			}
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			return !strings.HasPrefix(name, begin) || what != "step" && slices.Contains(given, name)
		})
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
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

// stepNames returns the names of the steps of the jobs that a command changes.
func stepNames(ctx context.Context, client *hourbell.Client, given []string) (names []string, err error) {
	ids, err := parseIDs(given)
	for _, id := range ids {
		steps, stepsErr := client.Jobs.Steps(ctx, id)
		for _, step := range steps {
			names = append(names, step.Name)
		}
		err = errors.Join(err, stepsErr)
	}
	return names, err
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
