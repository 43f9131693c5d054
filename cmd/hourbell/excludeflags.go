package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
)

// excludeFlag has the times at which a schedule does not run.
type excludeFlag struct{ texts []string }

func (e *excludeFlag) addTo(c *cobra.Command) {
	c.Flags().StringArrayVar(&e.texts, declared.ExcludeKey, nil,
		`no slot then: a date (2026-12-25, 12-25), a range (12-24..12-26), days (sat,sun), a rule ("* 0-6 * * *"),`+
			" or the name of a stored calendar; may be repeated")
}

// apply sets the exclusions that were given. One empty value removes all of
// them if mayClear is set, which is used when a schedule is edited.
func (e *excludeFlag) apply(c *cobra.Command, s *hourbell.Schedule, mayClear bool) error {
	if !c.Flags().Changed(declared.ExcludeKey) {
		return nil
	}
	if mayClear && slices.Equal(e.texts, []string{""}) {
		s.Exclude = nil
		return nil
	}
	calendars, err := hourbell.ParseExclude(e.texts...)
	if err == nil {
		s.Exclude = calendars
	}
	return err
}

// namesStored reports whether one of the calendars is a stored calendar.
func namesStored(calendars []hourbell.Calendar) bool {
	return slices.ContainsFunc(calendars, func(c hourbell.Calendar) bool { return c.Stored })
}

// readStored returns the calendars with the content of stored calendars filled
// in.
func readStored(ctx context.Context, client *hourbell.Client, calendars []hourbell.Calendar) ([]hourbell.Calendar, error) {
	read := slices.Clone(calendars)
	for i, c := range read {
		if !c.Stored {
			continue
		}
		info, err := client.Calendars.Get(ctx, c.Name)
		switch {
		case errors.Is(err, hourbell.ErrNotFound):
			return nil, &check.FieldError{
				Field: declared.ExcludeKey, Value: check.Shorten(c.Name),
				Problem: "is not a calendar of the store", Remedy: "`hourbell calendars list` lists them",
			}
		case err != nil:
			return nil, err
		case info.Problem != "":
			return nil, &check.FieldError{Field: declared.ExcludeKey, Value: check.Shorten(c.Name), Problem: "cannot be used by this release: " + info.Problem}
		}
		read[i] = info.Calendar
	}
	return read, nil
}
