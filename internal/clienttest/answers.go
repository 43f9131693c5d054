package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Answers tests what workers answer. open is called once for each test.
func Answers(t *testing.T, open Open) {
	t.Parallel() // it waits most of the time
	for _, test := range []struct {
		name string
		run  func(e *env)
	}{
		{"snooze 0 does not spin", snoozeDoesNotSpin},
		{"snoozes spend no attempt", snoozesSpendNoAttempt},
		{"a cancel request ends snoozes", cancelEndsSnoozes},
		{"a limited key waits", limitedKeyWaits},
		{"final errors", finalErrors},
		{"results", results},
		{"back-off", backOff},
		{"back-off by a function", ownBackOff},
		{"timeouts", timeouts},
		{"progress", progress},
		{"output", output},
		{"steps are skipped", stepsAreSkipped},
		{"steps are taken again", stepsAreTakenAgain},
		{"sleeps free the worker", sleepsFreeTheWorker},
		{"signals wake", signalsWake},
		{"signals come first", signalsComeFirst},
		{"waits time out", waitsTimeOut},
		{"cursors go on", cursorsGoOn},
		{"changed steps fail", changedStepsFail},
		{"steps of an earlier version", earlierSteps},
		{"wrong steps", wrongSteps},
	} {
		t.Run(test.name, func(t *testing.T) { with(t, open, test.run) })
	}
}

// enqueue enqueues a job and returns its number.
func (e *env) enqueue(client *hourbell.Client, args string, options ...hourbell.Option) int64 {
	e.Helper()
	added, err := client.Enqueue(e.Context(), hourbell.RawArgs{Name: kind, JSON: []byte(args)}, options...)
	e.must(err)
	return added.ID
}

