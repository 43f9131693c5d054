package hourbelltest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store/memory"
)

type welcome struct {
	To string `json:"to"`
}

func (welcome) Kind() string { return "welcome" }

// signUp is a function of a program: it enqueues a mail to a new user.
func signUp(ctx context.Context, client *hourbell.Client, address string) error {
	_, err := client.Enqueue(ctx, welcome{To: address}, hourbell.In(10*time.Minute))
	return err
}

// The examples call test functions as go test does: func TestX(t *testing.T).
func Example() {
	test := func(t testing.TB) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[welcome]) error {
			fmt.Println("welcome,", job.Args.To)
			return nil
		})
		kit := hourbelltest.New(t, hourbell.Config{Workers: workers})
		if err := signUp(t.Context(), kit.Client, "ada@example.org"); err != nil {
			t.Fatal(err)
		}
		kit.RequireEnqueued(welcome{To: "ada@example.org"}, hourbell.In(10*time.Minute))
		kit.RunDue()
		fmt.Println("ten minutes later:")
		kit.Advance(10 * time.Minute)
	}
	fmt.Print(run("TestSignUp", test))
	// Output:
	// ten minutes later:
	// welcome, ada@example.org
}

func ExampleKit_TravelTo() {
	test := func(t testing.TB) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(context.Context, *hourbell.Job[report]) error {
			return errors.New("the ledger is locked")
		})
		january := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		kit := hourbelltest.New(t, hourbell.Config{Workers: workers}, hourbelltest.StartAt(january))
		_, err := kit.Client.Schedules.Put(t.Context(), hourbell.Schedule{
			Name: "monthly report", Rule: recur.Cron("0 9 15 * *"), MaxAttempts: 2, Backoff: "constant:1h", Job: report{Year: 2026},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, attempt := range kit.TravelTo(january.AddDate(0, 1, 0)) {
			fmt.Println(attempt.Slot.Format(time.DateTime), attempt.Attempt, attempt.Err)
		}
	}
	fmt.Print(run("TestMonth", test))
	// Output:
	// 2026-01-15 09:00:00 1 the ledger is locked
	// 2026-01-15 09:00:00 2 the ledger is locked
}

func ExampleKit_Work() {
	errBounced := errors.New("the address does not exist")
	test := func(t testing.TB) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[welcome]) error {
			if job.Args.To == "" {
				return hourbell.Fail(errBounced)
			}
			return job.SetResult("sent")
		})
		kit := hourbelltest.New(t, hourbell.Config{Workers: workers})
		fmt.Printf("%s\n", kit.Work(welcome{To: "ada@example.org"}).Value)
		failed := kit.Work(welcome{})
		fmt.Println(failed, errors.Is(failed.Err, errBounced))
	}
	fmt.Print(run("TestWelcome", test))
	// Output:
	// "sent"
	// job 2 (welcome), attempt 1: failed: the address does not exist true
}

func ExampleKit_RequireEnqueued_transaction() {
	test := func(t testing.TB) {
		backend := memory.New() // or a driver's backend, with a transaction of the database
		kit := hourbelltest.Over(t, backend, hourbell.Config{})
		tx := backend.Begin()
		if _, err := kit.Client.Enqueue(t.Context(), welcome{To: "ada@example.org"}, hourbell.InTx(tx), hourbell.Queue("mails")); err != nil {
			t.Fatal(err)
		}
		kit.RequireEnqueued(hourbelltest.Any("welcome"), hourbell.InTx(tx), hourbell.Queue("mails"))
		kit.RequireNotEnqueued(hourbelltest.Any("welcome")) // not committed
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		fmt.Println(hourbelltest.Jobs[welcome](kit)[0].Args.To)
	}
	fmt.Print(run("TestTransaction", test))
	// Output:
	// ada@example.org
}

func ExampleSleep() {
	test := func(t testing.TB) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(ctx context.Context, _ *hourbell.Job[report]) error {
			return hourbelltest.Sleep(ctx, 3*time.Hour) // as a report that takes long
		})
		kit := hourbelltest.New(t, hourbell.Config{Workers: workers})
		if _, err := kit.Client.Enqueue(t.Context(), report{}, hourbell.Timeout(time.Hour), hourbell.MaxAttempts(1)); err != nil {
			t.Fatal(err)
		}
		fmt.Println(kit.Advance(30 * time.Minute))
		fmt.Println(kit.Advance(30 * time.Minute))
	}
	fmt.Print(run("TestSlowReport", test))
	// Output:
	// []
	// [job 1 (report), attempt 1: failed: the attempt took longer than its timeout]
}

func ExampleKit_KillNode() {
	test := func(t testing.TB) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[welcome]) error {
			fmt.Println("attempt", job.Attempt, "sends the mail")
			return nil
		})
		// The node of the first attempt dies when the mail is sent and the outcome is not recorded yet.
		linger := func(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
			err := next(ctx, job)
			if job.Attempt == 1 {
				return errors.Join(err, hourbelltest.Sleep(ctx, time.Minute))
			}
			return err
		}
		kit := hourbelltest.New(t, hourbell.Config{
			Workers: workers, Lease: 15 * time.Second, WorkMiddleware: []hourbell.WorkMiddleware{linger},
			Logger: slog.New(slog.DiscardHandler), // a death is worth a warning
		})
		job, err := kit.Client.Enqueue(t.Context(), welcome{To: "ada@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		kit.RunDue()
		kit.KillNode(job.ID)
		fmt.Println("until the lease has passed:", kit.Advance(15*time.Second))
		fmt.Println("afterwards:", kit.Advance(time.Second))
	}
	fmt.Print(run("TestDeath", test))
	// Output:
	// attempt 1 sends the mail
	// until the lease has passed: []
	// attempt 2 sends the mail
	// afterwards: [job 1 (welcome), attempt 2: completed]
}

func ExampleKit_Prune() {
	test := func(t testing.TB) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(context.Context, *hourbell.Job[welcome]) error { return nil })
		kit := hourbelltest.New(t, hourbell.Config{Workers: workers, Keep: hourbell.Keep{Completed: 30 * 24 * time.Hour}})
		job := kit.Work(welcome{To: "ada@example.org"})
		for range 2 {
			kit.Advance(20 * 24 * time.Hour)
			kit.Prune()
			_, err := kit.Client.Jobs.Get(t.Context(), job.ID)
			fmt.Println(errors.Is(err, hourbell.ErrNotFound))
		}
	}
	fmt.Print(run("TestHistory", test))
	// Output:
	// false
	// true
}

func ExampleKit_Signal() {
	test := func(t testing.TB) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[welcome]) error {
			if err := job.Sleep(ctx, 72*time.Hour); err != nil {
				return err
			}
			by, err := hourbell.Wait[string](ctx, job, "approval", 7*24*time.Hour)
			switch {
			case errors.Is(err, hourbell.ErrNoSignal):
				fmt.Println("no approval for", job.Args.To)
				return nil
			case err != nil:
				return err
			}
			fmt.Println("welcome,", job.Args.To, "says", by)
			return nil
		})
		kit := hourbelltest.New(t, hourbell.Config{Workers: workers})
		var ids []int64
		for _, to := range []string{"ada@example.org", "bob@example.org"} {
			job, err := kit.Client.Enqueue(t.Context(), welcome{To: to})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, job.ID)
		}
		kit.Advance(72 * time.Hour) // both wait for their approval now
		kit.Signal(ids[0], "approval", "ann")
		kit.Advance(7 * 24 * time.Hour)
	}
	fmt.Print(run("TestApproval", test))
	// Output:
	// welcome, ada@example.org says ann
	// no approval for bob@example.org
}
