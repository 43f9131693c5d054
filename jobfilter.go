package hourbell

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// JobFilter selects jobs, live and finished. All given conditions must hold; the
// zero value selects all jobs.
type JobFilter struct {
	IDs []int64
	// States, Scheduled and Retrying are one condition together: a job matches
	// if it is in one of States, or if it is scheduled or retrying and that
	// field is true.
	States    []store.State
	Scheduled bool // ready, not begun, and due later than now
	Retrying  bool // ready after an attempt that failed
	Queue     string
	Kind      string
	Schedule  string // by name; of a schedule on every host the jobs of all hosts
	Group     string
	Key       string // of the option Key
	Batch     int64  // the number of a batch
	Unique    string // the unique key of the option Unique, also of finished jobs
	// Error is a text that the last error of the job contains, letter by letter,
	// at most 1,000 bytes. The last error is the reason for which the job failed or
	// was cancelled, and the error of the newest attempt that left an error.
	Error string
	// The job was enqueued at CreatedSince or later, and before CreatedUntil, by the
	// store's clock (see Client.Now); it ended at FinishedSince or later, and before
	// FinishedUntil. A job that has not ended matches neither of these two.
	CreatedSince, CreatedUntil   time.Time
	FinishedSince, FinishedUntil time.Time

	// All confirms that a call that changes jobs means all jobs, where no other
	// condition is given.
	All bool

	// Within is how long Page and Estimate look for jobs; default PageTime.
	Within time.Duration

	// Of List and Page only.
	Before  int64 // only numbers below this number: the last number of the previous page
	Limit   int   // rows of a page; default 100
	Details bool  // also read arguments and the records of attempts
}

// maxErrorText is the greatest length of JobFilter.Error in bytes.
const maxErrorText = 1000

// Validate returns what is wrong with the conditions, each as a *check.FieldError, or
// nil. It needs no store.
func (f JobFilter) Validate() error {
	return check.Join(
		checkIfGiven("queue", f.Queue), checkIfGiven("kind", f.Kind), checkIfGiven("schedule", f.Schedule), checkIfGiven("group", f.Group), checkIfGiven("key", f.Key), checkIfGiven("unique", f.Unique),
		checkBatch(f.Batch), checkErrorText(f.Error), checkRange("since", f.CreatedSince, "until", f.CreatedUntil), checkRange("finished-since", f.FinishedSince, "finished-until", f.FinishedUntil),
	)
}

// conditions returns the conditions of a filter for the store, after checking them.
func (s *JobService) conditions(ctx context.Context, f JobFilter) (store.JobFilter, error) {
	if err := f.Validate(); err != nil {
		return store.JobFilter{}, err
	}
	schedule, hostsOf, err := s.client.ofHosts(ctx, f.Schedule)
	return store.JobFilter{
		IDs: f.IDs, States: f.States, Scheduled: f.Scheduled, Retrying: f.Retrying, Queue: f.Queue, Kind: f.Kind, Schedule: schedule, HostsOf: hostsOf,
		Group: f.Group, Key: f.Key, Batch: f.Batch, Unique: f.Unique, Error: f.Error, CreatedSince: f.CreatedSince, CreatedUntil: f.CreatedUntil, FinishedSince: f.FinishedSince, FinishedUntil: f.FinishedUntil,
	}, err
}

// checkIfGiven checks a name in a filter; an empty name is no condition.
func checkIfGiven(field, name string) error {
	if name == "" {
		return nil
	}
	return check.StoredName(field, name)
}

// checkBatch checks the number of a batch; 0 is no condition.
func checkBatch(id int64) error {
	if id >= 0 {
		return nil
	}
	return &check.FieldError{Field: "batch", Value: fmt.Sprint(id), Problem: "is not the number of a batch", Remedy: "use a positive whole number"}
}

// checkErrorText checks a part of an error. Errors are stored as UTF-8 without NUL.
func checkErrorText(text string) error {
	switch {
	case len(text) > maxErrorText:
		return &check.FieldError{Field: "error", Value: check.Shorten(text), Problem: fmt.Sprintf("has %d bytes", len(text)), Remedy: fmt.Sprintf("give at most %d bytes of the error", maxErrorText)}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return &check.FieldError{Field: "error", Value: check.Shorten(text), Problem: "is not UTF-8 without NUL, as errors are", Remedy: "give another part of the error"}
	}
	return nil
}

// checkRange checks two instants of a filter; the zero time is no condition.
func checkRange(sinceField string, since time.Time, untilField string, until time.Time) error {
	err := check.Join(checkTime(sinceField, since), checkTime(untilField, until))
	if err == nil && !since.IsZero() && !until.IsZero() && !since.Before(until) {
		err = &check.FieldError{Field: untilField, Value: until.Format(time.RFC3339Nano), Problem: "is not after " + sinceField, Remedy: "give a later instant, or leave one of them out"}
	}
	return err
}

// List returns jobs, live and finished, newest first, a page at a time. A page of
// jobs that are rare among many others may read all jobs.
func (s *JobService) List(ctx context.Context, f JobFilter) ([]store.JobInfo, error) {
	conditions, err := s.conditions(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: conditions, Before: f.Before, Limit: pageSize(f.Limit), Attempts: f.Details})
}

// Count returns how many jobs match, at one instant. The number is exact, so that
// Count may read all jobs: a second or so for a million.
func (s *JobService) Count(ctx context.Context, f JobFilter) (int64, error) {
	conditions, err := s.conditions(ctx, f)
	if err != nil {
		return 0, fmt.Errorf("count jobs: %w", err)
	}
	return s.client.backend.CountJobs(ctx, store.CountJobsRequest{JobFilter: conditions})
}
