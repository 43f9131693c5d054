package river_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/store"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// Billing is the job of the example in both systems.
type Billing struct {
	Month     string   `json:"month"`
	Customers []string `json:"customers"`
}

func (Billing) Kind() string { return "billing" }

// riverBilling is the example's worker of River.
type riverBilling struct {
	river.WorkerDefaults[Billing]
	books *books
}

func (b *riverBilling) Work(ctx context.Context, job *river.Job[Billing]) error {
	river.ResumableStep(ctx, "open", nil, func(ctx context.Context) error {
		return b.books.open(ctx, job.Args.Month)
	})
	river.ResumableStepCursor(ctx, "charge", nil, func(ctx context.Context, done int) error {
		for ; done < len(job.Args.Customers); done++ {
			if err := b.books.charge(ctx, job.Args.Customers[done]); err != nil {
				return err
			}
			if err := river.ResumableSetCursor(ctx, done+1); err != nil {
				return err
			}
		}
		return nil
	})
	river.ResumableStep(ctx, "close", nil, func(ctx context.Context) error {
		return b.books.close(ctx, job.Args.Month)
	})
	return nil
}

// billing is the example's worker of Hourbell.
type billing struct{ books *books }

func (b *billing) work(ctx context.Context, job *hourbell.Job[Billing]) error {
	_, err := hourbell.Step(ctx, job, "open", func(ctx context.Context) (bool, error) {
		return true, b.books.open(ctx, job.Args.Month)
	})
	if err != nil {
		return err
	}
	var done int
	cursor, err := job.Cursor(ctx, "charge", &done)
	if err != nil {
		return err
	}
	for ; done < len(job.Args.Customers); done++ {
		if err := cursor.Save(ctx); err != nil {
			return err
		}
		if err := b.books.charge(ctx, job.Args.Customers[done]); err != nil {
			return errors.Join(err, cursor.Flush(ctx))
		}
	}
	if err := cursor.Flush(ctx); err != nil {
		return err
	}
	_, err = hourbell.Step(ctx, job, "close", func(ctx context.Context) (bool, error) {
		return true, b.books.close(ctx, job.Args.Month)
	})
	return err
}

// books are the effects of the example. The first charge of refused, and the first close, fail.
type books struct {
	refused string

	mu      sync.Mutex
	effects []string
	failed  []string
}

func (b *books) open(_ context.Context, month string) error { return b.do("open "+month, false) }

func (b *books) charge(_ context.Context, customer string) error {
	return b.do("charge "+customer, customer == b.refused)
}

func (b *books) close(_ context.Context, month string) error { return b.do("close "+month, true) }

// do records an effect, or fails the first time if failing is set.
func (b *books) do(effect string, failing bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if failing && !slices.Contains(b.failed, effect) {
		b.failed = append(b.failed, effect)
		return errors.New(effect + " has failed")
	}
	b.effects = append(b.effects, effect)
	return nil
}

// TestResumableExample runs the example of the page in both systems: its job fails twice, and each of its effects happens once.
func TestResumableExample(t *testing.T) {
	t.Parallel()
	isInPage(t, "func (b *riverBilling) Work", "func (b *billing) work")
	args := Billing{Month: "2027-03", Customers: []string{"ada", "bob", "cy"}}
	want := []string{"open 2027-03", "charge ada", "charge bob", "charge cy", "close 2027-03"}

	theirs := &books{refused: "bob"}
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverBilling{books: theirs})
	client := newDatabase(t).start(t, river.Config{Workers: workers, RetryPolicy: atOnce{}})
	job := insert(t, client, args, nil)
	job = await(t, client, job.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCompleted })
	if !slices.Equal(theirs.effects, want) || job.Attempt != 3 {
		t.Errorf("River: attempt %d, effects %q", job.Attempt, theirs.effects)
	}

	ours := &books{refused: "bob"}
	kit := newKit(t, (&billing{books: ours}).work)
	enqueued, err := kit.Client.Enqueue(t.Context(), args)
	must(t, err)
	kit.Drain()
	if job := ourJob(t, kit, enqueued.ID); !slices.Equal(ours.effects, want) || job.Attempt != 3 {
		t.Errorf("Hourbell: attempt %d, effects %q", job.Attempt, ours.effects)
	}
}

