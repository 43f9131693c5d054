package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// JobFilter selects jobs, live and finished. Conditions that are given must all
// hold; the zero value selects all jobs. States, Scheduled, Retrying and Parked are one
// condition together: a job matches if its state is one of States, or if it is
// ready and [JobInfo.Scheduled], [JobInfo.Retrying] or JobInfo.Parked and asked for as such.
type JobFilter struct {
	IDs       []int64
	States    []State
	Scheduled bool
	Retrying  bool
	Parked    bool
	Queue     string
	Kind      string
	Schedule  string // by name
	HostsOf   string // a schedule by name: jobs of this schedule, and of the schedules of hosts that are made from it; see HostSchedule
	Group     string
	Key       string
	Unique    string // the unique key, also of finished jobs
	Batch     int64  // 0: no condition
	NotLast   bool   // not the last jobs of batches (BatchInsert.Finally)
	// Error is a text that the job's last error contains, byte for byte. The last
	// error is the Reason of a finished job, and the error of the newest attempt
	// that left an error; a job matches if either contains the text.
	Error string
	// ArgsText is a text that the job's arguments contain as they are stored, byte for byte.
	ArgsText string
	// The job was made at CreatedSince or later, and before CreatedUntil. Jobs that
	// have not ended match neither FinishedSince nor FinishedUntil. The zero time is
	// no condition.
	CreatedSince, CreatedUntil   time.Time
	FinishedSince, FinishedUntil time.Time
}

// Empty reports whether f has no conditions.
func (f JobFilter) Empty() bool {
	texts := cmp.Or(f.Queue, f.Kind, f.Schedule, f.HostsOf, f.Group, f.Key, f.Unique, f.Error, f.ArgsText)
	return texts == "" && len(f.IDs)+len(f.States) == 0 && !f.Narrowed() && f.Batch == 0 && !f.NotLast &&
		f.CreatedSince.IsZero() && f.CreatedUntil.IsZero() && !f.byEnd()
}

// Narrowed reports whether f asks for some of the ready jobs as such.
func (f JobFilter) Narrowed() bool { return f.Scheduled || f.Retrying || f.Parked }

// byEnd reports whether f has a condition that live jobs never meet.
func (f JobFilter) byEnd() bool { return !f.FinishedSince.IsZero() || !f.FinishedUntil.IsZero() }

// Tables reports whether live jobs can match, and whether finished jobs can, by
// their states alone, so that a driver need not read both tables.
func (f JobFilter) Tables() (live, finished bool) {
	narrowed := f.Narrowed()
	anyState := len(f.States) == 0 && !narrowed
	live = anyState || narrowed || slices.ContainsFunc(f.States, func(s State) bool { return !s.Finished() })
	return live && !f.byEnd(), anyState || slices.ContainsFunc(f.States, State.Finished)
}

// words returns the conditions of a filter in words, without the texts of errors and keys.
func (f JobFilter) words() string {
	var parts []string
	for _, s := range f.States {
		parts = append(parts, s.String())
	}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf("%s %q", name, value))
		}
	}
	given := func(name string, is bool) {
		if is {
			parts = append(parts, name)
		}
	}
	given("scheduled", f.Scheduled)
	given("retrying", f.Retrying)
	given("parked", f.Parked)
	add("queue", f.Queue)
	add("kind", f.Kind)
	add("schedule", f.Schedule)
	add("schedule", f.HostsOf)
	add("group", f.Group)
	add("key", f.Key)
	given("unique key", f.Unique != "")
	given("batch "+strconv.FormatInt(f.Batch, 10), f.Batch != 0)
	given("error", f.Error != "")
	given("args", f.ArgsText != "")
	instant := func(name string, t time.Time) { given(name+" "+t.UTC().Format(time.RFC3339), !t.IsZero()) }
	instant("created since", f.CreatedSince)
	instant("created until", f.CreatedUntil)
	instant("finished since", f.FinishedSince)
	instant("finished until", f.FinishedUntil)
	return strings.Join(parts, ", ")
}

// ListJobsRequest reads a page of the jobs that a filter selects, greatest number
// first, or smallest number first with OldestFirst.
type ListJobsRequest struct {
	JobFilter
	Now         time.Time // for Scheduled; zero: the store's clock
	Before      int64     // only numbers below this; 0: no bound
	After       int64     // only numbers above this
	OldestFirst bool
	Limit       int  // at least 1
	Attempts    bool // also read the attempts' records, the args, the result and the progress
	// Within, if not 0, bounds the time of the search: a store that has not found the page
	// by then answers ErrSlow. A JobSearch goes on in parts.
	Within time.Duration
}

// CountJobsRequest counts the jobs that a filter selects.
type CountJobsRequest struct {
	JobFilter
	Now    time.Time     // for Scheduled; zero: the store's clock
	Before int64         // only numbers below this; 0: no bound
	After  int64         // only numbers above this
	Within time.Duration // as in ListJobsRequest
}
