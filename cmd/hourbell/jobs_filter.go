package main

import (
	"errors"
	"slices"
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

// given reports whether a command was given any of the flags.
func (l *jobFilterFlags) given(c *cobra.Command) bool {
	return slices.ContainsFunc(l.conditions.Each(), func(one view.Condition) bool { return c.Flags().Changed(one.Name) })
}

// read returns the filter that the flags of a command describe.
func (l *jobFilterFlags) read(c *cobra.Command) (*view.JobSelection, error) {
	var wrong error
	for _, condition := range l.conditions.Each() {
		switch value := condition.Value.(type) {
		case *string:
			if *value == "" && c.Flags().Changed(condition.Name) {
				wrong = errors.Join(wrong, &check.FieldError{Field: condition.Name, Problem: "is empty", Remedy: "give a value, or leave it out"})
			}
		case *int64:
			if *value == 0 && c.Flags().Changed(condition.Name) {
				wrong = errors.Join(wrong, &check.FieldError{
					Field: condition.Name, Value: "0", Problem: "is not a positive number", Remedy: "use a number from 1",
				})
			}
		}
	}
	selection, err := l.conditions.Select()
	return selection, errors.Join(wrong, err)
}
