package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// Part is a child.
type Part struct{ N int }

func (Part) Kind() string { return "part" }

// Whole is a parent.
type Whole struct{ Parts int }

func (Whole) Kind() string { return "whole" }

// family is a node with parents and children.
type family struct {
	t      *testing.T
	c      *cluster
	client *hourbell.Client
	ahead  atomic.Int64 // by how much the store's clock is ahead
}

// newFamily makes a node whose parents and children do this.
func newFamily(t *testing.T, whole func(ctx context.Context, job *hourbell.Job[Whole]) error, part func(ctx context.Context, job *hourbell.Job[Part]) error) *family {
	t.Helper()
	f := &family{t: t}
	f.c = &cluster{t: t, store: memory.New(memory.WithClock(func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }))}
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, whole, hourbell.DefaultBackoff("constant:100ms"))
	hourbell.Register(workers, part)
	f.client = f.c.client(workers, func(config *hourbell.Config) {
		config.Queues = map[string]int{"default": 4, "wholes": 1}
	})
	f.c.run(f.client)
	return f
}

// enqueue enqueues a parent.
func (f *family) enqueue(parts int) int64 {
	f.t.Helper()
	job, err := f.client.Enqueue(f.t.Context(), Whole{parts}, hourbell.Queue("wholes"))
	must(f.t, err)
	return job.ID
}

func (f *family) job(id int64) store.JobInfo {
	f.t.Helper()
	job, err := f.client.Jobs.Get(f.t.Context(), id)
	must(f.t, err)
	return job
}

// await waits until a job is as ok says.
func (f *family) await(id int64, what string, ok func(job store.JobInfo) bool) {
	f.t.Helper()
	eventually(f.t, what, func() bool { return ok(f.job(id)) })
}

func ended(job store.JobInfo) bool { return job.State.Finished() }

func parked(job store.JobInfo) bool { return job.Parked }

// children returns the children of a job. The job must have n children.
func (f *family) children(parent int64, n int) []store.JobInfo {
	f.t.Helper()
	jobs, err := f.client.Jobs.List(f.t.Context(), hourbell.JobFilter{Kind: "part", Limit: 1000, Details: true})
	must(f.t, err)
	jobs = slices.DeleteFunc(jobs, func(job store.JobInfo) bool {
		return !strings.Contains(string(job.Headers), fmt.Sprintf("%q:%q", hourbell.ParentHeader, fmt.Sprint(parent)))
	})
	if len(jobs) != n {
		f.t.Fatalf("job %d has %d children, want %d", parent, len(jobs), n)
	}
	return jobs
}

// spawnAll spawns the parts of a parent and waits for them.
func spawnAll(ctx context.Context, job *hourbell.Job[Whole]) error {
	var parts []hourbell.Args
	for n := range job.Args.Parts {
		parts = append(parts, Part{n})
	}
	if err := job.Spawn(ctx, parts...); err != nil {
		return err
	}
	return job.WaitChildren(ctx)
}

// TestChildren checks that a parent that fails after it has made its children does not make them again, waits for all of them, and
// reads what became of them.
func TestChildren(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	f := newFamily(t, func(ctx context.Context, job *hourbell.Job[Whole]) error {
		if err := job.Spawn(ctx, Part{0}, Part{1}, Part{2}); err != nil {
			return err
		}
		if runs.Add(1) == 1 {
			return errors.New("not yet")
		}
		if err := job.SpawnMany(ctx, []hourbell.Request{{Args: Part{3}, Options: []hourbell.Option{hourbell.Key("k")}}}); err != nil {
			return err
		}
		if err := job.WaitChildren(ctx); err != nil {
			return err
		}
		children, err := job.Children(ctx)
		if err != nil {
			return err
		}
		var all []string
		for _, child := range children {
			all = append(all, fmt.Sprintf("%s %v %s", child.Kind, child.State, child.Result))
		}
		return job.SetResult(all)
	}, func(_ context.Context, job *hourbell.Job[Part]) error {
		if job.Args.N == 1 {
			return hourbell.Cancel(errors.New("no"))
		}
		return job.SetResult(10 * job.Args.N)
	})
	id := f.enqueue(0)
	f.await(id, "the parent has ended", ended)
	job := f.job(id)
	if want := `["part completed 0","part cancelled ","part completed 20","part completed 30"]`; string(job.Result) != want || job.Attempt != 2 {
		t.Errorf("attempt %d has the result %s, want %s", job.Attempt, job.Result, want)
	}
	f.children(id, 4)
	steps, err := f.client.Jobs.Steps(t.Context(), id)
	must(t, err)
	for i, step := range steps {
		if step.Name != fmt.Sprintf("children %d", i+1) || step.Open {
			t.Errorf("step %d: %+v", i+1, step)
		}
	}
}

