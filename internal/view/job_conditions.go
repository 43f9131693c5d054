package view

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/kinds"
)

// JobConditions select jobs as users write them: in flags, in the query of a page, in a query or a body of the API. The zero
// value of a condition is no condition. The tags name and describe each condition for all of them; see Each.
type JobConditions struct {
	State         []string `query:"state,explode" json:"state,omitempty" nullable:"false" about:"states" shape:"state"`
	Queue         string   `query:"queue" json:"queue,omitempty" minLength:"1" doc:"Only jobs of this queue." shape:"name"`
	Kind          string   `query:"kind" json:"kind,omitempty" minLength:"1" doc:"Only jobs of this kind." shape:"name"`
	Schedule      string   `query:"schedule" json:"schedule,omitempty" minLength:"1" about:"jobs-of-schedule" shape:"name"`
	Group         string   `query:"group" json:"group,omitempty" minLength:"1" doc:"Only jobs of this group." shape:"name"`
	Key           string   `query:"key" json:"key,omitempty" minLength:"1" doc:"Only jobs with this key." shape:"name"`
	Batch         int64    `query:"batch" json:"batch,omitempty" minimum:"1" doc:"Only jobs of the batch with this number."`
	Since         string   `query:"since" json:"since,omitempty" minLength:"1" about:"since" shape:"since"`
	Until         string   `query:"until" json:"until,omitempty" minLength:"1" about:"until" shape:"since"`
	FinishedSince string   `query:"finished_since" json:"finished_since,omitempty" minLength:"1" about:"finished-since" shape:"since"`
	FinishedUntil string   `query:"finished_until" json:"finished_until,omitempty" minLength:"1" about:"finished-until" shape:"since"`
	Error         string   `query:"error" json:"error,omitempty" minLength:"1" doc:"Only jobs whose last error contains this text."`
	Args          []string `query:"args,explode" json:"args,omitempty" nullable:"false" about:"args" shape:"args"`
	Unique        string   `query:"unique" json:"unique,omitempty" minLength:"1" doc:"Only jobs with this unique key, also jobs that have ended." shape:"name"`
}

// Condition is one of JobConditions: its name as a flag, what it selects, and where its value is: a *string, an *int64 or a *[]string.
type Condition struct {
	Name, Doc string
	Value     any
}

// Each returns the conditions one by one.
func (c *JobConditions) Each() []Condition {
	fields := reflect.ValueOf(c).Elem()
	each := make([]Condition, fields.NumField())
	for i := range each {
		tag := fields.Type().Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("query"), ",")
		each[i] = Condition{strings.ReplaceAll(name, "_", "-"), Describe(tag), fields.Field(i).Addr().Interface()}
	}
	return each
}

// JobSelection is a filter whose instants may be relative to the time of the store.
type JobSelection struct {
	hourbell.JobFilter
	ago map[*time.Time]time.Duration // instants of the filter, and how long ago they are
}

// Select checks the conditions. It needs no store. The error consists of
// *check.FieldErrors with the names of the flags of `hourbell jobs list`.
func (c JobConditions) Select() (*JobSelection, error) {
	states, err := ParseJobStates(c.State, c.State != nil)
	s := &JobSelection{JobFilter: states, ago: map[*time.Time]time.Duration{}}
	s.Error, s.Batch = c.Error, c.Batch
	err = errors.Join(err,
		name("queue", c.Queue, &s.Queue), name("kind", c.Kind, &s.Kind), name("schedule", c.Schedule, &s.Schedule),
		name("group", c.Group, &s.Group), name("key", c.Key, &s.Key), name("unique", c.Unique, &s.Unique),
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
func name(field, given string, to *string) error {
	if *to = given; given == "" {
		return nil
	}
	return check.StoredName(field, given)
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
func (s *JobSelection) instant(field, given string, to *time.Time) error {
	if given == "" {
		return nil
	}
	ago, at, err := ParseSince(field, given)
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