// isInPage fails unless the page has each function of this file that begins so.
func isInPage(t *testing.T, functions ...string) {
	t.Helper()
	code, err := os.ReadFile("resumable_test.go")
	must(t, err)
	text, err := os.ReadFile(page)
	must(t, err)
	for _, function := range functions {
		_, after, _ := strings.Cut(string(code), "\n"+function)
		body, _, found := strings.Cut(after, "\n}\n")
		if !found || !strings.Contains(string(text), "```go\n"+function+body+"\n}\n```\n") {
			t.Errorf("%s does not have the code of this test that begins with %q", page, function)
		}
	}
}

// step takes a step of Hourbell that counts its calls.
func step(ctx context.Context, job *hourbell.Job[note], name string, calls *atomic.Int64) error {
	_, err := hourbell.Step(ctx, job, name, func(context.Context) (int64, error) { return calls.Add(1), nil })
	return err
}

// riverStep takes a step of River that counts its calls, and whose first calls fail.
func riverStep(ctx context.Context, name string, calls *atomic.Int64, failing int64) {
	river.ResumableStep(ctx, name, nil, func(context.Context) error {
		if calls.Add(1) <= failing {
			return errors.New("not yet")
		}
		return nil
	})
}

func completed(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCompleted }

var resumableRows = []row{
	{"`ResumableStep`: a step that has ended is not repeated in the next attempt", func(t *testing.T) {
		var first, second atomic.Int64
		client := newDatabase(t).work(t, atOnce{}, func(ctx context.Context, _ *river.Job[note]) error {
			riverStep(ctx, "first", &first, 0)
			riverStep(ctx, "second", &second, 1)
			return nil
		})
		await(t, client, insert(t, client, note{}, nil).ID, completed)
		if first.Load() != 1 || second.Load() != 2 {
			t.Errorf("River: the first step ran %d times, the second %d times", first.Load(), second.Load())
		}

		var ours atomic.Int64
		kit := newKit(t, func(ctx context.Context, job *hourbell.Job[note]) error {
			if err := step(ctx, job, "first", &ours); err != nil || job.Attempt == 2 {
				return err
			}
			return errors.New("not yet")
		})
		kit.Work(note{})
		if kit.Drain(); ours.Load() != 1 {
			t.Errorf("Hourbell: the step ran %d times", ours.Load())
		}
	}},
	{"a step returns only an error", func(t *testing.T) {
		results := make(chan int64, 2)
		kit := newKit(t, func(ctx context.Context, job *hourbell.Job[note]) error {
			result, err := hourbell.Step(ctx, job, "count", func(context.Context) (int64, error) { return 40 + int64(job.Attempt), nil })
			results <- result
			if job.Attempt == 1 {
				err = errors.New("not yet")
			}
			return err
		})
		kit.Work(note{})
		kit.Drain()
		if one, two := receive(t, results), receive(t, results); one != 41 || two != 41 {
			t.Errorf("Hourbell: the results are %d and %d", one, two)
		}
	}},
	{"after a step that failed, the next steps are skipped, and the code between them runs", func(t *testing.T) {
		var first, between, second atomic.Int64
		client := newDatabase(t).work(t, atOnce{}, func(ctx context.Context, _ *river.Job[note]) error {
			riverStep(ctx, "first", &first, 1)
			between.Add(1)
			riverStep(ctx, "second", &second, 0)
			return nil
		})
		await(t, client, insert(t, client, note{}, nil).ID, completed)
		if first.Load() != 2 || between.Load() != 2 || second.Load() != 1 {
			t.Errorf("River: the steps ran %d and %d times, the code between them %d times", first.Load(), second.Load(), between.Load())
		}

		refused := errors.New("not yet")
		var got error
		kit := newKit(t, func(ctx context.Context, job *hourbell.Job[note]) error {
			_, got = hourbell.Step(ctx, job, "first", func(context.Context) (bool, error) { return false, refused })
			return got
		})
		if kit.Work(note{}); !errors.Is(got, refused) {
			t.Errorf("Hourbell: the step returns %v", got)
		}
	}},
	{"the last step is stored with the outcome of the attempt; if the process dies, the steps are repeated, except after `ResumableSetStepTx`", storedSteps},
	{"`ResumableStepCursor`: what `ResumableSetCursor` has last got is also stored with the outcome, or by `ResumableSetStepCursorTx`", storedCursors},
	{"a new step before the stored step is skipped; without the stored step each attempt fails", changedSteps},
	{"a job that snoozes keeps its steps", func(t *testing.T) {
		var first, attempts atomic.Int64
		client := newDatabase(t).work(t, atOnce{}, func(ctx context.Context, _ *river.Job[note]) error {
			riverStep(ctx, "first", &first, 0)
			if attempts.Add(1) == 1 {
				return river.JobSnooze(time.Second)
			}
			return nil
		})
		await(t, client, insert(t, client, note{}, nil).ID, completed)
		if first.Load() != 1 || attempts.Load() != 2 {
			t.Errorf("River: the step ran %d times in %d attempts", first.Load(), attempts.Load())
		}

		var ours atomic.Int64
		kit := newKit(t, func(ctx context.Context, job *hourbell.Job[note]) error {
			if err := step(ctx, job, "first", &ours); err != nil {
				return err
			}
			if err := job.Sleep(ctx, time.Hour); err != nil {
				return err
			}
			_, err := hourbell.Wait[bool](ctx, job, "answer", time.Hour)
			return err
		})
		id := kit.Work(note{}).ID
		kit.Advance(time.Hour)
		kit.Signal(id, "answer", true)
		if job := ourJob(t, kit, id); ours.Load() != 1 || job.State != store.StateCompleted {
			t.Errorf("Hourbell: %s, the step ran %d times", job.State, ours.Load())
		}
	}},
}

