package view

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
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
	ago, at, err := ParseSince("since", text)
	if err != nil || !at.IsZero() {
		return at, err
	}
	now, err := client.Now(ctx)
	return now.Add(-ago), err
}

// ParseSince reads how long ago something was, as ParseAgo does, or at which instant, as ParseInstant does: at is zero in the first case. The
// error is a *check.FieldError.
func ParseSince(field, text string) (ago time.Duration, at time.Time, err error) {
	if ago, relative := ParseAgo(text); relative {
		return ago, at, nil
	}
	if at, err = ParseInstant(field, text, ""); err != nil {
		err = &check.FieldError{
			Field: field, Value: check.Shorten(text), Problem: "is neither a duration nor an instant",
			Remedy: "use a duration such as 2h or 1d, or an instant such as 2027-03-01T09:00:00Z",
		}
	}
	return 0, at, err
}

// days are the words for days.
var days = map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}

// TypedInstant reads an instant as people write it, on the clock of a zone (empty: UTC): now; a day, which is yesterday, today,
// tomorrow or a date, with a time such as 9:00 or without; a time of today; or as ParseInstant reads it.
func TypedInstant(field, text, zone string, now time.Time) (time.Time, error) {
	words := strings.Fields(strings.ToLower(text))
	place, err := time.LoadLocation(zone)
	if err != nil || len(words) == 0 || len(words) > 2 {
		return ParseInstant(field, text, zone)
	}
	if words[0] == "now" && len(words) == 1 {
		return now, nil
	}
	today := now.In(place)
	day, clock := today, words[0]
	if offset, isDay := days[words[0]]; isDay {
		day, clock = time.Date(today.Year(), today.Month(), today.Day()+offset, 12, 0, 0, 0, place), "0:00"
	} else if date, err := time.Parse(time.DateOnly, words[0]); err == nil {
		day, clock = date, "0:00"
	} else if len(words) == 2 {
		return ParseInstant(field, text, zone)
	}
	if len(words) == 2 {
		clock = words[1]
	}
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if at, err := time.Parse(layout, clock); err == nil {
			return ParseInstant(field, day.Format(time.DateOnly)+"T"+at.Format(time.TimeOnly), zone)
		}
	}
	return ParseInstant(field, text, zone)
}
