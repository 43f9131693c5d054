package river_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertest"
	"github.com/riverqueue/river/rivertype"
)

const page = "../../docs/from-river.md"

// patience is how long a test waits for an event before it fails.
const patience = time.Minute

// A row is a row of the page: its first cell, and a test of what the row says. A row
// that only compares names has no test.
type row struct {
	river string
	test  func(t *testing.T)
}

var rows = slices.Concat(kindRows, resumableRows, enqueueRows, programRows, periodicRows, stateRows)

// TestFromRiver runs River, and Hourbell where its side promises something, for each row of docs/from-river.md.
func TestFromRiver(t *testing.T) {
	inPage := cells(t)
	for _, row := range rows {
		if i := slices.Index(inPage, row.river); i < 0 {
			t.Errorf("%s has no row %q", page, row.river)
		} else {
			inPage = slices.Delete(inPage, i, i+1)
		}
		if row.test != nil {
			t.Run(row.river, func(t *testing.T) {
				t.Parallel()
				row.test(t)
			})
		}
	}
	for _, cell := range inPage {
		t.Errorf("%s: the row %q has no test here", page, cell)
	}
}

// cells returns the first cells of all tables of the page.
func cells(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.Open(page)
	must(t, err)
	defer text.Close()
	for lines := bufio.NewScanner(text); lines.Scan(); {
		if cell, found := strings.CutPrefix(lines.Text(), "| "); found && cell != "River | here |" {
			cell, _, _ = strings.Cut(cell, " | ")
			all = append(all, cell)
		}
	}
	return all
}

var kindRows = []row{
	{river: "`JobArgs` with `Kind()`, `Worker[T]`"},
	{"`AddWorker` panics if a kind has a worker already, `NewClient` refuses a kind with a space", func(t *testing.T) {
		workers := river.NewWorkers()
		river.AddWorker(workers, work(nothing))
		func() {
			defer func() {
				if recover() == nil {
					t.Error("River: a second worker of the kind is accepted")
				}
			}()
			river.AddWorker(workers, work(nothing))
		}()
		workers = river.NewWorkers()
		river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[spaced]) error { return nil }))
		if _, err := river.NewClient(riverpgxv5.New(nil), &river.Config{Workers: workers}); err == nil {
			t.Error("River: a kind with a space is accepted")
		}

		ours := hourbell.NewWorkers()
		hourbell.Register(ours, func(context.Context, *hourbell.Job[note]) error { return nil })
		hourbell.Register(ours, func(context.Context, *hourbell.Job[note]) error { return nil })
		hourbell.Register(ours, func(context.Context, *hourbell.Job[spaced]) error { return nil })
		hourbell.Register(ours, func(context.Context, *hourbell.Job[memo]) error { return nil }, hourbell.MaxRunning(-1))
		_, err := hourbell.New(hourbelltest.New(t, hourbell.Config{}).Backend, hourbell.Config{Workers: ours})
		for _, mistake := range []string{`"note" is registered twice`, "kind memo"} {
			if err == nil || !strings.Contains(err.Error(), mistake) {
				t.Errorf("Hourbell: %v does not name the mistake %s", err, mistake)
			}
		}
		if err != nil && strings.Contains(err.Error(), "a note") {
			t.Errorf("Hourbell: %v", err)
		}
	}},
	{"`Insert` refuses a kind that is not in the client's `Workers`", func(t *testing.T) {
		db := newDatabase(t)
		client := db.client(t, river.Config{Workers: workersOf(nothing)})
		_, err := client.Insert(t.Context(), memo{}, nil)
		var unknown *river.UnknownJobKindError
		if !errors.As(err, &unknown) {
			t.Errorf("River: %v is no UnknownJobKindError", err)
		}

		kit := newKit(t, ourNothing)
		kit.RunDue()
		enqueued, err := kit.Client.Enqueue(t.Context(), memo{})
		must(t, err)
		kit.RunDue()
		waits, err := kit.Client.Jobs.Waits(t.Context(), ourJob(t, kit, enqueued.ID))
		must(t, err)
		if reason := waits[enqueued.ID]; !strings.Contains(reason, `has code for kind "memo"`) {
			t.Errorf("Hourbell: the job waits because %q", reason)
		}
	}},
	{"a job of a kind without a worker is fetched and fails, unless `FetchOnlyKnownKinds`", func(t *testing.T) {
		for _, known := range []bool{false, true} {
			db := newDatabase(t)
			inserter := db.client(t, river.Config{})
			unknown := insert(t, inserter, memo{}, nil)
			worker := db.start(t, river.Config{Workers: workersOf(nothing), FetchOnlyKnownKinds: known})
			second := insert(t, inserter, note{}, nil) // fetched after the job before, or with it
			await(t, worker, second.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCompleted })
			if known {
				job := get(t, worker, unknown.ID)
				if job.Attempt != 0 || job.State != rivertype.JobStateAvailable {
					t.Errorf("River, FetchOnlyKnownKinds: %s after attempt %d", job.State, job.Attempt)
				}
				continue
			}
			await(t, worker, unknown.ID, func(job *rivertype.JobRow) bool { return len(job.Errors) > 0 && job.Attempt > 0 })
		}

		kit := newKit(t, ourNothing)
		enqueued, err := kit.Client.Enqueue(t.Context(), memo{})
		must(t, err)
		kit.Work(note{})
		if job := ourJob(t, kit, enqueued.ID); job.Attempt != 0 || job.State != store.StateReady {
			t.Errorf("Hourbell: %s after attempt %d", job.State, job.Attempt)
		}
	}},
	{"`KindAliases()` of the args", func(t *testing.T) {
		db := newDatabase(t)
		workers := river.NewWorkers()
		river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[renamed]) error { return nil }))
		client := db.start(t, river.Config{Workers: workers})
		old := insert(t, db.client(t, river.Config{}), note{}, nil)
		await(t, client, old.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCompleted })
	}},
	{"`JobTimeout`, 1 minute by default", func(t *testing.T) {
		db := newDatabase(t)
		left := make(chan time.Duration, 1)
		client := db.start(t, river.Config{Workers: workersOf(func(ctx context.Context, _ *river.Job[note]) error {
			deadline, _ := ctx.Deadline()
			left <- time.Until(deadline)
			return nil
		})})
		insert(t, client, note{}, nil)
		if left := receive(t, left); left > time.Minute || left < 30*time.Second {
			t.Errorf("River: a worker has %s", left)
		}

		kit := newKit(t, func(ctx context.Context, _ *hourbell.Job[note]) error {
			if deadline, limited := ctx.Deadline(); limited {
				return fmt.Errorf("the deadline is %s", deadline)
			}
			return nil
		})
		if attempt := kit.Work(note{}); attempt.Err != nil {
			t.Errorf("Hourbell: %v", attempt.Err)
		}
	}},
	{"back-off of attempt⁴ seconds, ± 10 %", func(t *testing.T) {
		kit := newKit(t, func(context.Context, *hourbell.Job[note]) error { return errors.New("not yet") })
		enqueued, err := kit.Client.Enqueue(t.Context(), note{}, hourbell.MaxAttempts(4))
		must(t, err)
		var waits []time.Duration
		for _, attempt := range kit.Drain() {
			waits = append(waits, attempt.Delay)
		}
		for i, seconds := range []float64{1, 16, 81} {
			want := time.Duration(seconds * float64(time.Second))
			synctest.Test(t, func(t *testing.T) { // its clock stands still
				theirs := time.Until((&river.DefaultClientRetryPolicy{}).NextRetry(&rivertype.JobRow{
					Errors: make([]rivertype.AttemptError, i),
				}))
				if !near(theirs, want) {
					t.Errorf("River: attempt %d is followed by %s", i+1, theirs)
				}
			})
			if i >= len(waits) || !near(waits[i], want) {
				t.Errorf("Hourbell: job %d waits for %v", enqueued.ID, waits)
			}
		}
	}},
	{"`river.JobSnooze`: not an attempt", func(t *testing.T) {
		db := newDatabase(t)
		client := db.start(t, river.Config{Workers: workersOf(func(context.Context, *river.Job[note]) error {
			return river.JobSnooze(time.Hour)
		})})
		job := insert(t, client, note{}, nil)
		job = await(t, client, job.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateScheduled })
		if job.Attempt != 0 {
			t.Errorf("River: attempt %d", job.Attempt)
		}

		kit := newKit(t, func(context.Context, *hourbell.Job[note]) error { return hourbell.Snooze(time.Hour) })
		if job := ourJob(t, kit, kit.Work(note{}).ID); job.Attempt != 0 || !job.Scheduled(kit.Now()) {
			t.Errorf("Hourbell: %s after attempt %d", job.State, job.Attempt)
		}
	}},
	{"`river.JobCancel`: no further attempt, `cancelled`", func(t *testing.T) {
		db := newDatabase(t)
		client := db.start(t, river.Config{Workers: workersOf(func(context.Context, *river.Job[note]) error {
			return river.JobCancel(errors.New("not wanted"))
		})})
		job := insert(t, client, note{}, nil)
		await(t, client, job.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCancelled })

		kit := newKit(t, func(_ context.Context, job *hourbell.Job[note]) error {
			if job.Args.Text == "fail" {
				return hourbell.Fail(errors.New("not wanted"))
			}
			return hourbell.Cancel(errors.New("not wanted"))
		})
		for text, want := range map[string]store.State{"fail": store.StateFailed, "cancel": store.StateCancelled} {
			if job := ourJob(t, kit, kit.Work(note{Text: text}).ID); job.State != want {
				t.Errorf("Hourbell: %s ends as %s", text, job.State)
			}
		}
	}},
	{"`JobCompleteTx`", func(t *testing.T) {
		db := newDatabase(t)
		var attempts atomic.Int64
		client := db.work(t, atOnce{}, func(ctx context.Context, job *river.Job[note]) error {
			tx, err := db.pool.Begin(ctx)
			if err != nil {
				return err
			}
			defer tx.Rollback(context.WithoutCancel(ctx))
			if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job); err != nil {
				return err
			}
			if attempts.Add(1) == 1 {
				return errors.New("rolled back")
			}
			return tx.Commit(ctx)
		})
		job := insert(t, client, note{}, nil)
		job = await(t, client, job.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCompleted })
		if job.Attempt != 2 {
			t.Errorf("River: completed by attempt %d", job.Attempt)
		}
	}},
}