// TestChildrenAreCancelled checks that the children of a cancelled job are cancelled, and the children of these children. Children with
// OutliveParent go on.
func TestChildrenAreCancelled(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	f := newFamily(t, func(ctx context.Context, job *hourbell.Job[Whole]) error {
		if job.Args.Parts > 1 {
			if err := job.Spawn(ctx, Whole{1}); err != nil {
				return err
			}
		}
		if err := job.SpawnMany(ctx, []hourbell.Request{{Args: Part{2}}}, hourbell.OutliveParent()); err != nil {
			return err
		}
		return spawnAll(ctx, job)
	}, func(ctx context.Context, job *hourbell.Job[Part]) error {
		if job.Args.N < 2 {
			<-ctx.Done()
			return ctx.Err()
		}
		<-free
		return nil
	})
	id := f.enqueue(2)
	f.await(id, "the parent is parked", parked)
	var inner int64
	eventually(t, "the inner parent is parked", func() bool {
		wholes, err := f.client.Jobs.List(t.Context(), hourbell.JobFilter{Kind: "whole"})
		must(t, err)
		inner = wholes[0].ID
		return len(wholes) == 2 && wholes[0].Parked
	})
	preview, err := f.client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{id}}, hourbell.DryRun())
	must(t, err)
	done, err := f.client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{id}})
	must(t, err)
	if len(preview.Jobs) != 5 || len(done.Jobs) != 5 { // two parents, and one, one and two children
		t.Errorf("%d jobs would be cancelled, and %d were", len(preview.Jobs), len(done.Jobs))
	}
	for _, child := range slices.Concat(f.children(id, 3), f.children(inner, 2)) {
		if string(child.Args) == `{"N":2}` {
			continue
		}
		f.await(child.ID, "a child is cancelled", func(job store.JobInfo) bool { return job.State == store.StateCancelled })
	}
	close(free)
	for _, child := range slices.Concat(f.children(id, 3), f.children(inner, 2)) {
		f.await(child.ID, "a child has ended", ended)
		if got := f.job(child.ID); (string(child.Args) == `{"N":2}`) != (got.State == store.StateCompleted) {
			t.Errorf("the child with %s is %v: %s", child.Args, got.State, got.Reason)
		}
	}
	if got := f.job(inner); got.State != store.StateCancelled || !strings.Contains(got.Reason, fmt.Sprintf("job %d", id)) {
		t.Errorf("the inner parent is %v: %s", got.State, got.Reason)
	}
}

// TestChildrenWithoutTheLastJob checks that a parent goes on although the last job of the batch of its children was deleted by hand.
func TestChildrenWithoutTheLastJob(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	f := newFamily(t, spawnAll, func(context.Context, *hourbell.Job[Part]) error {
		<-free
		return nil
	})
	id := f.enqueue(1)
	f.await(id, "the parent is parked", parked)
	own, err := f.client.Jobs.List(t.Context(), hourbell.JobFilter{Kind: "hourbell.children"})
	must(t, err)
	_, err = f.client.Jobs.Delete(t.Context(), hourbell.JobFilter{IDs: []int64{own[0].ID}})
	must(t, err)
	f.ahead.Add(int64(61 * time.Minute))
	f.await(id, "the parent has looked after an hour", func(job store.JobInfo) bool { return job.Snoozes > 1 && job.Parked })
	close(free)
	f.await(f.children(id, 1)[0].ID, "the child has ended", ended)
	f.ahead.Add(int64(61 * time.Minute))
	f.await(id, "the parent has ended", ended)
	if got := f.job(id); got.State != store.StateCompleted || got.Attempt != 1 {
		t.Errorf("the parent is %v after attempt %d: %s", got.State, got.Attempt, got.Reason)
	}
}

// TestSpawnIsRefused checks what SpawnMany refuses, and that nothing is stored then.
func TestSpawnIsRefused(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		request hourbell.Request
		option  hourbell.Option
		want    string
	}{
		"InTx":    {hourbell.Request{Args: Part{}}, hourbell.InTx(struct{ store.Tx }{}), `options "InTx" are for other calls`},
		"InBatch": {hourbell.Request{Args: Part{}}, hourbell.InBatch(1), `options "InBatch" are for other calls`},
		"a key":   {hourbell.Request{Args: Part{}, Options: []hourbell.Option{hourbell.Unique("k")}}, hourbell.OutliveParent(), "has a job with a key"},
		"a taken key": {
			hourbell.Request{Args: Part{}, Options: []hourbell.Option{hourbell.Unique("taken"), hourbell.OnConflict(hourbell.ErrorOnConflict)}},
			hourbell.OutliveParent(), "job 1 has the key; nothing was stored",
		},
		"its option":  {hourbell.Request{Args: Part{}, Options: []hourbell.Option{hourbell.OutliveParent()}}, hourbell.Priority(1), `options "OutliveParent" are for other calls`},
		"no argument": {hourbell.Request{}, hourbell.Priority(1), "args are nil"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t, func(ctx context.Context, job *hourbell.Job[Whole]) error {
				return hourbell.Cancel(job.SpawnMany(ctx, []hourbell.Request{one.request}, one.option))
			}, func(context.Context, *hourbell.Job[Part]) error { return nil })
			_, err := f.client.Enqueue(t.Context(), Part{}, hourbell.Unique("taken"), hourbell.In(time.Hour))
			must(t, err)
			id := f.enqueue(0)
			f.await(id, "the parent has ended", ended)
			if got := f.job(id); !strings.Contains(got.Reason, one.want) {
				t.Errorf("the job is %v: %s; want %s", got.State, got.Reason, one.want)
			}
			f.children(id, 0)
		})
	}
	workers := hourbell.NewWorkers()
	workers.Handle("hourbell.children", func(context.Context, *hourbell.JobRow) error { return nil })
	_, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers})
	if _, ok := errors.AsType[*check.FieldError](err); !ok {
		t.Errorf("a worker for a kind of Hourbell itself: %v", err)
	}
}

// TestSpawnInATest checks that a worker can be called without a node.
func TestSpawnInATest(t *testing.T) {
	t.Parallel()
	job := &hourbell.Job[Whole]{Args: Whole{3}}
	if err := spawnAll(t.Context(), job); err != nil {
		t.Error(err)
	}
	if children, err := job.Children(t.Context()); err != nil || len(children) > 0 {
		t.Errorf("children: %v, %v", children, err)
	}
}
