package clienttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// diary notes what workers have done, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// want checks what the workers have done.
func (d *diary) want(e *env, lines ...string) {
	e.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.lines, lines) {
		e.Errorf("the worker did %q, want %q", d.lines, lines)
	}
}

// note is a step that notes itself, and returns its name in capitals.
func (d *diary) note(name string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		d.add("%s", name)
		return strings.ToUpper(name), nil
	}
}

// parked waits until a job lies aside because of a step with this name.
func (e *env) parked(client *hourbell.Client, id int64, name string) {
	e.Helper()
	e.job(client, id, "waiting for "+name, func(job store.JobInfo) bool {
		steps, err := client.Jobs.Steps(e.Context(), id)
		e.must(err)
		return job.State == store.StateReady && slices.ContainsFunc(steps, func(s store.Step) bool { return s.Name == name && s.Open })
	})
}

// stepsAreSkipped lets an attempt fail after two steps: the next attempt takes the third step only.
func stepsAreSkipped(e *env) {
	var d diary
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		for _, name := range []string{"a", "b"} {
			value, err := hourbell.Step(ctx, job, name, d.note(name))
			if err != nil || value != strings.ToUpper(name) {
				return hourbell.Fail(fmt.Errorf("step %s has the result %q: %w", name, value, err))
			}
		}
		_, err := hourbell.Step(ctx, job, "c", func(ctx context.Context) (int, error) {
			d.add("c")
			if job.Attempt == 1 {
				return 0, hourbell.RetryIn(0, errors.New("boom"))
			}
			return 3, nil
		})
		return err
	})
	id := e.enqueue(client, "{}")
	if job := e.finished(client, id); job.State != store.StateCompleted {
		e.Errorf("the job: %+v", job)
	}
	d.want(e, "a", "b", "c", "c")
	steps, err := client.Jobs.Steps(e.Context(), id)
	e.must(err)
	var text []string
	for _, s := range steps {
		text = append(text, fmt.Sprintf("%d %s=%s", s.Place, s.Name, s.Value))
	}
	if want := []string{`1 a="A"`, `2 b="B"`, `3 c=3`}; !slices.Equal(text, want) {
		e.Errorf("the steps are %q, want %q", text, want)
	}
}

// stepsAreTakenAgain retries a completed job from its second step.
func stepsAreTakenAgain(e *env) {
	var d diary
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		for _, name := range []string{"a", "b", "c"} {
			if _, err := hourbell.Step(ctx, job, name, d.note(name)); err != nil {
				return err
			}
		}
		return nil
	})
	id := e.enqueue(client, "{}")
	completed := func(attempt int16) func(job store.JobInfo) bool {
		return func(job store.JobInfo) bool { return job.State == store.StateCompleted && job.Attempt == attempt }
	}
	e.job(client, id, "completed", completed(1))
	one := hourbell.JobFilter{IDs: []int64{id}}
	for _, options := range [][]hourbell.Option{{hourbell.FromStep("d")}, {hourbell.FromStep("d"), hourbell.DryRun()}, {hourbell.FromStep("")}} {
		_, err := client.Jobs.Retry(e.Context(), one, options...)
		var bad *check.FieldError
		if !errors.As(err, &bad) || bad.Field != "from" {
			e.Errorf("retry from a step that is not taken: %v", err)
		}
	}
	if _, err := client.Jobs.Cancel(e.Context(), one, hourbell.FromStep("b")); err == nil {
		e.Error("a cancel takes FromStep")
	}
	_, err := client.Jobs.Retry(e.Context(), one)
	e.must(err)
	e.job(client, id, "completed again", completed(2))
	d.want(e, "a", "b", "c")
	_, err = client.Jobs.Retry(e.Context(), one, hourbell.FromStep("b"))
	e.must(err)
	e.job(client, id, "completed from a step", completed(3))
	d.want(e, "a", "b", "c", "b", "c")
}