var enqueueRows = []row{
	{"`client.Insert`, `InsertTx(ctx, tx, …)`", func(t *testing.T) {
		db := newDatabase(t)
		client := db.client(t, river.Config{})
		tx, err := db.pool.Begin(t.Context())
		must(t, err)
		inserted, err := client.InsertTx(t.Context(), tx, note{}, nil)
		must(t, err)
		must(t, tx.Rollback(t.Context()))
		if _, err := client.JobGet(t.Context(), inserted.Job.ID); !errors.Is(err, river.ErrNotFound) {
			t.Errorf("River: after a rollback %v", err)
		}

		ours := db.ours(t)
		tx, err = db.pool.Begin(t.Context())
		must(t, err)
		enqueued, err := ours.Enqueue(t.Context(), note{}, hourbell.InTx(postgres.Tx(tx)))
		must(t, err)
		must(t, tx.Rollback(t.Context()))
		if _, err := ours.Jobs.Get(t.Context(), enqueued.ID); !errors.Is(err, hourbell.ErrNotFound) {
			t.Errorf("Hourbell: after a rollback %v", err)
		}
	}},
	{river: "`InsertMany`"},
	{river: "`InsertOpts{Queue, ScheduledAt}`"},
	{"`Priority` 1 to 4, 1 is first and the default", func(t *testing.T) {
		db := newDatabase(t)
		client := db.client(t, river.Config{})
		if job := insert(t, client, note{}, nil); job.Priority != 1 {
			t.Errorf("River: priority %d", job.Priority)
		}
		if _, err := client.Insert(t.Context(), note{}, &river.InsertOpts{Priority: 5}); err == nil {
			t.Error("River: priority 5 is accepted")
		}
		for _, priority := range []int{4, 2, 3} {
			insert(t, client, note{}, &river.InsertOpts{Priority: priority})
		}
		order := make(chan int, 10)
		workers := workersOf(func(_ context.Context, job *river.Job[note]) error {
			order <- job.Priority
			return nil
		})
		db.start(t, river.Config{Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 1}}})
		for want := 1; want <= 4; want++ {
			if got := receive(t, order); got != want {
				t.Errorf("River: priority %d runs as number %d", got, want)
			}
		}

		kit := newKit(t, ourNothing)
		if job := ourJob(t, kit, kit.Work(note{}).ID); job.Priority != 5 {
			t.Errorf("Hourbell: priority %d", job.Priority)
		}
	}},
	{"`MaxAttempts`, 25 by default", func(t *testing.T) {
		db := newDatabase(t)
		if job := insert(t, db.client(t, river.Config{}), note{}, nil); job.MaxAttempts != 25 {
			t.Errorf("River: %d attempts", job.MaxAttempts)
		}
		kit := newKit(t, ourNothing)
		if job := ourJob(t, kit, kit.Work(note{}).ID); job.MaxAttempts != 25 {
			t.Errorf("Hourbell: %d attempts", job.MaxAttempts)
		}
	}},
	{"`InsertOpts()` of the args; options of the call override", func(t *testing.T) {
		db := newDatabase(t)
		client := db.client(t, river.Config{})
		if job := insert(t, client, careful{}, nil); job.MaxAttempts != 3 || job.Priority != 2 {
			t.Errorf("River: %d attempts, priority %d", job.MaxAttempts, job.Priority)
		}
		if job := insert(t, client, careful{}, &river.InsertOpts{MaxAttempts: 7}); job.MaxAttempts != 7 || job.Priority != 2 {
			t.Errorf("River, overridden: %d attempts, priority %d", job.MaxAttempts, job.Priority)
		}

		kit := newKit(t, ourNothing)
		enqueued, err := kit.Client.Enqueue(t.Context(), careful{}, hourbell.MaxAttempts(7))
		must(t, err)
		if job := ourJob(t, kit, enqueued.ID); job.MaxAttempts != 7 || job.Priority != 2 {
			t.Errorf("Hourbell: %d attempts, priority %d", job.MaxAttempts, job.Priority)
		}
		put(t, kit, hourbell.Schedule{Name: "careful", Rule: recur.Every(time.Hour), Job: careful{}})
		id, err := kit.Client.Schedules.Trigger(t.Context(), "careful")
		must(t, err)
		if job := ourJob(t, kit, id); job.MaxAttempts != 3 || job.Priority != 2 {
			t.Errorf("Hourbell, of a schedule: %d attempts, priority %d", job.MaxAttempts, job.Priority)
		}
	}},
	{"`UniqueOpts{ByArgs}`: also a completed job, as long as it is kept (24 h), makes an insert a duplicate", func(t *testing.T) {
		db := newDatabase(t)
		client := db.start(t, river.Config{Workers: workersOf(nothing)})
		byArgs := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
		job := insert(t, client, note{Text: "a"}, byArgs)
		await(t, client, job.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCompleted })
		if !duplicate(t, client, note{Text: "a"}, byArgs) {
			t.Error("River: a job is no duplicate of a completed job")
		}
		if duplicate(t, client, note{Text: "b"}, byArgs) {
			t.Error("River: a job with other args is a duplicate")
		}
		if kept := (&river.Config{}).WithDefaults().CompletedJobRetentionPeriod; kept != 24*time.Hour {
			t.Errorf("River: a completed job is kept for %s", kept)
		}

		kit := newKit(t, ourNothing)
		kit.Work(note{Text: "a"}, hourbell.UniqueArgs())
		if ourDuplicate(t, kit, note{Text: "a"}, hourbell.UniqueArgs()) {
			t.Error("Hourbell: a completed job holds its key without UniqueFor")
		}
		kit.Work(note{Text: "b"}, hourbell.UniqueArgs(), hourbell.UniqueFor(24*time.Hour))
		if !ourDuplicate(t, kit, note{Text: "b"}, hourbell.UniqueArgs(), hourbell.UniqueFor(24*time.Hour)) {
			t.Error("Hourbell: a completed job does not hold its key")
		}
		kit.Advance(24 * time.Hour)
		if ourDuplicate(t, kit, note{Text: "b"}, hourbell.UniqueArgs(), hourbell.UniqueFor(24*time.Hour)) {
			t.Error("Hourbell: a completed job holds its key after the time of UniqueFor")
		}
	}},
	{"a job that was cancelled or discarded does not make an insert a duplicate", func(t *testing.T) {
		db := newDatabase(t)
		client := db.work(t, nil, func(context.Context, *river.Job[note]) error { return errors.New("no") })
		once := &river.InsertOpts{MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByArgs: true}}
		job := insert(t, client, note{}, once)
		await(t, client, job.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateDiscarded })
		later := &river.InsertOpts{ScheduledAt: time.Now().Add(time.Hour), UniqueOpts: river.UniqueOpts{ByArgs: true}}
		if job = insert(t, client, note{}, later); job.State != rivertype.JobStateScheduled {
			t.Errorf("River: the job after a discarded job is %s", job.State)
		}
		if _, err := client.JobCancel(t.Context(), job.ID); err != nil {
			t.Fatal(err)
		}
		if duplicate(t, client, note{}, later) {
			t.Error("River: a job is a duplicate of a cancelled job")
		}

		kit := newKit(t, func(context.Context, *hourbell.Job[note]) error { return errors.New("no") })
		kit.Work(note{Text: "a"}, hourbell.MaxAttempts(1), hourbell.UniqueArgs())
		if ourDuplicate(t, kit, note{Text: "a"}, hourbell.UniqueArgs()) {
			t.Error("Hourbell: a failed job holds its key without UniqueFor")
		}
		kit.Work(note{Text: "b"}, hourbell.MaxAttempts(1), hourbell.UniqueArgs(), hourbell.UniqueFor(time.Hour))
		if !ourDuplicate(t, kit, note{Text: "b"}, hourbell.UniqueArgs(), hourbell.UniqueFor(time.Hour)) {
			t.Error("Hourbell: a failed job does not hold its key with UniqueFor")
		}
	}},
	{"fields with the tag `river:\"unique\"`", func(t *testing.T) {
		db := newDatabase(t)
		client := db.client(t, river.Config{})
		byArgs := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
		insert(t, client, bill{Customer: "ada", Trace: "1"}, byArgs)
		for args, want := range map[bill]bool{{"ada", "2"}: true, {"bob", ""}: false} {
			if got := duplicate(t, client, args, byArgs); got != want {
				t.Errorf("River: %+v: duplicate %t", args, got)
			}
		}

		kit := newKit(t, ourNothing)
		for i, args := range []bill{{"ada", "1"}, {"ada", "2"}, {"bob", ""}} {
			if got := ourDuplicate(t, kit, args, hourbell.UniqueArgs("customer")); got != (i == 1) {
				t.Errorf("Hourbell: %+v: duplicate %t", args, got)
			}
		}
	}},
	{"`UniqueOpts{ByPeriod: time.Hour}`: one for each hour of the clock, in UTC", func(t *testing.T) {
		db := newDatabase(t)
		client := db.client(t, river.Config{})
		day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 2)
		for _, at := range []struct {
			minute    int
			duplicate bool
		}{{1, false}, {59, true}, {60, false}} {
			due := day.Add(time.Duration(at.minute) * time.Minute)
			hourly := &river.InsertOpts{ScheduledAt: due, UniqueOpts: river.UniqueOpts{ByPeriod: time.Hour}}
			if got := duplicate(t, client, note{}, hourly); got != at.duplicate {
				t.Errorf("River: minute %d: duplicate %t", at.minute, got)
			}
		}

		kit := newKit(t, ourNothing, hourbelltest.StartAt(day.Add(59*time.Minute)))
		clock := func() []hourbell.Option {
			hour := kit.Now().UTC().Format("2006-01-02T15")
			return []hourbell.Option{hourbell.Unique(hour), hourbell.UniqueFor(time.Hour)}
		}
		kit.Work(note{}, hourbell.UniqueArgs(), hourbell.UniqueFor(time.Hour))
		kit.Work(note{}, clock()...)
		kit.Advance(time.Minute)
		if !ourDuplicate(t, kit, note{}, hourbell.UniqueArgs(), hourbell.UniqueFor(time.Hour)) {
			t.Error("Hourbell: UniqueFor ends with the hour of the clock")
		}
		if ourDuplicate(t, kit, note{}, clock()...) {
			t.Error("Hourbell: a key with the hour is not free in the next hour")
		}
	}},
	{"`UniqueOpts{ByQueue}` without `ByArgs`: one for each queue, whatever the args", func(t *testing.T) {
		db := newDatabase(t)
		client := db.client(t, river.Config{})
		in := func(queue string) *river.InsertOpts {
			return &river.InsertOpts{Queue: queue, UniqueOpts: river.UniqueOpts{ByQueue: true}}
		}
		insert(t, client, note{Text: "a"}, in("one"))
		if !duplicate(t, client, note{Text: "b"}, in("one")) || duplicate(t, client, note{Text: "b"}, in("two")) {
			t.Error("River: args count, or queues do not")
		}
	}},
	{"`UniqueSkippedAsDuplicate` of the answer", func(t *testing.T) {
		kit := newKit(t, ourNothing)
		first, err := kit.Client.Enqueue(t.Context(), note{}, hourbell.Unique("key"))
		must(t, err)
		second, err := kit.Client.Enqueue(t.Context(), note{}, hourbell.Unique("key"))
		must(t, err)
		if !second.Existed || second.ID != first.ID || second.Conflict != store.ConflictKept {
			t.Errorf("Hourbell: %+v", second)
		}
	}},
}