// leftBehind lets a job of River hang where its worker calls hang, and returns what a process that dies there leaves in the job.
func leftBehind(t *testing.T, db *database, work func(ctx context.Context, job *river.Job[note], hang func())) string {
	t.Helper()
	reached, ended := make(chan bool, 1), make(chan bool)
	defer close(ended)
	client := db.work(t, atOnce{}, func(ctx context.Context, job *river.Job[note]) error {
		work(ctx, job, func() {
			reached <- true
			<-ended
		})
		return nil
	})
	job := insert(t, client, note{}, nil)
	receive(t, reached)
	return string(get(t, client, job.ID).Metadata)
}

// ourLoss runs a job whose node dies in its first attempt, when its worker returns, until the job is completed.
func ourLoss(t *testing.T, work func(ctx context.Context, job *hourbell.Job[note]) error) {
	t.Helper()
	kit := newKit(t, func(ctx context.Context, job *hourbell.Job[note]) error {
		if err := work(ctx, job); err != nil || job.Attempt > 1 {
			return err
		}
		return hourbelltest.Sleep(ctx, time.Hour)
	})
	enqueued, err := kit.Client.Enqueue(t.Context(), note{})
	must(t, err)
	kit.RunDue()
	kit.KillNode(enqueued.ID)
	kit.Drain()
	if job := ourJob(t, kit, enqueued.ID); job.Attempt != 2 || job.State != store.StateCompleted {
		t.Errorf("Hourbell: %s after attempt %d", job.State, job.Attempt)
	}
}

// storedSteps looks at the steps of an attempt whose process dies.
func storedSteps(t *testing.T) {
	var calls atomic.Int64
	metadata := leftBehind(t, newDatabase(t), func(ctx context.Context, _ *river.Job[note], hang func()) {
		riverStep(ctx, "first", &calls, 0)
		hang()
	})
	if strings.Contains(metadata, "first") {
		t.Errorf("River: the step is stored before the end of the attempt: %s", metadata)
	}
	db := newDatabase(t)
	metadata = leftBehind(t, db, func(ctx context.Context, job *river.Job[note], hang func()) {
		river.ResumableStep(ctx, "first", nil, func(ctx context.Context) error {
			return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
				_, err := river.ResumableSetStepTx[*riverpgxv5.Driver](ctx, tx, job)
				return err
			})
		})
		hang()
	})
	if !strings.Contains(metadata, "first") {
		t.Errorf("River, ResumableSetStepTx: the step is not stored: %s", metadata)
	}

	var ours atomic.Int64
	ourLoss(t, func(ctx context.Context, job *hourbell.Job[note]) error { return step(ctx, job, "first", &ours) })
	if ours.Load() != 1 {
		t.Errorf("Hourbell: the step ran %d times", ours.Load())
	}
}