// job waits until a job meets a condition, and returns it.
func (e *env) job(client *hourbell.Client, id int64, what string, meets func(store.JobInfo) bool) store.JobInfo {
	e.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		job, err := client.Jobs.Get(e.Context(), id)
		e.must(err)
		if meets(job) {
			return job
		}
		if time.Now().After(deadline) {
			e.Fatalf("job %d is not %s: %+v", id, what, job)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// finished waits until a job has ended.
func (e *env) finished(client *hourbell.Client, id int64) store.JobInfo {
	e.Helper()
	return e.job(client, id, "finished", func(job store.JobInfo) bool { return job.State.Finished() })
}

// runs records the attempts of a job.
type runs struct {
	mu       sync.Mutex
	begun    []time.Time
	attempts []int
	tokens   []int64
}

func (r *runs) add(job *hourbell.JobRow) (count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun, r.attempts, r.tokens = append(r.begun, time.Now()), append(r.attempts, job.Attempt), append(r.tokens, job.Token)
	return len(r.begun)
}

func snoozeDoesNotSpin(e *env) {
	const snoozes = 5
	var r runs
	client := e.run(e.backend, func(_ context.Context, job *hourbell.JobRow) error {
		if n := r.add(job); n <= snoozes {
			return hourbell.Snooze(time.Duration(1-n) * time.Hour) // 0, then negative
		}
		return nil
	})
	job := e.finished(client, e.enqueue(client, "{}"))
	for i := 1; i < len(r.begun); i++ {
		if wait := r.begun[i].Sub(r.begun[i-1]); wait < 100*time.Millisecond {
			e.Errorf("run %d began %v after the run before, want 100 ms at least", i+1, wait)
		}
	}
	if job.State != store.StateCompleted || job.Snoozes != snoozes || len(r.begun) != snoozes+1 {
		e.Errorf("%d runs: %+v", len(r.begun), job)
	}
}

func snoozesSpendNoAttempt(e *env) {
	var r runs
	client := e.run(e.backend, func(_ context.Context, job *hourbell.JobRow) error {
		job.SetOutput([]byte("said"))
		switch r.add(job) {
		case 1, 3:
			return fmt.Errorf("no slot is free: %w", hourbell.Snooze(0))
		case 2:
			return hourbell.RetryIn(0, errors.New("failed"))
		}
		return hourbell.Fail(errors.New("failed for good"))
	})
	job := e.finished(client, e.enqueue(client, "{}", hourbell.MaxAttempts(2)))
	if want := []int{1, 1, 2, 2}; !slices.Equal(r.attempts, want) {
		e.Errorf("the attempts were %v, want %v", r.attempts, want)
	}
	if !slices.IsSorted(r.tokens) || len(slices.Compact(slices.Clone(r.tokens))) != len(r.tokens) {
		e.Errorf("the tokens do not grow: %v", r.tokens)
	}
	if job.State != store.StateFailed || job.Snoozes != 2 || job.Attempt != 2 || job.Reason != "failed for good" {
		e.Errorf("after two snoozes and two failures: %+v", job)
	}
	outcomes := []store.AttemptOutcome{store.AttemptSnoozed, store.AttemptRetried, store.AttemptSnoozed, store.AttemptFailed}
	if len(job.Attempts) != len(outcomes) {
		e.Fatalf("the records of the attempts: %+v", job.Attempts)
	}
	for i, attempt := range job.Attempts {
		if attempt.Outcome != outcomes[i] || attempt.Token != r.tokens[i] || string(attempt.Output) != "said" {
			e.Errorf("the record of attempt %d is %+v, want the outcome %v", i, attempt, outcomes[i])
		}
	}
}

// limitedKeyWaits lets a worker answer that it is limited: the jobs of its key wait, and others go on.
func limitedKeyWaits(e *env) {
	const wait = time.Second
	var r runs
	var mu sync.Mutex
	began := map[int64]time.Time{}
	client := e.run(e.backend, func(_ context.Context, job *hourbell.JobRow) error {
		mu.Lock()
		began[job.ID] = time.Now()
		mu.Unlock()
		if r.add(job) == 1 {
			return fmt.Errorf("too many requests: %w", hourbell.LimitedFor(wait))
		}
		return nil
	})
	_, err := client.Limits.Put(e.Context(), hourbell.Limit{Name: "keys", ByKey: true, Concurrency: 9}, 0)
	e.must(err)
	first := e.enqueue(client, "{}", hourbell.Key("a"))
	snoozed := e.job(client, first, "is snoozed", func(j store.JobInfo) bool { return j.Snoozes == 1 })
	refused := snoozed.StartedAt
	same, other := e.enqueue(client, "{}", hourbell.Key("a")), e.enqueue(client, "{}", hourbell.Key("b"))
	inTime := time.Since(refused) < wait/2 // otherwise, on a busy machine, the key may be open again when the other job begins
	e.finished(client, other)
	e.finished(client, same)
	if job := e.finished(client, first); job.Snoozes != 1 || job.Attempt != 1 {
		e.Errorf("a job that was limited spends no attempt: %+v", job)
	}
	job, err := client.Jobs.Get(e.Context(), same)
	e.must(err)
	if waited := job.StartedAt.Sub(refused); waited < wait {
		e.Errorf("a job of the key began %v after the attempt that was limited", waited)
	}
	if inTime && !began[other].Before(began[same]) {
		e.Error("a job of another key waited, too")
	}
}

func cancelEndsSnoozes(e *env) {
	begun := make(chan struct{}, 1)
	client := e.run(e.backend, func(ctx context.Context, _ *hourbell.JobRow) error {
		begun <- struct{}{}
		<-ctx.Done()
		return hourbell.Snooze(time.Hour)
	})
	running := e.enqueue(client, "{}")
	<-begun
	_, err := client.Jobs.Cancel(e.Context(), hourbell.JobFilter{IDs: []int64{running}})
	e.must(err)
	job := e.finished(client, running)
	if job.State != store.StateCancelled || job.Reason != "cancelled on request" || job.Snoozes != 0 {
		e.Errorf("a snooze of a job that was asked to cancel: %+v", job)
	}
}

func finalErrors(e *env) {
	boom := errors.New("boom")
	answers := map[string]error{
		`"nil"`: nil, `"nothing cancelled"`: hourbell.Cancel(nil), `"nothing failed"`: hourbell.Fail(nil),
		`"cancel"`: fmt.Errorf("wrapped: %w", hourbell.Cancel(boom)), `"fail"`: hourbell.Fail(boom), `"error"`: boom,
	}
	client := e.run(e.backend, func(_ context.Context, job *hourbell.JobRow) error { return answers[string(job.RawArgs)] })
	for args, want := range map[string]struct {
		state  store.State
		reason string
	}{
		`"nil"`: {store.StateCompleted, ""}, `"nothing cancelled"`: {store.StateCompleted, ""}, `"nothing failed"`: {store.StateCompleted, ""},
		`"cancel"`: {store.StateCancelled, "wrapped: boom"}, `"fail"`: {store.StateFailed, "boom"},
	} {
		job := e.finished(client, e.enqueue(client, args))
		if job.State != want.state || job.Reason != want.reason || job.Attempt != 1 {
			e.Errorf("%s: %v, %q, attempt %d", args, job.State, job.Reason, job.Attempt)
		}
	}
	again := e.enqueue(client, `"error"`)
	job := e.job(client, again, "retrying", func(job store.JobInfo) bool { return job.Retrying() })
	if len(job.Attempts) != 1 || job.Attempts[0].Error != "boom" {
		e.Errorf("an error: %+v", job)
	}
	last := e.finished(client, e.enqueue(client, `"error"`, hourbell.MaxAttempts(1)))
	if last.State != store.StateFailed || last.Reason != "boom" {
		e.Errorf("the error of the last attempt: %+v", last)
	}
}

// total is a result.
type total struct {
	Files int    `json:"files"`
	Of    string `json:"of"`
}

func results(e *env) {
	client := e.run(e.backend, func(_ context.Context, job *hourbell.JobRow) error {
		switch string(job.RawArgs) {
		case `"large"`:
			e.must(job.SetResult("before"))
			err := job.SetResult(strings.Repeat("x", 64<<10))
			if problem := (*check.FieldError)(nil); !errors.As(err, &problem) || problem.Field != "result" || !strings.Contains(err.Error(), "65536") {
				e.Errorf("a result that is too large: %v", err)
			}
			if err := job.SetResult(func() {}); err == nil {
				e.Error("a function became a result")
			}
			if err := job.SetResult(json.RawMessage("\"\xff\"")); err == nil {
				e.Error("a result that is not valid UTF-8 was kept")
			}
			return nil
		case `"fail"`:
			e.must(job.SetResult([]int{1}))
			return hourbell.Fail(errors.New("boom"))
		case `"retry"`:
			if job.Attempt == 1 {
				e.must(job.SetResult("of the first attempt"))
				return hourbell.RetryIn(0, errors.New("boom"))
			}
			return nil
		case `"fine"`:
			e.must(job.SetResult(total{1, "dropped"}))
			return job.SetResult(total{3, "<ü>"})
		}
		return nil
	})
	for args, want := range map[string]string{
		`"large"`: `"before"`, `"fail"`: `[1]`, `"retry"`: "", `"fine"`: `{"files":3,"of":"<ü>"}`, `"none"`: "",
	} {
		id := e.enqueue(client, args)
		if got := string(e.finished(client, id).Result); got != want {
			e.Errorf("the result of %s is %q, want %q", args, got, want)
		}
	}
	// A batch of jobs with and without results.
	var requests []hourbell.Request
	for i := range 50 {
		args := []string{`"fine"`, `"none"`, `"fail"`}[i%3]
		requests = append(requests, hourbell.Request{Args: hourbell.RawArgs{Name: kind, JSON: []byte(args)}})
	}
	added, err := client.EnqueueMany(e.Context(), requests)
	e.must(err)
	for i, one := range added {
		job := e.finished(client, one.ID)
		var got total
		switch err := json.Unmarshal(job.Result, &got); {
		case i%3 == 0 && (err != nil || got != total{3, "<ü>"}), i%3 == 1 && job.Result != nil, i%3 == 2 && string(job.Result) != "[1]":
			e.Errorf("job %s has the result %q", job.Args, job.Result)
		}
	}
}

// backOff checks that the back-off of a job comes before the back-off of its
// kind and that RetryIn
// comes before both.
func backOff(e *env) {
	boom := errors.New("boom")
	fails := func(_ context.Context, job *hourbell.JobRow) error {
		if len(job.Headers) > 0 {
			return hourbell.Fail(fmt.Errorf("the worker sees %v", job.Headers))
		}
		switch string(job.RawArgs) {
		case `"soon"`:
			return hourbell.RetryIn(2*time.Hour, boom)
		case `"panic"`:
			panic("boom")
		}
		return boom
	}
	client := e.run(e.backend, fails, hourbell.DefaultBackoff("constant:30m"))
	wait := func(args string, options ...hourbell.Option) time.Duration {
		job := e.job(client, e.enqueue(client, args, options...), "retrying", func(job store.JobInfo) bool { return len(job.Attempts) > 0 })
		return job.RunAt.Sub(job.Attempts[0].FinishedAt)
	}
	about := func(what string, got, want time.Duration) {
		e.Helper()
		if got < want*9/10 || got > want*11/10 {
			e.Errorf("%s: the next attempt is due %v later, want %v ± 10 %%", what, got, want)
		}
	}
	about("the kind's", wait(`"x"`), 30*time.Minute)
	about("the kind's after a panic", wait(`"panic"`), 30*time.Minute)
	about("the job's", wait(`"x"`, hourbell.Backoff("linear:5h:12h")), 5*time.Hour)
	about("the default for a job", wait(`"x"`, hourbell.Backoff("default")), time.Second)
	about("RetryIn", wait(`"soon"`, hourbell.Backoff("linear:5h")), 2*time.Hour)
	_, err := client.Enqueue(e.Context(), hourbell.RawArgs{Name: kind}, hourbell.Backoff("often"))
	if problem := (*check.FieldError)(nil); !errors.As(err, &problem) || problem.Field != "backoff" {
		e.Errorf("a back-off that is unknown: %v", err)
	}

	schedule := hourbell.Schedule{Name: "s", Rule: recur.Cron("@yearly"), Job: hourbell.RawArgs{Name: kind}, Backoff: "exponential:3h:24h"}
	_, err = client.Schedules.Put(e.Context(), schedule)
	e.must(err)
	info, err := client.Schedules.Get(e.Context(), "s")
	e.must(err)
	if info.Backoff != "exponential:3h" {
		e.Errorf("the schedule has the back-off %q", info.Backoff)
	}
	id, err := client.Schedules.Trigger(e.Context(), "s")
	e.must(err)
	job := e.job(client, id, "retrying", func(job store.JobInfo) bool { return len(job.Attempts) > 0 })
	about("the schedule's", job.RunAt.Sub(job.Attempts[0].FinishedAt), 3*time.Hour)

	// Every attempt of a job has the delay of its number.
	id = e.enqueue(client, `"x"`, hourbell.Backoff("exponential:1h:8760h"))
	for attempt := 1; attempt <= 4; attempt++ {
		job := e.job(client, id, "retrying", func(job store.JobInfo) bool { return len(job.Attempts) == attempt && job.State == store.StateReady })
		about(fmt.Sprint("attempt ", attempt), job.RunAt.Sub(job.Attempts[attempt-1].FinishedAt), time.Hour<<(attempt-1))
		_, err := client.Jobs.Retry(e.Context(), hourbell.JobFilter{IDs: []int64{id}})
		e.must(err)
	}
}

// ownBackOff checks a back-off that is a function of the program's.
func ownBackOff(e *env) {
	boom := errors.New("boom")
	client := e.run(e.backend, func(context.Context, *hourbell.JobRow) error { return boom },
		hourbell.DefaultBackoffFunc(func(attempt int, err error) time.Duration {
			switch {
			case attempt == 1:
				panic("no idea")
			case attempt == 2 && errors.Is(err, boom):
				return -time.Hour
			}
			return 1000 * time.Hour
		}))
	job := e.job(client, e.enqueue(client, "{}"), "retrying after its third attempt", func(job store.JobInfo) bool { return len(job.Attempts) == 3 })
	if text := job.Attempts[0].Error; !strings.HasPrefix(text, "boom") || !strings.Contains(text, "no idea") {
		e.Errorf("the error after a panic of the back-off: %q", text)
	}
	if wait := job.Attempts[1].StartedAt.Sub(job.Attempts[0].FinishedAt); wait < 800*time.Millisecond {
		e.Errorf("after a panic of the back-off the job ran %v later, want the default, 1 s ± 10 %%", wait)
	}
	if wait := job.Attempts[2].StartedAt.Sub(job.Attempts[1].FinishedAt); wait < 100*time.Millisecond {
		e.Errorf("a negative delay became %v", wait)
	}
	if wait := job.RunAt.Sub(job.Attempts[2].FinishedAt); wait != 1000*time.Hour {
		e.Errorf("a delay of 1,000 h became %v", wait)
	}
}

func timeouts(e *env) {
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		deadline, bounded := ctx.Deadline()
		if string(job.RawArgs) == `"wait"` {
			<-ctx.Done()
			return hourbell.Fail(context.Cause(ctx))
		}
		return job.SetResult([]any{bounded, time.Until(deadline) > 30*time.Minute})
	}, hourbell.DefaultTimeout(time.Hour))
	for _, test := range []struct {
		name    string
		options []hourbell.Option
		want    string
	}{
		{"of the kind", nil, "[true,true]"},
		{"of the job", []hourbell.Option{hourbell.Timeout(time.Minute)}, "[true,false]"},
	} {
		if got := string(e.finished(client, e.enqueue(client, "{}", test.options...)).Result); got != test.want {
			e.Errorf("the timeout %s: %s, want %s", test.name, got, test.want)
		}
	}
	job := e.finished(client, e.enqueue(client, `"wait"`, hourbell.Timeout(50*time.Millisecond)))
	if job.Reason != hourbell.ErrTimeout.Error() {
		e.Errorf("after its timeout: %q", job.Reason)
	}
}