var programRows = []row{
	{"`Queues: {\"default\": {MaxWorkers: 100}}`; a number is required", func(t *testing.T) {
		_, err := river.NewClient(riverpgxv5.New(nil), &river.Config{
			Workers: workersOf(nothing), Queues: map[string]river.QueueConfig{river.QueueDefault: {}},
		})
		if err == nil || !strings.Contains(err.Error(), "invalid number of workers") {
			t.Errorf("River: %v", err)
		}
	}},
	{"`client.Start(ctx)`, which returns, and `Stop`", func(t *testing.T) {
		db := newDatabase(t)
		client := db.start(t, river.Config{Workers: workersOf(nothing)})
		must(t, client.Stop(t.Context()))
		<-client.Stopped()
	}},
	{"a job older than `RescueStuckJobsAfter` (1 h; an hour more than `JobTimeout`) runs again, also while its worker runs", func(t *testing.T) {
		for timeout, want := range map[time.Duration]time.Duration{0: time.Hour, 10 * time.Minute: 70 * time.Minute} {
			if after := (&river.Config{JobTimeout: timeout}).WithDefaults().RescueStuckJobsAfter; after != want {
				t.Errorf("River: %s with a timeout of %s", after, timeout)
			}
		}
		db := newDatabase(t)
		began, end := make(chan int, 2), make(chan struct{})
		defer close(end) // before the clients are stopped
		workers := workersOf(func(_ context.Context, job *river.Job[note]) error {
			began <- job.Attempt
			<-end
			return nil
		})
		config := river.Config{RetryPolicy: atOnce{}, Workers: workers}
		config.LeaderElectionDisabled = true
		first := db.start(t, config)
		job := insert(t, first, note{}, nil)
		receive(t, began)
		db.exec(t, "update river_job set attempted_at = now() - interval '61 minutes' where id = $1", job.ID)
		config.LeaderElectionDisabled = false
		db.start(t, config)
		if attempt := receive(t, began); attempt != 2 {
			t.Errorf("River: the worker is joined by attempt %d", attempt)
		}

		kit := newKit(t, func(ctx context.Context, _ *hourbell.Job[note]) error {
			return hourbelltest.Sleep(ctx, 3*time.Hour)
		})
		enqueued, err := kit.Client.Enqueue(t.Context(), note{})
		must(t, err)
		kit.RunDue()
		kit.Advance(3 * time.Hour)
		if job := ourJob(t, kit, enqueued.ID); job.State != store.StateCompleted || job.Attempt != 1 {
			t.Errorf("Hourbell: %s after attempt %d", job.State, job.Attempt)
		}
	}},
	{"a job that was lost with its process counts an attempt", func(t *testing.T) {
		db := newDatabase(t)
		client := db.client(t, river.Config{})
		lost := insert(t, client, note{}, &river.InsertOpts{MaxAttempts: 2})
		young := insert(t, client, note{}, nil)
		db.lose(t, lost.ID, 61*time.Minute)
		db.lose(t, young.ID, 50*time.Minute)
		started := db.work(t, atOnce{}, func(context.Context, *river.Job[note]) error { return errors.New("no") })
		await(t, started, lost.ID, func(job *rivertype.JobRow) bool {
			return job.State == rivertype.JobStateDiscarded && len(job.Errors) == 2
		})
		if job := get(t, started, young.ID); job.State != rivertype.JobStateRunning {
			t.Errorf("River: the job that was lost 50 minutes ago is %s", job.State)
		}

		kit := newKit(t, func(ctx context.Context, job *hourbell.Job[note]) error {
			if job.Attempt == 1 {
				return hourbelltest.Sleep(ctx, time.Hour)
			}
			return errors.New("no")
		})
		enqueued, err := kit.Client.Enqueue(t.Context(), note{}, hourbell.MaxAttempts(2))
		must(t, err)
		kit.RunDue()
		kit.KillNode(enqueued.ID)
		kit.Advance(16 * time.Second) // the lease and a second
		if job := ourJob(t, kit, enqueued.ID); job.State != store.StateFailed || job.Attempt != 2 {
			t.Errorf("Hourbell: %s after attempt %d", job.State, job.Attempt)
		}
	}},
	{"a job without a timeout (`JobTimeout: -1`) whose process has died stays `running`", func(t *testing.T) {
		db := newDatabase(t)
		workers := river.NewWorkers()
		river.AddWorker(workers, work(nothing))
		river.AddWorker(workers, timeless{})
		client := db.client(t, river.Config{})
		lost, timeless := insert(t, client, note{}, nil), insert(t, client, memo{}, nil)
		db.lose(t, lost.ID, 240*time.Hour)
		db.lose(t, timeless.ID, 240*time.Hour)
		started := db.start(t, river.Config{RetryPolicy: atOnce{}, Workers: workers})
		await(t, started, lost.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCompleted })
		if job := get(t, started, timeless.ID); job.State != rivertype.JobStateRunning {
			t.Errorf("River: the job without a timeout is %s", job.State)
		}
	}}, // for Hourbell, the job of the row before has no timeout
	{river: "elected leader for periodic jobs and maintenance"}, // see periodicRows
	{"completed and cancelled jobs are kept for 24 h, discarded jobs for 7 days", func(t *testing.T) {
		config := (&river.Config{}).WithDefaults()
		day := 24 * time.Hour
		completed, cancelled := config.CompletedJobRetentionPeriod, config.CancelledJobRetentionPeriod
		if discarded := config.DiscardedJobRetentionPeriod; completed != day || cancelled != day || discarded != 7*day {
			t.Errorf("River: %s, %s, %s", completed, cancelled, discarded)
		}

		kit := newKit(t, func(_ context.Context, job *hourbell.Job[note]) error {
			switch job.Args.Text {
			case "cancel":
				return hourbell.Cancel(errors.New("no"))
			case "fail":
				return hourbell.Fail(errors.New("no"))
			}
			return nil
		})
		for text, days := range map[string]int{"": 1, "cancel": 1, "fail": 7} {
			attempt := kit.Work(note{Text: text})
			kit.Advance(time.Duration(days)*day - time.Minute)
			kit.Prune()
			ourJob(t, kit, attempt.ID)
			kit.Advance(2 * time.Minute)
			kit.Prune()
			if _, err := kit.Client.Jobs.Get(t.Context(), attempt.ID); !errors.Is(err, hourbell.ErrNotFound) {
				t.Errorf("Hourbell: %q is kept for longer than %d days: %v", text, days, err)
			}
		}
	}},
	{"`Subscribe`: the jobs of this client", func(t *testing.T) {
		db := newDatabase(t)
		queues := map[string]river.QueueConfig{"idle": {MaxWorkers: 1}}
		idle := db.start(t, river.Config{Workers: workersOf(nothing), Queues: queues})
		busy := db.start(t, river.Config{Workers: workersOf(nothing)})
		none, endIdle := idle.Subscribe(river.EventKindJobCompleted)
		defer endIdle()
		events, endBusy := busy.Subscribe(river.EventKindJobCompleted)
		defer endBusy()
		insert(t, busy, note{}, nil)
		receive(t, events)
		insert(t, idle, note{}, &river.InsertOpts{Queue: "idle"})
		if event := receive(t, none); event.Job.Queue != "idle" {
			t.Errorf("River: a client sees a job of queue %s of another client", event.Job.Queue)
		}
	}},
	{river: "hooks, middleware"},
	{"`rivertest.RequireInserted`, `rivertest.Worker`, which does not enforce unique keys", func(t *testing.T) {
		db := newDatabase(t)
		worker := rivertest.NewWorker(t, riverpgxv5.New(nil), &river.Config{Schema: db.schema}, work(nothing))
		tx, err := db.pool.Begin(t.Context())
		must(t, err)
		defer tx.Rollback(context.WithoutCancel(t.Context()))
		byArgs := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
		for range 2 {
			if _, err := worker.Work(t.Context(), t, tx, note{}, byArgs); err != nil {
				t.Error("River:", err)
			}
		}

		kit := newKit(t, ourNothing)
		kit.Work(note{}, hourbell.Unique("key"), hourbell.UniqueFor(time.Hour))
		if !ourDuplicate(t, kit, note{}, hourbell.Unique("key"), hourbell.UniqueFor(time.Hour)) {
			t.Error("Hourbell: the kit does not enforce keys")
		}
		kit.RequireEnqueued(note{}, hourbell.Unique("key"))
	}},
	{river: "River UI"},
	{river: "clients in other languages that share the queue"},
}