// storedCursors looks at the cursor of an attempt whose process dies.
func storedCursors(t *testing.T) {
	metadata := leftBehind(t, newDatabase(t), func(ctx context.Context, _ *river.Job[note], hang func()) {
		river.ResumableStepCursor(ctx, "rows", nil, func(ctx context.Context, _ int) error {
			defer hang()
			return river.ResumableSetCursor(ctx, 4711)
		})
	})
	if strings.Contains(metadata, "4711") {
		t.Errorf("River: the cursor is stored before the end of the attempt: %s", metadata)
	}
	db := newDatabase(t)
	metadata = leftBehind(t, db, func(ctx context.Context, job *river.Job[note], hang func()) {
		river.ResumableStepCursor(ctx, "rows", nil, func(ctx context.Context, _ int) error {
			defer hang()
			return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
				_, err := river.ResumableSetStepCursorTx[*riverpgxv5.Driver](ctx, tx, job, 4711)
				return err
			})
		})
	})
	if !strings.Contains(metadata, "4711") {
		t.Errorf("River, ResumableSetStepCursorTx: the cursor is not stored: %s", metadata)
	}

	var last int
	ourLoss(t, func(ctx context.Context, job *hourbell.Job[note]) error {
		var row int
		cursor, err := job.Cursor(ctx, "rows", &row)
		if err != nil {
			return err
		}
		last = row
		row = 4711
		return cursor.Flush(ctx)
	})
	if last != 4711 {
		t.Errorf("Hourbell: the cursor is %d in the second attempt", last)
	}
}

// changedSteps lets the second attempt take other steps than the first.
func changedSteps(t *testing.T) {
	for changed, want := range map[string]string{"new first second": "", "second": `resumable step "first" not found in Worker`} {
		var attempts, first, added, second atomic.Int64
		client := newDatabase(t).work(t, atOnce{}, func(ctx context.Context, _ *river.Job[note]) error {
			steps := "first second"
			if attempts.Add(1) > 1 {
				steps = changed
			}
			for name := range strings.FieldsSeq(steps) {
				calls := map[string]*atomic.Int64{"new": &added, "first": &first, "second": &second}[name]
				riverStep(ctx, name, calls, map[string]int64{"second": 1}[name])
			}
			return nil
		})
		job := insert(t, client, note{}, &river.InsertOpts{MaxAttempts: 3})
		job = await(t, client, job.ID, func(job *rivertype.JobRow) bool { return job.FinalizedAt != nil })
		if got := job.Errors[len(job.Errors)-1].Error; want != "" && (job.Attempt != 3 || !strings.Contains(got, want)) {
			t.Errorf("River, steps %q: attempt %d failed: %s", changed, job.Attempt, got)
		}
		if want == "" && (!completed(job) || added.Load() != 0 || first.Load() != 1) {
			t.Errorf("River, steps %q: %s, the new step ran %d times, the first %d times", changed, job.State, added.Load(), first.Load())
		}
	}

	for version, want := range map[int]store.State{1: store.StateFailed, 2: store.StateCompleted} {
		var first, added atomic.Int64
		kit := hourbelltest.New(t, hourbell.Config{}, ignored)
		run := func(do func(context.Context, *hourbell.Job[note]) error, options ...hourbell.WorkerOption) *hourbell.Client {
			workers := hourbell.NewWorkers()
			hourbell.Register(workers, do, options...)
			client, err := hourbell.New(kit.Backend, hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
			must(t, err)
			kit.Run(client)
			return client
		}
		before := run(func(ctx context.Context, job *hourbell.Job[note]) error {
			return errors.Join(step(ctx, job, "first", &first), errors.New("not yet"))
		})
		id := kit.Work(note{}).ID
		must(t, before.Stop(t.Context()))
		run(func(ctx context.Context, job *hourbell.Job[note]) error {
			return cmp.Or(step(ctx, job, "new", &added), step(ctx, job, "first", &first))
		}, hourbell.StepsVersion(version))
		attempts := kit.Drain()
		failed := len(attempts) == 1 && strings.Contains(fmt.Sprint(attempts[0].Err), hourbell.ErrStepsChanged.Error())
		if job := ourJob(t, kit, id); job.State != want || failed != (version == 1) || first.Load() != 1 || added.Load() != int64(version-1) {
			t.Errorf("Hourbell, StepsVersion(%d): %s, %v, the new step ran %d times, the first %d times",
				version, job.State, attempts, added.Load(), first.Load())
		}
	}
}
