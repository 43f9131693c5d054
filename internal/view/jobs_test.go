package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestLastOutput checks that the output shown is the output of the last
// attempt, not of an earlier attempt.
func TestLastOutput(t *testing.T) {
	earlier := store.JobInfo{State: store.StateCompleted, Token: 8, Attempts: []store.Attempt{{Token: 7, Error: "exit code 1", Output: []byte("half")}}}
	if r := NewJobRecord(Job{JobInfo: earlier}, time.Time{}); r.Output != nil || len(r.Errors) != 1 {
		t.Errorf("a silent second attempt: %+v", r)
	}
	earlier.Token = 7
	if r := NewJobRecord(Job{JobInfo: earlier}, time.Time{}); r.Output == nil || *r.Output != "half" {
		t.Errorf("the attempt itself: %+v", r)
	}
}

func TestShownSchedule(t *testing.T) {
	var hook store.JobInfo
	hook.Headers = []byte(`{"hourbell-hook":"{\"event\":\"failure\",\"schedule\":\"nightly\"}"}`)
	var alone store.JobInfo
	alone.Headers = []byte(`{"hourbell-hook":"{\"event\":\"failure\",\"schedule\":\"\",\"job\":17}"}`)
	for want, job := range map[string]store.JobInfo{"failure of nightly": hook, "failure of job 17": alone, "s": {ScheduleName: "s"}, "": {}} {
		if got := shownSchedule(job); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestJobState(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, job := range map[string]store.JobInfo{
		"ready":     {State: store.StateReady, RunAt: now},
		"scheduled": {State: store.StateReady, RunAt: now.Add(time.Second)},
		"retrying":  {State: store.StateReady, RunAt: now.Add(time.Second), Attempt: 1},
		"running":   {State: store.StateRunning, Attempt: 1, CancelAsked: true},
		"completed": {State: store.StateCompleted, Attempt: 1},
	} {
		if got := JobState(job, now); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestParseJobStates(t *testing.T) {
	got, err := ParseJobStates([]string{"failed", "scheduled", "retrying"}, true)
	if want := []store.State{store.StateFailed}; err != nil || !slices.Equal(got.States, want) || !got.Scheduled || !got.Retrying {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := ParseJobStates(nil, false); err != nil {
		t.Errorf("no list: %v", err)
	}
	for _, words := range [][]string{{}, {"asleep"}, {"cancelling"}} {
		var field *check.FieldError
		if _, err := ParseJobStates(words, true); !errors.As(err, &field) || field.Field != "state" || field.Remedy == "" {
			t.Errorf("%v: got %v", words, err)
		}
	}
}

// TestSecretsAreHidden checks that values that may be secrets are in no row, no
// fact and no record unless they were asked for.
func TestSecretsAreHidden(t *testing.T) {
	const secret = "hunter2"
	args, err := kinds.Command{Argv: []string{"x"}, Env: map[string]string{"PASSWORD": secret}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	schedule := hourbell.ScheduleInfo{Schedule: hourbell.Schedule{
		Name: "s", Job: hourbell.RawArgs{Name: kinds.CommandKind, JSON: args}, Rule: recur.Spec{Every: "1h"},
		Hooks: hourbell.Hooks{OnFailure: hourbell.RawArgs{Name: kinds.HTTPKind, JSON: []byte(`{"url":"https://x.example/?key=` + secret + `"}`)}},
	}}
	entry := declared.Entry{Schedule: schedule.Schedule, Line: 1}
	for _, secrets := range []bool{false, true} {
		job := store.JobInfo{ID: 1, State: store.StateCompleted}
		job.Kind, job.Args = kinds.CommandKind, args
		jobs, err := Jobs(t.Context(), client, secrets, job)
		if err != nil {
			t.Fatal(err)
		}
		one := NewSchedule(schedule, secrets)
		for name, shown := range map[string]any{
			"job's row": JobListing(now).Row(jobs[0]), "job's facts": JobFacts(jobs[0], now), "job's record": NewJobRecord(jobs[0], now),
			"schedule's row": ScheduleListing().Row(one), "schedule's facts": ScheduleFacts(one), "schedule's record": NewScheduleRecord(one),
			"entry's facts": EntryFacts(entry, now, secrets), "entry's record": NewEntryRecord(entry, now, secrets),
		} {
			text, err := json.Marshal(shown)
			if err != nil {
				t.Fatal(err)
			}
			// Rows show the program without its environment.
			if asked := secrets && !strings.HasSuffix(name, "row"); bytes.Contains(text, []byte(secret)) != asked {
				t.Errorf("%s, secrets %v: %s", name, secrets, text)
			}
		}
	}
	if bytes.Contains(declared.Raw(schedule.Hooks.OnFailure).JSON, []byte("…")) {
		t.Error("the schedule itself was changed")
	}
}