var periodicRows = []row{
	{"`PeriodicJobs` in the memory of the leader: each election begins them again from its own instant", func(t *testing.T) {
		db := newDatabase(t)
		asked := make(chan time.Time, 2)
		config := river.Config{Workers: workersOf(nothing), PeriodicJobs: []*river.PeriodicJob{
			river.NewPeriodicJob(next(func(now time.Time) time.Time {
				asked <- now
				return now.Add(time.Hour)
			}), func() (river.JobArgs, *river.InsertOpts) { return note{}, nil }, nil),
		}}
		first := db.start(t, config)
		before := receive(t, asked)
		must(t, first.Stop(t.Context()))
		db.start(t, config)
		if again := receive(t, asked); !again.After(before) {
			t.Errorf("River: the second leader counts from %s, the first from %s", again, before)
		}
	}},
	{"`PeriodicInterval(15 * time.Minute)`, counted from the election", func(t *testing.T) {
		now := time.Date(2027, 3, 1, 12, 1, 2, 0, time.UTC)
		if theirs := river.PeriodicInterval(15 * time.Minute).Next(now); !theirs.Equal(now.Add(15 * time.Minute)) {
			t.Errorf("River: after %s, %s", now, theirs)
		}

		kit := newKit(t, ourNothing, hourbelltest.StartAt(now))
		nextSlot := func() time.Time {
			put(t, kit, hourbell.Schedule{Name: "often", Rule: recur.Every(15 * time.Minute), Job: note{}})
			kit.RunDue()
			often, err := kit.Client.Schedules.Get(t.Context(), "often")
			must(t, err)
			return often.NextAt
		}
		first := nextSlot()
		kit.Advance(10 * time.Minute)
		if again := nextSlot(); !again.Equal(first) {
			t.Errorf("Hourbell: a second put moves the slot from %s to %s", first, again)
		}
	}},
	{"`PeriodicJobOpts{RunOnStart: true}`, at each election of a leader", func(t *testing.T) {
		db := newDatabase(t)
		config := river.Config{Workers: workersOf(nothing), PeriodicJobs: []*river.PeriodicJob{
			river.NewPeriodicJob(river.NeverSchedule(), func() (river.JobArgs, *river.InsertOpts) { return note{}, nil },
				&river.PeriodicJobOpts{RunOnStart: true}),
		}}
		first := db.start(t, config)
		second := db.start(t, config)
		db.awaitJobs(t, 1)
		must(t, first.Stop(t.Context())) // one of the two is the leader
		must(t, second.Stop(t.Context()))
		third := db.start(t, config)
		db.awaitJobs(t, 2)
		must(t, third.Stop(t.Context()))

		kit := newKit(t, ourNothing)
		for _, start := range []struct {
			after time.Duration
			jobs  int
		}{{0, 1}, {30 * time.Second, 0}, {time.Minute, 1}} {
			kit.Advance(start.after)
			later := recur.Every(time.Hour).From(kit.Now().AddDate(1, 0, 0))
			put(t, kit, hourbell.Schedule{Name: "later", Rule: later, Job: note{}}, hourbell.RunOnStart())
			if ran := len(kit.RunDue()); ran != start.jobs {
				t.Errorf("Hourbell: %d jobs at a start %s after the start before", ran, start.after)
			}
		}
	}},
	{"a function that makes the args of each periodic job, or no job with nil", func(t *testing.T) {
		db := newDatabase(t)
		var calls atomic.Int64
		texts := make(chan string, 10)
		config := river.Config{Workers: workersOf(func(_ context.Context, job *river.Job[note]) error {
			texts <- job.Args.Text
			return nil
		}), PeriodicJobs: []*river.PeriodicJob{
			river.NewPeriodicJob(river.PeriodicInterval(time.Second), func() (river.JobArgs, *river.InsertOpts) {
				if n := calls.Add(1); n != 2 {
					return note{Text: fmt.Sprint(n)}, nil
				}
				return nil, nil
			}, nil),
		}}
		db.start(t, config)
		for _, want := range []string{"1", "3"} {
			if got := receive(t, texts); got != want {
				t.Errorf("River: a job %q, and not %q", got, want)
			}
		}

		slots := make(chan time.Time, 1)
		kit := newKit(t, func(_ context.Context, job *hourbell.Job[note]) error {
			slots <- job.Slot
			return nil
		})
		at := kit.Now().UTC().Truncate(time.Hour).Add(time.Hour)
		put(t, kit, hourbell.Schedule{Name: "hourly", Rule: recur.Cron("0 * * * *"), Job: note{}})
		kit.TravelTo(at)
		if slot := receive(t, slots); !slot.Equal(at) {
			t.Errorf("Hourbell: the job of the slot %s has the slot %s", at, slot)
		}
	}},
}

