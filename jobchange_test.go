package hourbell_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// enqueueNotes enqueues n notes into a queue and returns their numbers.
func enqueueNotes(t *testing.T, client *hourbell.Client, queue string, n int) []int64 {
	t.Helper()
	added, err := client.EnqueueMany(t.Context(), slices.Repeat([]hourbell.Request{{Args: Note{}}}, n), hourbell.Queue(queue))
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, n)
	for i, job := range added {
		ids[i] = job.ID
	}
	return ids
}

func count(t *testing.T, client *hourbell.Client, f hourbell.JobFilter) int {
	t.Helper()
	n, err := client.Jobs.Count(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// TestChangesByFilterAreBatches changes more jobs than are looked up at once, while
// other jobs are enqueued that match, too.
func TestChangesByFilterAreBatches(t *testing.T) {
	client := newCluster(t).client(nil)
	const many = 10_500
	ids := enqueueNotes(t, client, "a", many)
	others := enqueueNotes(t, client, "b", 10)
	var sizes []int
	var changed []int64
	f := hourbell.JobFilter{Queue: "a"}
	res, err := client.Jobs.Cancel(t.Context(), f, hourbell.EachBatch(func(jobs []store.JobChange) error {
		sizes = append(sizes, len(jobs))
		for _, job := range jobs {
			changed = append(changed, job.ID)
		}
		enqueueNotes(t, client, "a", 3)
		return nil
	}))
	if err != nil || res.Changed != many || res.Jobs != nil || !slices.Equal(changed, ids) {
		t.Errorf("cancelled %d jobs, smallest number first: %+v, %v", len(changed), res, err)
	}
	if slices.Max(sizes) > 1000 || len(sizes) < many/1000 {
		t.Errorf("the batches have %v jobs", sizes)
	}
	if got := count(t, client, hourbell.JobFilter{Queue: "a", States: []store.State{store.StateReady}}); got != 3*len(sizes) {
		t.Errorf("%d jobs are left of the %d that were enqueued in between", got, 3*len(sizes))
	}
	if got := count(t, client, hourbell.JobFilter{IDs: others, States: []store.State{store.StateReady}}); got != len(others) {
		t.Errorf("%d of %d jobs of another queue are left", got, len(others))
	}
}

// TestAnInterruptedChangeIsWholeBatches ends a change by an error and by its context.
func TestAnInterruptedChangeIsWholeBatches(t *testing.T) {
	client := newCluster(t).client(nil)
	enqueueNotes(t, client, "a", 3500)
	enough := errors.New("enough")
	res, err := client.Jobs.Delete(t.Context(), hourbell.JobFilter{Queue: "a"}, hourbell.EachBatch(func([]store.JobChange) error { return enough }))
	if !errors.Is(err, enough) || res.Changed != 1000 || count(t, client, hourbell.JobFilter{}) != 2500 {
		t.Errorf("%+v, %v; %d jobs are left", res, err, count(t, client, hourbell.JobFilter{}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	res, err = client.Jobs.Delete(ctx, hourbell.JobFilter{Queue: "a"}, hourbell.EachBatch(func([]store.JobChange) error { cancel(); return nil }))
	if !errors.Is(err, context.Canceled) || res.Changed != 1000 || count(t, client, hourbell.JobFilter{}) != 1500 {
		t.Errorf("%+v, %v; %d jobs are left", res, err, count(t, client, hourbell.JobFilter{}))
	}
}

// TestChangesNeedAFilter: neither an empty filter nor an empty list of numbers means all
// jobs.
func TestChangesNeedAFilter(t *testing.T) {
	client := newCluster(t).client(nil)
	enqueueNotes(t, client, "a", 2)
	if _, err := client.Jobs.Delete(t.Context(), hourbell.JobFilter{}); err == nil || !strings.Contains(err.Error(), "filter selects all jobs") {
		t.Errorf("an empty filter: %v", err)
	}
	if res, err := client.Jobs.Delete(t.Context(), hourbell.JobFilter{IDs: []int64{}}); err != nil || res.Changed != 0 {
		t.Errorf("an empty list: %+v, %v", res, err)
	}
	if got := count(t, client, hourbell.JobFilter{}); got != 2 {
		t.Errorf("%d jobs are left of 2", got)
	}
	if res, err := client.Jobs.Delete(t.Context(), hourbell.JobFilter{All: true}); err != nil || res.Changed != 2 {
		t.Errorf("all: %+v, %v", res, err)
	}
}

func TestFiltersAreChecked(t *testing.T) {
	client := newCluster(t).client(nil)
	now := time.Now()
	for want, f := range map[string]hourbell.JobFilter{
		"until":          {CreatedSince: now, CreatedUntil: now},
		"finished-until": {FinishedSince: now, FinishedUntil: now.Add(-time.Second)},
		"error":          {Error: strings.Repeat("x", 1001)},
		`error "a`:       {Error: "a\x00b"},
		"queue":          {Queue: "a\x00"},
		"unique":         {Unique: strings.Repeat("x", 201)},
	} {
		_, listErr := client.Jobs.List(t.Context(), f)
		_, countErr := client.Jobs.Count(t.Context(), f)
		_, changeErr := client.Jobs.Cancel(t.Context(), f)
		for _, err := range []error{listErr, countErr, changeErr} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want an error about %s", f, err, want)
			}
		}
	}
	if _, err := client.Jobs.Move(t.Context(), hourbell.JobFilter{All: true}, ""); err == nil || !strings.Contains(err.Error(), "to is ") {
		t.Errorf("a move to no queue: %v", err)
	}
	if _, err := client.Jobs.Reprioritise(t.Context(), hourbell.JobFilter{All: true}, 10); err == nil || !strings.Contains(err.Error(), "priority") {
		t.Errorf("priority 10: %v", err)
	}
}

// TestControl takes jobs through all calls that change jobs, each first as a dry run.
func TestControl(t *testing.T) {
	c := newCluster(t)
	workers := noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error {
		if job.Args.Text == "bad" {
			return hourbell.Fail(errors.New("dial tcp: refused"))
		}
		return nil
	})
	runner := c.client(workers)
	c.run(runner)
	for _, text := range []string{"bad", "bad", "good"} {
		if _, err := runner.Enqueue(t.Context(), Note{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	enqueueNotes(t, runner, "later", 3)
	failed := hourbell.JobFilter{Error: "refused"}
	eventually(t, "two jobs have failed, and one has completed", func() bool {
		return count(t, runner, failed) == 2 && count(t, runner, hourbell.JobFilter{States: []store.State{store.StateCompleted}}) == 1
	})
	jobs := runner.Jobs
	for _, step := range []struct {
		name  string
		do    func(options ...hourbell.Option) (hourbell.JobChanges, error)
		want  hourbell.JobChanges
		after hourbell.JobFilter
		left  int
	}{
		{"move", func(o ...hourbell.Option) (hourbell.JobChanges, error) {
			return jobs.Move(t.Context(), hourbell.JobFilter{Queue: "later"}, "never", o...)
		}, hourbell.JobChanges{Changed: 3}, hourbell.JobFilter{Queue: "never"}, 3},
		{"reprioritise", func(o ...hourbell.Option) (hourbell.JobChanges, error) {
			return jobs.Reprioritise(t.Context(), hourbell.JobFilter{Queue: "never"}, 2, o...)
		}, hourbell.JobChanges{Changed: 3}, hourbell.JobFilter{Queue: "never"}, 3},
		{"cancel", func(o ...hourbell.Option) (hourbell.JobChanges, error) {
			return jobs.Cancel(t.Context(), hourbell.JobFilter{Queue: "never"}, o...)
		}, hourbell.JobChanges{Changed: 3}, hourbell.JobFilter{States: []store.State{store.StateCancelled}}, 3},
		{"retry selects failed jobs", func(o ...hourbell.Option) (hourbell.JobChanges, error) {
			return jobs.Retry(t.Context(), hourbell.JobFilter{Kind: "note"}, o...)
		}, hourbell.JobChanges{Changed: 2}, hourbell.JobFilter{States: []store.State{store.StateCancelled}}, 3},
	} {
		before := count(t, runner, step.after)
		dry, err := step.do(hourbell.DryRun())
		if len(dry.Jobs) != step.want.Changed || err != nil {
			t.Errorf("%s as a dry run: %+v, %v", step.name, dry, err)
		}
		if got := count(t, runner, step.after); got != before {
			t.Errorf("%s as a dry run changed jobs: %d match instead of %d", step.name, got, before)
		}
		res, err := step.do()
		if got := len(res.Jobs); res.Changed != step.want.Changed || got != res.Changed || err != nil {
			t.Errorf("%s: %+v, %v", step.name, res, err)
		}
		if got := count(t, runner, step.after); got != step.left {
			t.Errorf("after %s %d jobs match, want %d", step.name, got, step.left)
		}
	}
	eventually(t, "the retried jobs have failed again", func() bool {
		list, err := jobs.List(t.Context(), failed)
		return err == nil && len(list) == 2 && !slices.ContainsFunc(list, func(j store.JobInfo) bool { return j.State != store.StateFailed || j.Attempt != 2 })
	})
	res, err := jobs.Delete(t.Context(), hourbell.JobFilter{Kind: "note"})
	if err != nil || res.Changed != 6 || count(t, runner, hourbell.JobFilter{}) != 0 {
		t.Errorf("delete: %+v, %v", res, err)
	}
}

// TestChangesByFilterInTx: a filter in a caller's transaction changes what it selects with
// the commit, and is refused if that is too much.
func TestChangesByFilterInTx(t *testing.T) {
	backend := memory.New()
	client, err := hourbell.New(backend, hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	enqueueNotes(t, client, "few", 1000)
	enqueueNotes(t, client, "many", 1001)
	cancelled := hourbell.JobFilter{States: []store.State{store.StateCancelled}}
	tx := backend.Begin()
	if res, err := client.Jobs.Cancel(t.Context(), hourbell.JobFilter{Queue: "few"}, hourbell.InTx(tx)); err != nil || res.Changed != 1000 {
		t.Errorf("1,000 jobs: %+v, %v", res, err)
	}
	var invalid *check.FieldError
	if res, err := client.Jobs.Cancel(t.Context(), hourbell.JobFilter{Queue: "many"}, hourbell.InTx(tx)); !errors.As(err, &invalid) || invalid.Field != "filter" || res.Changed != 0 {
		t.Errorf("1,001 jobs: %+v, %v", res, err)
	}
	if got := count(t, client, cancelled); got != 0 {
		t.Errorf("%d jobs are cancelled before the commit", got)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := count(t, client, cancelled); got != 1000 {
		t.Errorf("%d jobs are cancelled after the commit", got)
	}
}

// TestOptionsOfChangesAreNotForEnqueue: a dry run must not enqueue.
func TestOptionsOfChangesAreNotForEnqueue(t *testing.T) {
	client := newCluster(t).client(nil)
	for _, option := range []hourbell.Option{hourbell.DryRun(), hourbell.EachBatch(func([]store.JobChange) error { return nil })} {
		if _, err := client.Enqueue(t.Context(), Note{}, option); err == nil || !strings.Contains(err.Error(), "options") {
			t.Errorf("enqueue: %v", err)
		}
		if err := client.Schedules.Pause(t.Context(), []string{"s"}, option); err == nil || !strings.Contains(err.Error(), "options") {
			t.Errorf("pause: %v", err)
		}
	}
	if got := count(t, client, hourbell.JobFilter{}); got != 0 {
		t.Errorf("%d jobs were enqueued", got)
	}
}
