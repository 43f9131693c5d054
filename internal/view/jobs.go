package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// jobView is a job as it is shown: without values that may be secrets, and with
// the reason why it waits.
type jobView struct {
	hourbell.JobInfo
	waits string
}

// viewJobs prepares jobs for output.
func viewJobs(ctx context.Context, client *hourbell.Client, secrets bool, jobs ...hourbell.JobInfo) ([]jobView, error) {
	reasons, err := client.Jobs.Waits(ctx, jobs...)
	if err != nil {
		return nil, err
	}
	views := make([]jobView, len(jobs))
	for i, job := range jobs {
		if !secrets {
			job.Args = kinds.Redact(job.Kind, job.Args)
		}
		views[i] = jobView{job, withFlag(reasons[job.ID])}
	}
	return views, nil
}

// withFlag adds the remedy of this program to a reason from the library.
func withFlag(reason string) string {
	if strings.Contains(reason, "may run it") {
		return reason + "; `serve --commands any` is such a node"
	}
	return reason
}

// shownTimeout formats a timeout; 0 means the worker's own timeout.
func shownTimeout(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d >= hourbell.MaxDuration:
		return "none"
	}
	return d.String()
}

// parseStates reads the states that the list shows; see shownState.
func parseStates(words []string, given bool) (f hourbell.JobFilter, err error) {
	const remedy = "use waiting, scheduled, ready, retrying, running, completed, failed or cancelled"
	if given && len(words) == 0 {
		return f, &hourbell.FieldError{Field: "state", Problem: "is empty", Remedy: remedy}
	}
	for _, word := range words {
		switch state, ok := store.ParseState(word); {
		case word == scheduled:
			f.Scheduled = true
		case word == retrying:
			f.Retrying = true
		case ok:
			f.States = append(f.States, state)
		default:
			return f, &hourbell.FieldError{Field: "state", Value: plain.Shorten(word), Problem: "is unknown", Remedy: remedy}
		}
	}
	return f, nil
}

func jobListing(now time.Time) listing[jobView] {
	return listing[jobView]{
		columns: []string{"ID", "STATE", "KIND", "QUEUE", "ATTEMPT", "RUN AT", "TOOK", "SCHEDULE", "RESULT"},
		row: func(j jobView) []string {
			return []string{
				fmt.Sprint(j.ID), shownState(j.JobInfo, now), j.Kind, j.Queue, fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts),
				plain.Stamp(j.RunAt), took(j.JobInfo), plain.Dash(shownSchedule(j.JobInfo)), plain.Dash(plain.Cut(jobResult(j), 60)),
			}
		},
		record: func(j jobView) any { return newJobRecord(j) },
	}
}

// The states shown for a ready job that has failed before, or that is due
// later.
const (
	retrying  = "retrying"
	scheduled = "scheduled"
)

// shownState returns the state that is shown.
func shownState(j hourbell.JobInfo, now time.Time) string {
	switch {
	case j.Retrying():
		return retrying
	case j.Scheduled(now):
		return scheduled
	case j.State == hourbell.Running && j.CancelAsked:
		return "cancelling"
	}
	return j.State.String()
}

// shownSchedule returns the schedule for which a job was made, or about which a
// hook's job reports.
func shownSchedule(j hourbell.JobInfo) string {
	var about hourbell.HookEvent
	if json.Unmarshal(aboutHook(j), &about) == nil && about.Event != "" {
		return about.Event + " of " + about.Schedule
	}
	return j.ScheduleName
}

func took(j hourbell.JobInfo) string {
	if j.StartedAt.IsZero() || j.FinishedAt.IsZero() {
		return "-"
	}
	return plain.Brief(j.FinishedAt.Sub(j.StartedAt))
}

// jobResult returns why the job ended, waits or was tried again, otherwise its
// last line of output.
func jobResult(j jobView) string {
	if reason := cmp.Or(j.Reason, j.waits); reason != "" {
		return reason
	}
	if n := len(j.Attempts); n > 0 && j.Attempts[n-1].Error != "" {
		return j.Attempts[n-1].Error
	}
	output := strings.TrimSpace(string(lastOutput(j.JobInfo)))
	return output[strings.LastIndexByte(output, '\n')+1:]
}

// lastOutput returns the output of the last attempt, if that attempt left a
// record.
func lastOutput(j hourbell.JobInfo) []byte {
	if len(j.Attempts) == 0 {
		return nil
	}
	last := j.Attempts[len(j.Attempts)-1]
	if j.State.Finished() && last.Token != j.Token {
		return nil
	}
	return last.Output
}

func jobNode(j hourbell.JobInfo) string {
	if j.Node == "" && j.State.Finished() && len(j.Attempts) > 0 {
		return j.Attempts[len(j.Attempts)-1].Node
	}
	return j.Node
}