var stateRows = []row{
	{"`available`", func(t *testing.T) {
		db := newDatabase(t)
		if job := insert(t, db.client(t, river.Config{}), note{}, nil); job.State != rivertype.JobStateAvailable {
			t.Errorf("River: %s", job.State)
		}
		kit := newKit(t, ourNothing)
		enqueued, err := kit.Client.Enqueue(t.Context(), note{})
		must(t, err)
		if job := ourJob(t, kit, enqueued.ID); job.State != store.StateReady {
			t.Errorf("Hourbell: %s", job.State)
		}
	}},
	{"`scheduled`", func(t *testing.T) {
		db := newDatabase(t)
		job := insert(t, db.client(t, river.Config{}), note{}, &river.InsertOpts{ScheduledAt: time.Now().Add(time.Hour)})
		if job.State != rivertype.JobStateScheduled {
			t.Errorf("River: %s", job.State)
		}
		kit := newKit(t, ourNothing)
		enqueued, err := kit.Client.Enqueue(t.Context(), note{}, hourbell.In(time.Hour))
		must(t, err)
		if job := ourJob(t, kit, enqueued.ID); !job.Scheduled(kit.Now()) {
			t.Errorf("Hourbell: %s", job.State)
		}
	}},
	{"`retryable`; `available` if the next attempt is due within 5 seconds", func(t *testing.T) {
		db := newDatabase(t)
		fail := func(context.Context, *river.Job[note]) error { return errors.New("no") }
		client := db.work(t, retryIn{"soon": 4 * time.Second, "late": time.Hour}, fail)
		states := map[string]rivertype.JobState{"soon": rivertype.JobStateAvailable, "late": rivertype.JobStateRetryable}
		for text, want := range states {
			job := insert(t, client, note{Text: text}, nil)
			job = await(t, client, job.ID, func(job *rivertype.JobRow) bool { return len(job.Errors) > 0 })
			if len(job.Errors) == 1 && job.State != want {
				t.Errorf("River: a job that is retried %s is %s", text, job.State)
			}
		}
		kit := newKit(t, func(context.Context, *hourbell.Job[note]) error { return errors.New("no") })
		if job := ourJob(t, kit, kit.Work(note{}).ID); !job.Retrying() {
			t.Errorf("Hourbell: %s", job.State)
		}
	}},
	{"`running`", allStates},
	{"`completed`", func(t *testing.T) {
		kit := newKit(t, ourNothing)
		if job := ourJob(t, kit, kit.Work(note{}).ID); job.State != store.StateCompleted {
			t.Errorf("Hourbell: %s", job.State)
		}
	}},
	{"`discarded`", func(t *testing.T) {
		kit := newKit(t, func(context.Context, *hourbell.Job[note]) error { return errors.New("no") })
		if job := ourJob(t, kit, kit.Work(note{}, hourbell.MaxAttempts(1)).ID); job.State != store.StateFailed {
			t.Errorf("Hourbell: %s", job.State)
		}
	}},
	{river: "`cancelled`"}, // see kindRows
	{"`pending`, by `InsertOpts{Pending: true}`, until a program changes it", func(t *testing.T) {
		db := newDatabase(t)
		client := db.start(t, river.Config{Workers: workersOf(nothing)})
		pending := insert(t, client, note{}, &river.InsertOpts{Pending: true})
		job := insert(t, client, note{}, nil)
		await(t, client, job.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCompleted })
		if job := get(t, client, pending.ID); job.State != rivertype.JobStatePending {
			t.Errorf("River: %s", job.State)
		}
		kit := newKit(t, ourNothing)
		first, err := kit.Client.Enqueue(t.Context(), note{}, hourbell.In(time.Hour))
		must(t, err)
		second, err := kit.Client.Enqueue(t.Context(), note{}, hourbell.After(first.ID, store.OnSuccess, 0))
		must(t, err)
		if job := ourJob(t, kit, second.ID); job.State != store.StateWaiting {
			t.Errorf("Hourbell: %s", job.State)
		}
	}},
}

