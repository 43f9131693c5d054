package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

func (p *program) jobsCommand() *cobra.Command {
	f := &storeFlags{}
	c := p.group("jobs", "Lists, shows, cancels, retries and deletes jobs",
		p.jobsListCommand(f),
		p.jobsShowCommand(f),
		p.jobsCancelCommand(f),
		p.jobsChangeCommand(f, jobChange{
			verb: "retry", short: "Makes finished jobs ready again, and waiting ones due now",
			do:   (*hourbell.JobService).Retry,
			said: map[store.Change]string{hourbell.JobChanged: "ready to run again"},
			left: "is running; cancel it first",
		}),
		p.jobsChangeCommand(f, jobChange{
			verb: "delete", short: "Deletes jobs that do not run, with all records of them",
			do:   (*hourbell.JobService).Delete,
			said: map[store.Change]string{hourbell.JobChanged: "deleted"},
			left: "is running; cancel it first",
		}),
	)
	f.addTo(c)
	return c
}

// jobsListFlags select jobs.
type jobsListFlags struct {
	states   []string
	queue    string
	kind     string
	schedule string
	before   int64
	limit    int
	secrets  bool
	format   format
}

func (p *program) jobsListCommand(f *storeFlags) *cobra.Command {
	var l jobsListFlags
	c := &cobra.Command{
		Use: "list", Short: "Lists jobs, alive and finished, newest first", Args: takes(false),
		Example: "  hourbell jobs list --state running\n" +
			"  hourbell jobs list --schedule nightly --state failed,cancelled\n" +
			"  hourbell jobs list --queue mail --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error { return p.jobsList(c, *f, l) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&l.states, "state", nil, "only these states: waiting, ready, running, completed, failed, cancelled; or, of the ready jobs, only scheduled or retrying")
	flags.StringVar(&l.queue, "queue", "", "only jobs of this queue")
	flags.StringVar(&l.kind, "kind", "", "only jobs of this kind")
	flags.StringVar(&l.schedule, "schedule", "", "only jobs made for this schedule")
	flags.Int64Var(&l.before, "before", 0, "only jobs with a number below this")
	addLimit(c, &l.limit)
	addSecrets(c, &l.secrets)
	l.format.addTo(c)
	return c
}

func (p *program) jobsList(c *cobra.Command, f storeFlags, l jobsListFlags) error {
	filter, err := parseStates(l.states, c.Flags().Changed("state"))
	err = errors.Join(err, nameFlags(c, "queue", "kind", "schedule"), checkLimit(l.limit))
	if c.Flags().Changed("before") && l.before < 1 {
		err = errors.Join(err, &hourbell.FieldError{Field: "before", Value: fmt.Sprint(l.before), Problem: "is not the number of a job", Remedy: "use a positive whole number"})
	}
	if err != nil {
		return err
	}
	filter.Queue, filter.Kind, filter.Schedule, filter.Before, filter.Details = l.queue, l.kind, l.schedule, l.before, true
	return p.withClient(c.Context(), f, func(client *hourbell.Client) error {
		now, err := client.Now(c.Context())
		if err != nil {
			return err
		}
		return jobListing(now).print(p, l.format, paged(p, c, l.format, l.limit, func(size int, last *jobView) ([]jobView, error) {
			page := filter
			page.Limit = size
			if last != nil {
				page.Before = last.ID
			}
			jobs, err := client.Jobs.List(c.Context(), page)
			if err != nil {
				return nil, err
			}
			return viewJobs(c.Context(), client, l.secrets, jobs...)
		}))
	})
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
