package view

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestRuns checks when a schedule ran last, and how long its jobs took.
func TestRuns(t *testing.T) {
	at := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	job := func(state store.State, started, took time.Duration) store.JobInfo {
		j := store.JobInfo{State: state, StartedAt: at.Add(started)}
		if took > 0 {
			j.FinishedAt = j.StartedAt.Add(took)
		}
		return j
	}
	waits := store.JobInfo{State: store.StateReady}
	jobs := []store.JobInfo{
		waits, job(store.StateRunning, 0, 0), job(store.StateFailed, -time.Hour, time.Second),
		job(store.StateCompleted, -2*time.Hour, 9*time.Second), job(store.StateCompleted, -3*time.Hour, 5*time.Second), job(store.StateCompleted, -4*time.Hour, 7*time.Second),
	}
	if got, want := *runsOf(jobs), (Runs{Last: at, Took: time.Second, Median: 7 * time.Second}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := *runsOf([]store.JobInfo{waits}); got != (Runs{}) {
		t.Errorf("of a job that waits: %v", got)
	}
}
