package hourbell

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestWaitsNameRetries checks that a waiting job names the attempts of a predecessor that is being retried.
func TestWaitsNameRetries(t *testing.T) {
	edge := func(job int64, on store.On, state store.EdgeState) store.JobEdge {
		return store.JobEdge{Edge: store.Edge{Job: job, On: on}, State: state}
	}
	at := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	retried := store.JobInfo{ID: 2, State: store.StateReady, Attempt: 4, RunAt: at}
	retried.MaxAttempts = 25
	predecessors := map[int64]store.JobInfo{1: {ID: 1, State: store.StateReady}, 2: retried, 3: {ID: 3, State: store.StateRunning, Attempt: 2}}
	waiting := store.JobInfo{ID: 9, State: store.StateWaiting, After: []store.JobEdge{
		edge(1, OnSuccess, store.EdgeOpen), edge(2, OnFailure, store.EdgeOpen), edge(3, OnEither, store.EdgeOpen), edge(4, OnSuccess, store.EdgeMatched),
	}}
	for want, job := range map[string]store.JobInfo{
		"waits for job 1 (success), job 2 (failure; attempt 4 of 25 has ended, the next is due at 2027-03-01T09:00:00Z), job 3 (either)": waiting,
		"": {ID: 9, State: store.StateReady, After: waiting.After},
	} {
		if got := waitsForJobs([]store.JobInfo{job}, predecessors)[9]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
