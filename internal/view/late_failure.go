package view

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/backoff"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// soon is how long the failure of a predecessor may take without a remark.
const soon = time.Minute

// LateFailure returns when at the latest an edge counts the failure of its predecessor, if that is long after the first failed
// attempt: a failure counts after the last attempt. what names the predecessor; first is the number of its next attempt,
// or of its running attempt, from 1; attempts is the number of its last attempt, 0 for the default, and policy its
// back-off, empty for the default. The text is empty if the edge does not count failures, or counts them soon.
func LateFailure(on store.On, what string, first, attempts int, policy string) (problem, remedy string) {
	p, err := backoff.Parse(cmp.Or(policy, "default"))
	if err != nil || on == store.OnSuccess {
		return "", ""
	}
	attempts = cmp.Or(attempts, defaultAttempts)
	wait := p.Total(first, attempts)
	if wait < soon {
		return "", ""
	}
	problem = fmt.Sprintf("a failure of %s counts after its last attempt of %d, which may begin up to %s after the first "+
		"failed attempt (back-off %s)", what, attempts, span(wait), p)
	return problem, fmt.Sprintf("give %s fewer attempts (max_attempts: 1 if its first failure is to count) or a shorter back-off", what)
}

// LateJobFailure is LateFailure for an edge whose predecessor is a live job.
func LateJobFailure(on store.On, of store.JobInfo) (problem, remedy string) {
	problem, remedy = LateFailure(on, fmt.Sprintf("job %d", of.ID), int(of.Attempt), int(of.MaxAttempts), header(of, store.BackoffHeader))
	if problem != "" {
		remedy = "enqueue such a job with fewer attempts (--max-attempts 1 if its first failure is to count) or a shorter back-off"
	}
	return problem, remedy
}

// span returns a duration for people, in days if it is long.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return plain.Brief(d)
	}
	return plain.Plural(int((d+day/2)/day), "day")
}