// progress checks that a node writes the progress of all its jobs together, about
// once a second, and that the newest progress of each job arrives, also after the
// job has ended.
func progress(e *env) {
	const jobs, steps = 5, 2000
	step := make(chan struct{})
	var begun sync.WaitGroup
	begun.Add(jobs)
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		if string(job.RawArgs) == `"silent"` {
			return nil
		}
		job.Progress(-5, -5, "\xff"+strings.Repeat("x", 5000))
		begun.Done()
		<-step
		for i := range int64(steps) { // about two seconds
			job.Progress(i, steps, "")
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
		job.Progress(steps, steps, fmt.Sprint("all of job ", job.ID))
		return nil
	})
	if job := e.finished(client, e.enqueue(client, `"silent"`)); job.Progress != (store.Progress{}) {
		e.Errorf("the progress of a job that reports none: %+v", job.Progress)
	}
	var ids []int64
	for range jobs {
		ids = append(ids, e.enqueue(client, "{}"))
	}
	begun.Wait()
	for _, id := range ids {
		job := e.job(client, id, "reporting", func(job store.JobInfo) bool { return !job.Progress.At.IsZero() })
		if p := job.Progress; p.Done != 0 || p.Total != 0 || len(p.Note) > 1100 || !utf8.ValidString(p.Note) || !strings.Contains(p.Note, "xxx") {
			e.Errorf("the first progress: %+v", p)
		}
	}
	started := time.Now()
	close(step)
	writes := map[time.Time]bool{} // by their time in the store
	for _, id := range ids {
		job := e.job(client, id, "complete with its last progress", func(job store.JobInfo) bool {
			if job.Progress.Done > 0 {
				writes[job.Progress.At] = true
			}
			return job.State == store.StateCompleted && job.Progress.Done == steps
		})
		if p := job.Progress; p.Total != steps || p.Note != fmt.Sprint("all of job ", id) {
			e.Errorf("the last progress of job %d: %+v", id, p)
		}
	}
	if n, most := len(writes), int(time.Since(started)/time.Second)+2; n < 2 || n > most {
		e.Errorf("%d writes of progress of %d jobs, want 2 to %d: one each second", n, jobs, most)
	}
}