// allStates fails if River has a state that the page does not have.
func allStates(t *testing.T) {
	all := strings.Join(cells(t), "\n")
	for _, state := range rivertype.JobStates() {
		if !strings.Contains(all, "\n`"+string(state)+"`") {
			t.Errorf("%s has no row of the state %s", page, state)
		}
	}
}

// TestBothInOneDatabase runs a job of each system from one schema.
func TestBothInOneDatabase(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	client := db.start(t, river.Config{Workers: workersOf(nothing)})
	job := insert(t, client, note{}, nil)
	await(t, client, job.ID, func(job *rivertype.JobRow) bool { return job.State == rivertype.JobStateCompleted })
	kit := hourbelltest.Over(t, db.backend(t), hourbell.Config{Workers: ourWorkers(ourNothing)})
	if attempt := kit.Work(note{}); attempt.Err != nil {
		t.Error(attempt)
	}
}

// note is a job of both systems.
type note struct {
	Text string `json:"text"`
}

func (note) Kind() string { return "note" }

// memo is a job without a worker.
type memo struct{}

func (memo) Kind() string { return "memo" }

// timeless is a worker of River without a timeout.
type timeless struct{ river.WorkerDefaults[memo] }

func (timeless) Timeout(*river.Job[memo]) time.Duration { return -1 }