// sleepsFreeTheWorker: a job that sleeps takes no worker's place, and no attempt.
func sleepsFreeTheWorker(e *env) {
	var d diary
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		if _, err := hourbell.Step(ctx, job, "before", d.note("before")); err != nil {
			return err
		}
		if err := job.Sleep(ctx, 300*time.Millisecond); err != nil {
			d.add("sleeps")
			return err
		}
		d.add("attempt %d", job.Attempt)
		return nil
	})
	id := e.enqueue(client, "{}", hourbell.MaxAttempts(1))
	if job := e.finished(client, id); job.State != store.StateCompleted || job.Snoozes != 1 {
		e.Errorf("the job: %+v", job)
	}
	d.want(e, "before", "sleeps", "attempt 1")
}

// signalsWake: a job lies aside until its signal comes, by its number or by its key.
func signalsWake(e *env) {
	var d diary
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		answer, err := hourbell.Wait[string](ctx, job, "approval", 0)
		if err != nil {
			return err
		}
		d.add("%s", answer)
		return nil
	})
	send := func(id int64, answer string) error { return client.Signals.Send(e.Context(), id, "approval", answer) }
	id := e.enqueue(client, "{}", hourbell.MaxAttempts(1))
	e.parked(client, id, "approval")
	e.must(send(id, "yes"))
	if err := send(id, "no"); !errors.Is(err, hourbell.ErrAnswered) && !errors.Is(err, hourbell.ErrJobEnded) {
		e.Errorf("a second signal: %v", err)
	}
	e.finished(client, id)
	if err := send(id, "late"); !errors.Is(err, hourbell.ErrJobEnded) {
		e.Errorf("a signal to a job that has ended: %v", err)
	}
	if err := send(id+1000, "none"); !errors.Is(err, hourbell.ErrNotFound) {
		e.Errorf("a signal to no job: %v", err)
	}
	d.want(e, "yes")

	if _, err := client.Signals.SendToKey(e.Context(), "customer", "approval", "1"); !errors.Is(err, hourbell.ErrNotFound) {
		e.Errorf("a signal to a key without a job: %v", err)
	}
	id = e.enqueue(client, "{}", hourbell.Key("customer"))
	e.parked(client, id, "approval")
	ids, err := client.Signals.SendToKey(e.Context(), "customer", "approval", "by key")
	e.must(err)
	if !slices.Equal(ids, []int64{id}) {
		e.Errorf("the signal went to %v, want %d", ids, id)
	}
	e.finished(client, id)
	d.want(e, "yes", "by key")
}

// signalsComeFirst: a signal is kept until its job waits for it.
func signalsComeFirst(e *env) {
	var d diary
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		answer, err := hourbell.Wait[string](ctx, job, "approval", time.Hour)
		d.add("%s %v", answer, err)
		return err
	})
	id := e.enqueue(client, "{}", hourbell.In(200*time.Millisecond))
	e.must(client.Signals.Send(e.Context(), id, "approval", "early"))
	if err := client.Signals.Send(e.Context(), id, "approval", "again"); !errors.Is(err, hourbell.ErrAnswered) {
		e.Errorf("a second signal: %v", err)
	}
	e.finished(client, id)
	d.want(e, "early <nil>")
}

// waitsTimeOut: a wait ends at its timeout, with an error that the code can tell apart.
func waitsTimeOut(e *env) {
	user := e.newClient(e.backend, hourbell.Config{})
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		_, err := hourbell.Wait[string](ctx, job, "approval", 200*time.Millisecond)
		if errors.Is(err, hourbell.ErrNoSignal) {
			if err := user.Signals.Send(ctx, job.ID, "approval", "late"); !errors.Is(err, hourbell.ErrAnswered) {
				return hourbell.Fail(fmt.Errorf("a signal after the timeout: %w", err))
			}
			return job.SetResult("nothing came")
		}
		return err
	})
	if job := e.finished(client, e.enqueue(client, "{}")); string(job.Result) != `"nothing came"` {
		e.Errorf("the job: %+v", job)
	}
}

// cursorsGoOn: an attempt begins where the attempt before has stored its cursor.
func cursorsGoOn(e *env) {
	var d diary
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		var at int
		cursor, err := job.Cursor(ctx, "import", &at)
		if err != nil {
			return err
		}
		d.add("from %d", at)
		for at < 10 {
			at++
			if at == 5 && job.Attempt == 1 {
				if err := cursor.Flush(ctx); err != nil {
					return err
				}
				return hourbell.RetryIn(0, errors.New("boom"))
			}
			if err := cursor.Save(ctx); err != nil {
				return err
			}
		}
		return cursor.Flush(ctx)
	})
	e.finished(client, e.enqueue(client, "{}"))
	d.want(e, "from 0", "from 5")
}

