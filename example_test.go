package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store/memory"
)

// Greet is the type of the arguments of jobs of kind "greet".
type Greet struct {
	Name string `json:"name"`
}

func (Greet) Kind() string { return "greet" }

func Example() {
	ctx := context.Background()
	done := make(chan struct{})
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[Greet]) error {
		fmt.Println("hello", job.Args.Name)
		close(done)
		return nil
	})
	// In production the backend comes from a driver: sqlite.Open or
	// postgres.Open.
	client, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Enqueue(ctx, Greet{Name: "Ada"}, hourbell.MaxAttempts(3)); err != nil {
		log.Fatal(err)
	}
	go func() {
		<-done
		_ = client.Stop(ctx) // it returns nil without a deadline
	}()
	if err := client.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: hello Ada
}

func ExampleScheduleService_Put() {
	ctx := context.Background()
	client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	first, err := client.Schedules.Put(ctx, hourbell.Schedule{
		Name: "morning",
		Rule: recur.Cron("0 9 * * 1-5").In("Europe/Prague"),
		Job:  hourbell.RawArgs{Name: "greet", JSON: []byte(`{"name":"all"}`)},
	})
	if err != nil {
		log.Fatal(err)
	}
	// An edit is refused if the schedule was changed after it was read.
	edit := first
	edit.Priority = 1
	if _, err := client.Schedules.Put(ctx, edit); err != nil {
		log.Fatal(err)
	}
	_, err = client.Schedules.Put(ctx, first)
	fmt.Println(errors.Is(err, hourbell.ErrConflict))
	// Output: true
}

func ExampleUnique() {
	ctx := context.Background()
	client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 { // two calls with one key make one job
		job, err := client.Enqueue(ctx, Greet{Name: "Ada"}, hourbell.Unique("Ada"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("job", job.ID, "existed:", job.Existed)
	}
	// Output:
	// job 1 existed: false
	// job 1 existed: true
}

// Jobs of one call are stored together, each with options of its own.
func ExampleClient_EnqueueMany() {
	ctx := context.Background()
	client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	made, err := client.EnqueueMany(ctx, []hourbell.Request{
		{Args: Greet{Name: "Ada"}, Options: []hourbell.Option{hourbell.Unique("Ada")}},
		{Args: Greet{Name: "Ada"}, Options: []hourbell.Option{hourbell.Unique("Ada")}},
		{Args: Greet{Name: "all"}, Options: []hourbell.Option{hourbell.In(time.Hour)}},
	}, hourbell.Queue("greetings"))
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range made {
		fmt.Println("job", job.ID, "existed:", job.Existed)
	}
	// Output:
	// job 1 existed: false
	// job 1 existed: true
	// job 2 existed: false
}

func ExampleRetryIn() {
	work := func(_ context.Context, _ *hourbell.Job[Greet]) error {
		err := errors.New("the server asks to come back later")
		return hourbell.RetryIn(10*time.Minute, err)
	}
	fmt.Println(work(context.Background(), nil))
	// Output: the server asks to come back later
}