func (timeless) Work(context.Context, *river.Job[memo]) error { return nil }

// spaced has a kind that River refuses.
type spaced struct{}

func (spaced) Kind() string { return "a note" }

// renamed had the kind "note" before.
type renamed struct{}

func (renamed) Kind() string { return "renamed" }

func (renamed) KindAliases() []string { return []string{"note"} }

// careful has options of its kind in both systems.
type careful struct{}

func (careful) Kind() string { return "careful" }

func (careful) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 3, Priority: 2} }

func (careful) Options() []hourbell.Option {
	return []hourbell.Option{hourbell.MaxAttempts(3), hourbell.Priority(2)}
}

// bill has one field that makes jobs of River unique.
type bill struct {
	Customer string `json:"customer" river:"unique"`
	Trace    string `json:"trace"`
}

func (bill) Kind() string { return "bill" }

// next is a schedule of River.
type next func(time.Time) time.Time

func (n next) Next(now time.Time) time.Time { return n(now) }

// atOnce is a retry policy of River without delays.
type atOnce struct{}

func (atOnce) NextRetry(*rivertype.JobRow) time.Time { return time.Now() }

// retryIn is a retry policy of River with the delay of each error.
type retryIn map[string]time.Duration

func (r retryIn) NextRetry(job *rivertype.JobRow) time.Time {
	for text, delay := range r {
		if strings.Contains(string(job.EncodedArgs), text) {
			return time.Now().Add(delay)
		}
	}
	return time.Now()
}

func nothing(context.Context, *river.Job[note]) error { return nil }

func work(do func(context.Context, *river.Job[note]) error) river.Worker[note] {
	return river.WorkFunc(do)
}

func workersOf(do func(context.Context, *river.Job[note]) error) *river.Workers {
	workers := river.NewWorkers()
	river.AddWorker(workers, work(do))
	return workers
}

func ourWorkers[T hourbell.Args](do func(context.Context, *hourbell.Job[T]) error) *hourbell.Workers {
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, do)
	return workers
}

// ourNothing is a worker of Hourbell.
func ourNothing(context.Context, *hourbell.Job[note]) error { return nil }

// ignored are goroutines of River's clients, which run in other tests.
var ignored = hourbelltest.IgnoreGoroutines("github.com/riverqueue/", "github.com/jackc/")

func newKit[T hourbell.Args](
	t *testing.T, do func(context.Context, *hourbell.Job[T]) error, options ...hourbelltest.Option,
) *hourbelltest.Kit {
	t.Helper()
	config := hourbell.Config{Workers: ourWorkers(do), Logger: slog.New(slog.DiscardHandler)}
	return hourbelltest.New(t, config, append(options, ignored)...)
}

