package view

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// Job is a job as it is shown.
type Job struct {
	store.JobInfo        // Args and Result are without values that may be secrets, unless Jobs was asked for them
	Waits         string // why the job waits although it is due; may be empty
	// Printing is what the attempt that runs has printed so far; see AddOutput.
	Printing store.Printed
	Steps    []store.Step // see AddSteps
}

// Jobs prepares jobs for output, and reads from the store why they wait. It hides
// values that may be secrets (see kinds.Redact) unless secrets is set.
func Jobs(ctx context.Context, client *hourbell.Client, secrets bool, jobs ...store.JobInfo) ([]Job, error) {
	reasons, err := client.Jobs.Waits(ctx, jobs...)
	if err != nil {
		return nil, err
	}
	views := make([]Job, len(jobs))
	for i, job := range jobs {
		if !secrets {
			job.Args, job.Result = kinds.Redact(job.Kind, job.Args), kinds.RedactJSON(job.Result)
		}
		views[i] = Job{JobInfo: job, Waits: reasons[job.ID]}
	}
	return views, nil
}

// shownTimeout formats a timeout; 0 means the worker's own timeout.
func shownTimeout(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d >= hourbell.MaxDuration:
		return declared.NoTimeout
	}
	return d.String()
}

// ListedStates returns the words for the states of jobs: the words of JobState, by which jobs are also listed.
func ListedStates() []string {
	return []string{"waiting", scheduled, parked, "ready", retrying, "running", "completed", "failed", "cancelled", "not_started"}
}

// ParseJobStates reads ListedStates. given reports that the caller was given a list, which must
// then not be empty. The error is a *check.FieldError.
func ParseJobStates(words []string, given bool) (f hourbell.JobFilter, err error) {
	remedy := "use " + strings.Join(ListedStates(), ", ")
	if given && len(words) == 0 {
		return f, &check.FieldError{Field: "state", Problem: "is empty", Remedy: remedy}
	}
	for _, word := range words {
		switch state, ok := store.ParseState(word); {
		case word == scheduled:
			f.Scheduled = true
		case word == retrying:
			f.Retrying = true
		case word == parked:
			f.Parked = true
		case ok:
			f.States = append(f.States, state)
		default:
			return f, &check.FieldError{
				Field: "state", Value: check.Shorten(word), Problem: "is unknown",
				Remedy: plain.DidYouMean(plain.Nearest(word, ListedStates()), remedy),
			}
		}
	}
	return f, nil
}

// Changeable returns a filter with the states of the jobs that an action changes, if the filter has no condition on numbers or states.
func Changeable(f hourbell.JobFilter, action store.JobAction) hourbell.JobFilter {
	if f.IDs == nil && len(f.States) == 0 && !f.Scheduled && !f.Retrying && !f.Parked {
		f.States = action.States()
	}
	return f
}

// JobListing shows jobs. now is the time of the store's clock.
func JobListing(now time.Time) Listing[Job] {
	return Listing[Job]{
		Columns: []string{"ID", "STATE", "KIND", "QUEUE", "ATTEMPT", "RUN AT", "TOOK", "SCHEDULE", "RESULT"},
		Minor:   []string{"QUEUE", "TOOK", "ATTEMPT", "SCHEDULE"},
		Row: func(j Job) []string {
			return []string{
				fmt.Sprint(j.ID), JobState(j.JobInfo, now), j.Kind, j.Queue, fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts),
				plain.Stamp(j.RunAt), took(j.JobInfo), plain.Dash(shownSchedule(j.JobInfo)), plain.Dash(plain.OneLine(jobResult(j))),
			}
		},
		Record: func(j Job) any { return NewJobRecord(j, now) },
	}
}

