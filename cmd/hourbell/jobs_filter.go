package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
)

// jobFilterFlags are the flags that select jobs, for all commands that list, count or
// change them.
type jobFilterFlags struct{ conditions view.JobConditions }

func (l *jobFilterFlags) addTo(c *cobra.Command) {
	flags := c.Flags()
	for _, condition := range l.conditions.Each() {
		usage := strings.ToLower(condition.Doc[:1]) + strings.TrimSuffix(condition.Doc[1:], ".")
		switch value := condition.Value.(type) {
		case *string:
			flags.StringVar(value, condition.Name, "", usage)
		case *int64:
			flags.Int64Var(value, condition.Name, 0, usage)
		case *[]string:
			if condition.Name == "state" { // words, which may be joined by commas
				flags.StringSliceVar(value, condition.Name, nil, usage)
				continue
			}
			flags.StringArrayVar(value, condition.Name, nil, usage)
		}
	}
	// RegisterFlagCompletionFunc fails only for an unknown flag
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(view.ListedStates(), cobra.ShellCompDirectiveNoFileComp))
}

// given returns the names of the flags that a command was given.
func (l *jobFilterFlags) given(c *cobra.Command) (names []string) {
	for _, condition := range l.conditions.Each() {
		if c.Flags().Changed(condition.Name) {
			names = append(names, condition.Name)
		}
	}
	return names
}

// read returns the filter that the flags of a command describe.
func (l *jobFilterFlags) read(c *cobra.Command) (*view.JobSelection, error) {
	var empty error
	for _, name := range l.given(c) {
		flag := c.Flags().Lookup(name)
		if text := flag.Value.String(); text == "" || text == "0" {
			empty = errors.Join(empty, &check.FieldError{Field: name, Value: text, Problem: "is empty", Remedy: "give a value, or leave it out"})
		}
	}
	selection, err := l.conditions.Select()
	return selection, errors.Join(empty, err)
}
