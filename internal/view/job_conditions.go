package view

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/kinds"
)

// JobConditions select jobs as users write them: in flags, in the query of a page, in
// a request of the API. A condition that is nil was not given.
type JobConditions struct {
	States                       []string // the words of ParseJobStates
	Queue, Kind, Schedule        *string
	Group, Key, Unique           *string
	Batch                        *int64
	Error                        *string  // a part of the last error
	Args                         []string // as in customer=42; see hourbell.ParseArgsCondition
	Since, Until                 *string  // when the job was enqueued: an instant, or how long ago
	FinishedSince, FinishedUntil *string  // when the job ended
}

// JobSelection is a filter whose instants may be relative to the time of the store.
type JobSelection struct {
	hourbell.JobFilter
	ago map[*time.Time]time.Duration // instants of the filter, and how long ago they are
}

// Select checks the conditions. It needs no store. The error consists of
// *check.FieldErrors with the names of the flags of `hourbell jobs list`.
func (c JobConditions) Select() (*JobSelection, error) {
	states, err := ParseJobStates(c.States, c.States != nil)
	s := &JobSelection{JobFilter: states, ago: map[*time.Time]time.Duration{}}
	err = errors.Join(err,
		name("queue", c.Queue, &s.Queue), name("kind", c.Kind, &s.Kind), name("schedule", c.Schedule, &s.Schedule),
		name("group", c.Group, &s.Group), name("key", c.Key, &s.Key), name("unique", c.Unique, &s.Unique),
		text("error", c.Error, &s.Error), number("batch", c.Batch, &s.Batch),
		s.instant("since", c.Since, &s.CreatedSince), s.instant("until", c.Until, &s.CreatedUntil),
		s.instant("finished-since", c.FinishedSince, &s.FinishedSince), s.instant("finished-until", c.FinishedUntil, &s.FinishedUntil),
	)
	for _, text := range c.Args {
		condition, wrong := hourbell.ParseArgsCondition(text)
		s.Args, err = append(s.Args, condition), errors.Join(err, wrong)
		s.ShownArgs = kinds.Redact // who searches must not find out what is hidden
	}
	if err == nil {
		err = errors.Join(s.Validate(), s.order(&s.CreatedSince, "until", &s.CreatedUntil), s.order(&s.FinishedSince, "finished-until", &s.FinishedUntil))
	}
	return s, err
}

// name reads a condition that is a name to look up.
func name(field string, given, to *string) error {
	if given == nil {
		return nil
	}
	*to = *given
	return check.StoredName(field, *given)
}

// number reads a condition that is a number.
func number(field string, given, to *int64) error {
	if given == nil {
		return nil
	}
	if *to = *given; *given < 1 {
		return &check.FieldError{Field: field, Value: fmt.Sprint(*given), Problem: "is not a positive number", Remedy: "use a number from 1"}
	}
	return nil
}

// text reads a condition that is any text.
func text(field string, given, to *string) error {
	if given == nil {
		return nil
	}
	*to = *given
	return notEmpty(field, *given)
}

func notEmpty(field, given string) error {
	if given == "" {
		return &check.FieldError{Field: field, Problem: "is empty", Remedy: "give a value, or leave it out"}
	}
	return nil
}

// order checks two instants that are both relative to the time of the store.
func (s *JobSelection) order(since *time.Time, name string, until *time.Time) error {
	from, first := s.ago[since]
	to, second := s.ago[until]
	if !first || !second || from > to {
		return nil
	}
	return &check.FieldError{
		Field: name, Value: to.String(), Problem: fmt.Sprintf("is not after %v ago", from),
		Remedy: "use a shorter time for it than for the begin, or leave one of them out",
	}
}

// instant reads a condition that is an instant, or a duration before the time of the
// store.
func (s *JobSelection) instant(field string, given *string, to *time.Time) error {
	if given == nil {
		return nil
	}
	if err := notEmpty(field, *given); err != nil {
		return err
	}
	ago, at, err := ParseSince(field, *given)
	if *to = at; err == nil && at.IsZero() {
		s.ago[to] = ago
	}
	return err
}

// At returns the filter, with instants by the clock of the store.
func (s *JobSelection) At(ctx context.Context, client *hourbell.Client) (hourbell.JobFilter, error) {
	if len(s.ago) == 0 {
		return s.JobFilter, nil
	}
	now, err := client.Now(ctx)
	if err != nil {
		return s.JobFilter, err
	}
	for to, ago := range s.ago {
		*to = now.Add(-ago)
	}
	return s.JobFilter, nil
}
