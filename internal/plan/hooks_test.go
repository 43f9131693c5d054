package plan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

var tellOps = &Hook{Kind: "tell", Args: `{"to": "ops"}`}

// about decodes the hook event of the only job of a follow-up.
func about(t *testing.T, after *store.FollowUp) store.HookEvent {
	t.Helper()
	if after == nil || len(after.Always)+len(after.Jobs) != 1 {
		t.Fatalf("no hook, or several: %+v", after)
	}
	job := append(after.Always, after.Jobs...)[0]
	if job.Kind != "tell" || string(job.Args) != `{"to": "ops"}` || job.Queue != "q" || job.Origin != store.OriginHook || job.Schedule != 0 || job.MaxAttempts < 2 {
		t.Errorf("the hook's job: %+v", job)
	}
	var e store.HookEvent
	if err := json.Unmarshal([]byte(Headers(job.Headers)[store.HookHeader]), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// A job of a schedule contains everything that a node needs to know when it ends the job.
func TestHooksTravelWithJobs(t *testing.T) {
	for _, hooks := range []Hooks{
		{}, {OnFailure: HookList{tellOps}}, {OnMissed: HookList{tellOps}, OnRecovery: HookList{tellOps}}, {OnSuccess: HookList{tellOps, tellOps}, OnRetry: HookList{tellOps}},
	} {
		plan, s := planned(t, "10s", noon, func(d *Definition) { d.Hooks = hooks })
		job := plan.Decide(s, noon.Add(10*time.Second)).Jobs[0]
		if got, want := string(mustJSON(t, hooksOf(job.Headers))), string(mustJSON(t, hooks)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if (job.Headers == nil) != hooks.IsZero() {
			t.Errorf("headers %q", job.Headers)
		}
	}
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFollowUp(t *testing.T) {
	all := Hooks{OnFailure: HookList{tellOps}, OnRecovery: HookList{tellOps}}
	job := store.Claimed{JobSpec: store.JobSpec{Queue: "q", Headers: all.headers()}, ID: 7, Attempt: 2, Schedule: 5, ScheduleName: "s", Slot: noon}
	long := store.Outcome{Result: store.Failed, Error: strings.Repeat("é", 5000), Output: bytes.Repeat([]byte("x\xff"), 9000)}

	after := FollowUp(job, long, "n")
	e := about(t, after)
	if !after.Failing || after.Schedule != 5 || e.Event != store.HookFailure || e.Schedule != "s" || !e.Slot.Equal(noon) || e.Job != 7 || e.Attempt != 2 || e.Node != "n" {
		t.Errorf("a failure: %+v %+v", after, e)
	}
	if len(e.Reason) > 4<<10 || !strings.HasPrefix(e.Reason, "éé") || len(e.Output) > 3*8<<10 || !strings.HasSuffix(e.Output, "x\uFFFD") {
		t.Errorf("reason of %d bytes, output of %d", len(e.Reason), len(e.Output))
	}
	after = FollowUp(job, store.Outcome{Result: store.Completed}, "n")
	if e := about(t, after); after.Failing || e.Event != store.HookRecovery {
		t.Errorf("a recovery: %+v %+v", after, e)
	}
	after = LostFollowUp(store.LostJob{JobSpec: job.JobSpec, ID: 7, Attempt: 1, Schedule: 5, ScheduleName: "s"})
	if e := about(t, after); !after.Failing || e.Event != store.HookFailure || e.Reason != store.LostReason {
		t.Errorf("a lost job: %+v %+v", after, e)
	}
	for _, result := range []store.Result{store.Retry, store.Release, store.Cancelled} {
		if after := FollowUp(job, store.Outcome{Result: result}, "n"); after != nil {
			t.Errorf("result %d: %+v", result, after)
		}
	}
	job.Headers = Hooks{OnMissed: HookList{tellOps}}.headers() // the schedule has hooks, but not for this event
	if after := FollowUp(job, long, "n"); after == nil || !after.Failing || len(after.Always)+len(after.Jobs) != 0 {
		t.Errorf("without a hook for it: %+v", after)
	}
	for _, headers := range []string{"", "{}", "[", `{"hourbell-hooks":"["}`, `{"hourbell-hooks":7}`} {
		job.Headers = []byte(headers)
		if after := FollowUp(job, long, "n"); after != nil {
			t.Errorf("headers %q: %+v", headers, after)
		}
	}
}

// TestFollowUpOfEachEvent checks which of several hooks an attempt causes, and the event that
// they get.
func TestFollowUpOfEachEvent(t *testing.T) {
	two := HookList{tellOps, {Kind: "note"}}
	hooks := Hooks{OnSuccess: two, OnFailure: two, OnRetry: two, OnRecovery: two, OnOutput: two}
	job := store.Claimed{JobSpec: store.JobSpec{Kind: "report", Group: "g", Queue: "q", Headers: hooks.headers()}, ID: 7, Schedule: 5, ScheduleName: "s"}
	for _, test := range []struct {
		result       store.Result
		always, jobs string // the event
		failing      bool
	}{
		{store.Completed, store.HookSuccess, store.HookRecovery, false},
		{store.Failed, store.HookFailure, "", true},
		{store.Retry, store.HookRetry, "", false},
	} {
		after := FollowUp(job, store.Outcome{Result: test.result, Error: "busy"}, "n")
		if after == nil || after.Failing != test.failing || (after.Schedule == 0) != (test.result == store.Retry) {
			t.Fatalf("result %d: %+v", test.result, after)
		}
		for _, part := range []struct {
			jobs  []store.NewJob
			event string
		}{{after.Always, test.always}, {after.Jobs, test.jobs}} {
			if part.event == "" {
				if len(part.jobs) > 0 {
					t.Errorf("result %d: further jobs: %+v", test.result, part.jobs)
				}
				continue
			}
			if len(part.jobs) != 2 || part.jobs[0].Kind != "tell" || part.jobs[1].Kind != "note" {
				t.Fatalf("result %d: %+v", test.result, part.jobs)
			}
			for _, made := range part.jobs {
				var e store.HookEvent
				if err := json.Unmarshal([]byte(Headers(made.Headers)[store.HookHeader]), &e); err != nil {
					t.Fatal(err)
				}
				if e.Event != part.event || e.Kind != "report" || e.Group != "g" || e.Schedule != "s" || e.Job != 7 || (e.Reason == "busy") != (test.result != store.Completed) {
					t.Errorf("result %d: %+v", test.result, e)
				}
			}
		}
	}
	job.Headers = Hooks{OnFailure: two}.headers()
	if after := FollowUp(job, store.Outcome{Result: store.Retry, Error: "busy"}, "n"); after != nil {
		t.Errorf("without hooks for retries: %+v", after)
	}
}

// TestOnOutput checks that an attempt makes the hooks for output if it has printed something.
func TestOnOutput(t *testing.T) {
	job := store.Claimed{JobSpec: store.JobSpec{Kind: "report", Queue: "q", Headers: Hooks{OnOutput: HookList{tellOps}}.headers()}, ID: 7, Schedule: 5, ScheduleName: "s"}
	for _, result := range []store.Result{store.Completed, store.Failed, store.Retry} {
		for _, output := range []string{"", "printed"} {
			var made []store.NewJob
			if after := FollowUp(job, store.Outcome{Result: result, Output: []byte(output)}, "n"); after != nil {
				made = append(after.Always, after.Jobs...)
			}
			if len(made) != len(output)/7 {
				t.Errorf("result %d with the output %q makes %+v", result, output, made)
			}
			for _, one := range made {
				var e store.HookEvent
				if err := json.Unmarshal([]byte(Headers(one.Headers)[store.HookHeader]), &e); err != nil || e.Event != store.HookOutput || e.Output != output || one.Kind != tellOps.Kind {
					t.Errorf("result %d: %+v %+v %v", result, one, e, err)
				}
			}
		}
	}
	if after := FollowUp(job, store.Outcome{Result: store.Cancelled, Output: []byte("printed")}, "n"); after != nil {
		t.Errorf("a cancelled job makes %+v", after)
	}
}

// TestHookListAsJSON checks that a single hook is written as releases with one hook for each event
// write and read it.
func TestHookListAsJSON(t *testing.T) {
	for text, n := range map[string]int{`{"on_failure":{"kind":"a"}}`: 1, `{"on_failure":[{"kind":"a"},{"kind":"b"}]}`: 2, `{}`: 0} {
		var hooks Hooks
		if err := json.Unmarshal([]byte(text), &hooks); err != nil || len(hooks.OnFailure) != n {
			t.Errorf("%s: %+v, %v", text, hooks, err)
		}
		if again := string(mustJSON(t, hooks)); again != text {
			t.Errorf("%s is written as %s", text, again)
		}
	}
}

func TestMissedSlotsAreTold(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	plan, s := planned(t, "1m", noon, func(d *Definition) { d.Hooks.OnMissed = HookList{tellOps} })
	s.Name = "s"
	f := plan.Decide(s, at(100).Add(30*time.Second))
	e := about(t, f.After)
	if e.Event != store.HookMissed || e.Schedule != "s" || e.Count != 99 || !e.First.Equal(at(1)) || !e.Last.Equal(at(99)) || !strings.Contains(e.Reason, "misfire") || !f.After.Failing {
		t.Errorf("missed slots: %+v %+v", f.After, e)
	}
	if f := plan.Decide(s, at(1)); f.After != nil {
		t.Errorf("nothing was missed: %+v", f.After)
	}
	s.PausedAt = noon
	if f := plan.Decide(s, at(100)); f.After != nil {
		t.Errorf("a pause misses nothing: %+v", f.After)
	}
	plan, s = planned(t, "1m", noon)
	if f := plan.Decide(s, at(100)); f.After != nil {
		t.Errorf("without hooks: %+v", f.After)
	}
}