func ourJob(t *testing.T, kit *hourbelltest.Kit, id int64) store.JobInfo {
	t.Helper()
	job, err := kit.Client.Jobs.Get(t.Context(), id)
	must(t, err)
	return job
}

func put(t *testing.T, kit *hourbelltest.Kit, schedule hourbell.Schedule, options ...hourbell.Option) {
	t.Helper()
	_, err := kit.Client.Schedules.Put(t.Context(), schedule, options...)
	must(t, err)
}

func ourDuplicate(t *testing.T, kit *hourbelltest.Kit, args hourbell.Args, options ...hourbell.Option) bool {
	t.Helper()
	enqueued, err := kit.Client.Enqueue(t.Context(), args, options...)
	must(t, err)
	return enqueued.Existed
}

// near reports whether a delay is the wanted delay ± 10 %.
func near(got, want time.Duration) bool {
	return got >= want*9/10 && got <= want*11/10
}

// database is a schema of the test's own with River's tables.
type database struct {
	pool   *pgxpool.Pool
	schema string
}

var schemas atomic.Int64

func newDatabase(t *testing.T) *database {
	t.Helper()
	url := os.Getenv("HOURBELL_TEST_POSTGRES_URL")
	if url == "" {
		if os.Getenv("HOURBELL_TEST_REQUIRE") != "" {
			t.Fatal("HOURBELL_TEST_POSTGRES_URL is not set")
		}
		t.Skip("HOURBELL_TEST_POSTGRES_URL is not set; scripts/with-servers starts a server")
	}
	db := &database{schema: fmt.Sprintf("river_page_%d_%d", os.Getpid(), schemas.Add(1))}
	config, err := pgxpool.ParseConfig(url)
	must(t, err)
	config.ConnConfig.RuntimeParams["search_path"] = db.schema
	config.MaxConns = 8
	db.pool, err = pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	db.exec(t, "create schema "+db.schema)
	t.Cleanup(func() {
		_, err := db.pool.Exec(context.Background(), "drop schema "+db.schema+" cascade")
		db.pool.Close()
		must(t, err)
	})
	quiet := slog.New(slog.DiscardHandler)
	migrator, err := rivermigrate.New(riverpgxv5.New(db.pool), &rivermigrate.Config{Schema: db.schema, Logger: quiet})
	must(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	must(t, err)
	return db
}

func (db *database) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	_, err := db.pool.Exec(t.Context(), statement, args...)
	must(t, err)
}

// client returns a client of River that is not started.
func (db *database) client(t *testing.T, config river.Config) *river.Client[pgx.Tx] {
	t.Helper()
	config.Schema, config.Logger = db.schema, slog.New(slog.DiscardHandler)
	client, err := river.NewClient(riverpgxv5.New(db.pool), &config)
	must(t, err)
	return client
}

// start starts a client of River until the test ends, with the default queue if config has no queues.
func (db *database) start(t *testing.T, config river.Config) *river.Client[pgx.Tx] {
	t.Helper()
	if config.Queues == nil {
		config.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}}
	}
	client := db.client(t, config)
	must(t, client.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := client.StopAndCancel(ctx); err != nil {
			t.Error("stop River:", err)
		}
	})
	return client
}

// work starts a client of River with one worker.
func (db *database) work(
	t *testing.T, retries river.ClientRetryPolicy, do func(context.Context, *river.Job[note]) error,
) *river.Client[pgx.Tx] {
	t.Helper()
	return db.start(t, river.Config{Workers: workersOf(do), RetryPolicy: retries})
}

// lose makes a job of River one that a process has left behind in its first attempt.
func (db *database) lose(t *testing.T, id int64, ago time.Duration) {
	t.Helper()
	db.exec(t, `update river_job
		set state = 'running', attempt = 1, attempted_by = '{gone}', attempted_at = now() - $2::interval
		where id = $1`, id, ago)
}

// awaitJobs waits until there are n jobs of River, and fails if there are more.
func (db *database) awaitJobs(t *testing.T, n int) {
	t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var jobs int
		must(t, db.pool.QueryRow(t.Context(), "select count(*) from river_job").Scan(&jobs))
		switch {
		case jobs == n:
			return
		case jobs > n || time.Now().After(until):
			t.Fatalf("River has %d jobs, and not %d", jobs, n)
		}
	}
}

func (db *database) backend(t *testing.T) *postgres.Backend {
	t.Helper()
	backend, err := postgres.Open(t.Context(), os.Getenv("HOURBELL_TEST_POSTGRES_URL"), postgres.Schema(db.schema))
	must(t, err)
	t.Cleanup(func() { backend.Close() })
	return backend
}

// ours returns a client of Hourbell on the same schema.
func (db *database) ours(t *testing.T) *hourbell.Client {
	t.Helper()
	client, err := hourbell.New(db.backend(t), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	must(t, client.Migrate(t.Context()))
	return client
}

func insert(t *testing.T, client *river.Client[pgx.Tx], args river.JobArgs, opts *river.InsertOpts) *rivertype.JobRow {
	t.Helper()
	inserted, err := client.Insert(t.Context(), args, opts)
	must(t, err)
	return inserted.Job
}

func duplicate(t *testing.T, client *river.Client[pgx.Tx], args river.JobArgs, opts *river.InsertOpts) bool {
	t.Helper()
	inserted, err := client.Insert(t.Context(), args, opts)
	must(t, err)
	return inserted.UniqueSkippedAsDuplicate
}

func get(t *testing.T, client *river.Client[pgx.Tx], id int64) *rivertype.JobRow {
	t.Helper()
	job, err := client.JobGet(t.Context(), id)
	must(t, err)
	return job
}

// await waits until the job of River fulfils the condition.
func await(
	t *testing.T, client *river.Client[pgx.Tx], id int64, condition func(*rivertype.JobRow) bool,
) *rivertype.JobRow {
	t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		job := get(t, client, id)
		if condition(job) {
			return job
		}
		if time.Now().After(until) {
			t.Fatalf("River: the job is %s after attempt %d, with the errors %v", job.State, job.Attempt, job.Errors)
		}
	}
}

func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return value
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
