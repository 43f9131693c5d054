package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/kinds"
)

// jobView is a job as it is shown: without values that may be secrets, and with
// the reason why it waits.
type jobView struct {
	hourbell.JobInfo
	waits string
}

// addSecrets adds the flag that shows environments as they are.
func addSecrets(c *cobra.Command, show *bool) {
	c.Flags().BoolVar(show, "show-secrets", false, "show the values of environments, inputs and HTTP headers, which are hidden otherwise")
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

// viewSchedule prepares a schedule for output.
func viewSchedule(s hourbell.ScheduleInfo, secrets bool) hourbell.ScheduleInfo {
	if secrets {
		return s
	}
	s.Args = kinds.Redact(s.Kind, s.Args)
	s.Hooks = redactHooks(s.Hooks)
	return s
}

func redactHooks(h hourbell.Hooks) hourbell.Hooks {
	for _, hook := range []**hourbell.Hook{&h.OnFailure, &h.OnMissed, &h.OnRecovery} {
		if *hook != nil {
			*hook = &hourbell.Hook{Kind: (*hook).Kind, Args: kinds.Redact((*hook).Kind, (*hook).Args)}
		}
	}
	return h
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