// FilteredJobListing shows the jobs of a filter: as RunningListing if it has running jobs only, and with the names that jobs
// have in a graph if it has the jobs of one batch.
func FilteredJobListing(f hourbell.JobFilter, now time.Time) Listing[Job] {
	l := JobListing(now)
	if len(f.States) == 1 && f.States[0] == store.StateRunning && !f.Scheduled && !f.Retrying && !f.Parked {
		running := RunningListing()
		l.Columns, l.Minor, l.Row = running.Columns, running.Minor, func(j Job) []string { return running.Row(j.JobInfo) }
	}
	if f.Batch != 0 {
		row := l.Row
		l.Columns = slices.Insert(slices.Clone(l.Columns), 1, "NAME")
		l.Row = func(j Job) []string { return slices.Insert(row(j), 1, plain.Dash(JobName(j.JobInfo))) }
	}
	return l
}

// AttemptListing shows the attempts of a job that left a record.
func AttemptListing() Listing[store.Attempt] {
	return Listing[store.Attempt]{
		Columns: []string{"ATTEMPT", "TOKEN", "NODE", "STARTED AT", "FINISHED AT", "OUTCOME", "ERROR"},
		Minor:   []string{"TOKEN", "NODE", "FINISHED AT"},
		Row: func(a store.Attempt) []string {
			return []string{
				fmt.Sprint(a.Attempt), fmt.Sprint(a.Token), plain.Dash(a.Node), plain.Stamp(a.StartedAt), plain.Stamp(a.FinishedAt),
				a.Outcome.String(), plain.Dash(plain.FirstLine(a.Error)),
			}
		},
	}
}

// The states shown for a ready job that has failed before, that is due later, or that waits for a signal or for the end of a sleep.
const (
	retrying  = "retrying"
	scheduled = "scheduled"
	parked    = "parked"
)

// JobState returns the word for a job's state: a state of the store, or scheduled,
// retrying or parked for a ready job. now is the time of the store's clock.
func JobState(j store.JobInfo, now time.Time) string {
	switch {
	case j.Parked:
		return parked
	case j.Retrying():
		return retrying
	case j.Scheduled(now):
		return scheduled
	}
	return j.State.String()
}

// shownSchedule returns the schedule for which a job was made, or the schedule or the job without a schedule about which a
// hook's job reports.
func shownSchedule(j store.JobInfo) string {
	var about store.HookEvent
	if json.Unmarshal(aboutHook(j), &about) == nil && about.Event != "" {
		what := about.Schedule
		if what == "" {
			what = fmt.Sprintf("job %d", about.Job)
		}
		return about.Event + " of " + what
	}
	return j.ScheduleName
}

func took(j store.JobInfo) string {
	if j.StartedAt.IsZero() || j.FinishedAt.IsZero() {
		return "-"
	}
	return plain.Brief(j.FinishedAt.Sub(j.StartedAt))
}

// cancelAsked returns a remark about a running job that was asked to stop, otherwise nothing.
func cancelAsked(j store.JobInfo) string {
	if j.State == store.StateRunning && j.CancelAsked {
		return "was asked to stop"
	}
	return ""
}

// jobResult returns why the job ended, waits or was tried again, otherwise its
// result, otherwise its last line of output.
func jobResult(j Job) string {
	if reason := cmp.Or(j.Reason, j.Waits, cancelAsked(j.JobInfo)); reason != "" {
		return reason
	}
	if n := len(j.Attempts); n > 0 && j.Attempts[n-1].Error != "" && j.State != store.StateCompleted {
		return j.Attempts[n-1].Error
	}
	if len(j.Result) > 0 {
		return string(j.Result)
	}
	output := strings.TrimSpace(string(lastOutput(j.JobInfo)))
	return output[strings.LastIndexByte(output, '\n')+1:]
}

// lastOutput returns the output of the last attempt, if that attempt left a
// record.
func lastOutput(j store.JobInfo) []byte {
	if len(j.Attempts) == 0 {
		return nil
	}
	last := j.Attempts[len(j.Attempts)-1]
	if j.State.Finished() && last.Token != j.Token {
		return nil
	}
	return last.Output
}

func jobNode(j store.JobInfo) string {
	if j.Node == "" && j.State.Finished() && len(j.Attempts) > 0 {
		return j.Attempts[len(j.Attempts)-1].Node
	}
	return j.Node
}
