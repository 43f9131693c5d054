package view

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
)

// ParseInstant reads an instant in the syntax of recur.Spec.At; without an offset it is
// on the clock of the zone (empty: UTC). The error is a *recur.Error with that field.
func ParseInstant(field, text, zone string) (time.Time, error) {
	rule, err := recur.Spec{At: text, Zone: zone}.Rule(time.Time{})
	var bad *recur.Error
	if errors.As(err, &bad) && bad.Field == "at" {
		renamed := *bad
		renamed.Field = field
		return time.Time{}, &renamed
	}
	if err != nil {
		return time.Time{}, err
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil // a rule would round up to microseconds, which is wrong for "strictly after"
	}
	return rule.Next(time.Time{}), nil
}

// ParseAgo reads how long ago something was: a duration as Go writes it, or a number of
// days such as 7d. ok reports whether the text is such a duration.
func ParseAgo(text string) (ago time.Duration, ok bool) {
	if days, found := strings.CutSuffix(text, "d"); found {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * 24 * time.Hour, err == nil && n >= 0 && n <= 36500
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// Since returns the instant since which something is listed, as users write it: an instant, or how long before the time of
// the store it is; empty: the zero time.
func Since(ctx context.Context, client *hourbell.Client, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	ago, relative := ParseAgo(text)
	if !relative {
		return ParseInstant("since", text, "")
	}
	now, err := client.Now(ctx)
	return now.Add(-ago), err
}