// changedStepsFail: a job whose program takes other steps than before fails, and its reason names the step.
func changedStepsFail(e *env) {
	step := func(context.Context) (int, error) { return 1, nil }
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		names := []string{"a", "b"}
		if job.Attempt > 1 && string(job.RawArgs) == `"fewer"` {
			_, err := hourbell.Step(ctx, job, "a", step)
			return err
		} else if job.Attempt > 1 {
			names = map[string][]string{`"order"`: {"b", "a"}, `"gone"`: {"b"}, `"twice"`: {"a", "a"}}[string(job.RawArgs)]
		}
		for _, name := range names {
			if _, err := hourbell.Step(ctx, job, name, step); err != nil {
				return err
			}
		}
		return hourbell.RetryIn(0, errors.New("again"))
	})
	for args, says := range map[string]string{
		`"order"`: `step 1 is the step "b" now`, `"gone"`: `stored the step "a"`, `"fewer"`: `step 2 is not taken now`, `"twice"`: `used twice`,
	} {
		job := e.finished(client, e.enqueue(client, args))
		if job.State != store.StateFailed || job.Attempt != 2 || !strings.Contains(job.Reason, says) {
			e.Errorf("%s: %v in attempt %d, %s", args, job.State, job.Attempt, job.Reason)
		}
	}
}

// earlierSteps moves a job that waits from a node of the first version to a node of the second, whose program has other steps.
func earlierSteps(e *env) {
	var d diary
	worker := func(names ...string) hourbell.Handler {
		return func(ctx context.Context, job *hourbell.JobRow) error {
			for _, name := range names {
				if _, err := hourbell.Step(ctx, job, name, d.note(name)); err != nil {
					return err
				}
			}
			_, err := hourbell.Wait[string](ctx, job, "go", 0)
			return err
		}
	}
	client := e.run(e.backend, worker("a", "b", "c"))
	workers := hourbell.NewWorkers()
	workers.Handle(kind, worker("c", "new", "a"), hourbell.StepsVersion(2))
	e.runNode(e.backend, hourbell.Config{Workers: workers, Queues: map[string]int{"second": 1}})
	id := e.enqueue(client, "{}")
	e.parked(client, id, "go")
	_, err := client.Jobs.Move(e.Context(), hourbell.JobFilter{IDs: []int64{id}}, "second")
	e.must(err)
	e.must(client.Signals.Send(e.Context(), id, "go", "on"))
	if job := e.finished(client, id); job.State != store.StateCompleted {
		e.Errorf("%v, %s", job.State, job.Reason)
	}
	d.want(e, "a", "b", "c", "new")
	if _, err := hourbell.New(e.backend, hourbell.Config{Workers: wrongVersion()}); err == nil || !strings.Contains(err.Error(), "steps version") {
		e.Errorf("version 0 of steps: %v", err)
	}
}

func wrongVersion() *hourbell.Workers {
	workers := hourbell.NewWorkers()
	workers.Handle(kind, func(context.Context, *hourbell.JobRow) error { return nil }, hourbell.StepsVersion(0))
	return workers
}

// wrongSteps: names and values of steps have bounds.
func wrongSteps(e *env) {
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		name, value := "large", strings.Repeat("x", check.MaxResult)
		if string(job.RawArgs) == `"name"` {
			name, value = strings.Repeat("x", 201), ""
		}
		_, err := hourbell.Step(ctx, job, name, func(context.Context) (string, error) { return value, nil })
		return err
	})
	for args, says := range map[string]string{`"name"`: "at most 200", `"value"`: "65536"} {
		if job := e.finished(client, e.enqueue(client, args, hourbell.MaxAttempts(1))); job.State != store.StateFailed || !strings.Contains(job.Reason, says) {
			e.Errorf("%s: %v, %s", args, job.State, job.Reason)
		}
	}
}
