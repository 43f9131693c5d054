package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
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
	edit := first.Now
	edit.Priority = 1
	if _, err := client.Schedules.Put(ctx, edit); err != nil {
		log.Fatal(err)
	}
	_, err = client.Schedules.Put(ctx, first.Now)
	fmt.Println(errors.Is(err, hourbell.ErrConflict))
	// Output: true
}

// Thumbnail is a kind whose jobs are in a queue of their own, have three attempts, and wait once for each picture.
type Thumbnail struct {
	Picture string `json:"picture"`
}

func (Thumbnail) Kind() string { return "thumbnail" }

func (Thumbnail) Options() []hourbell.Option {
	return []hourbell.Option{hourbell.Queue("pictures"), hourbell.MaxAttempts(3), hourbell.UniqueArgs()}
}

// The options of a kind are defaults, which options of a call override.
func ExampleArgs_options() {
	ctx := context.Background()
	client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		job, err := client.Enqueue(ctx, Thumbnail{Picture: "cat.jpg"}, hourbell.MaxAttempts(1))
		if err != nil {
			log.Fatal(err)
		}
		info, err := client.Jobs.Get(ctx, job.ID)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(info.Queue, info.MaxAttempts, "existed:", job.Existed)
	}
	// Output:
	// pictures 1 existed: false
	// pictures 1 existed: true
}

// A function becomes a schedule in two calls, as a job of gocron or robfig/cron does. This one also runs when the program starts.
func ExampleFunc() {
	ctx := context.Background()
	done := make(chan struct{})
	workers := hourbell.NewWorkers()
	cleanup := hourbell.Func(workers, "cleanup", func(context.Context) error {
		fmt.Println("clean")
		close(done)
		return nil
	})
	client, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	schedule := hourbell.Schedule{Name: "cleanup", Rule: recur.Every(time.Hour), Job: cleanup}
	if _, err := client.Schedules.Put(ctx, schedule, hourbell.RunOnStart()); err != nil {
		log.Fatal(err)
	}
	go func() {
		<-done
		_ = client.Stop(ctx)
	}()
	if err := client.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: clean
}

// A server answers its caller's mistakes with 400, and everything else with 500.
func ExampleInvalidError() {
	client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Schedules.Put(context.Background(), hourbell.Schedule{Name: "morning", Rule: recur.Cron("0 25 * * *"), Job: Greet{}, Priority: 10})
	var invalid *hourbell.InvalidError
	if errors.As(err, &invalid) {
		for _, f := range invalid.Fields {
			fmt.Printf("400 %s: %s; %s\n", f.Field, f.Problem, f.Remedy)
		}
	}
	// Output:
	// 400 cron: hour "25" is out of range; write 0 to 23
	// 400 priority: is out of range; use 1 (first) to 9 (last)
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

// Middleware writes the tenant of a call into the headers of its jobs, and gives
// the tenant to workers with their context.
func ExampleEnqueueMiddleware() {
	type tenant struct{}
	workers := hourbell.NewWorkers()
	done := make(chan struct{})
	hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Greet]) error {
		fmt.Println("hello", job.Args.Name, "of", ctx.Value(tenant{}))
		close(done)
		return nil
	})
	client, err := hourbell.New(memory.New(), hourbell.Config{
		Workers: workers, Logger: slog.New(slog.DiscardHandler),
		EnqueueMiddleware: []hourbell.EnqueueMiddleware{func(ctx context.Context, drafts []*hourbell.Draft, next func(context.Context) error) error {
			name, ok := ctx.Value(tenant{}).(string)
			if !ok {
				return errors.New("no tenant")
			}
			for _, draft := range drafts {
				draft.Headers = map[string]string{"tenant": name}
			}
			return next(ctx)
		}},
		WorkMiddleware: []hourbell.WorkMiddleware{func(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
			return next(context.WithValue(ctx, tenant{}, job.Headers["tenant"]), job)
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	_, err = client.Enqueue(ctx, Greet{Name: "Ada"})
	fmt.Println(err)
	if _, err = client.Enqueue(context.WithValue(ctx, tenant{}, "Analytical Engines"), Greet{Name: "Ada"}); err != nil {
		log.Fatal(err)
	}
	go func() {
		<-done
		_ = client.Stop(ctx) // it returns nil without a deadline
	}()
	if err := client.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// enqueue: no tenant
	// hello Ada of Analytical Engines
}

// outcomes counts the outcomes of attempts.
type outcomes map[event.Kind]int

func (o outcomes) Observe(e event.Event) {
	switch e.Kind {
	case event.JobCompleted, event.JobRetried, event.JobFailed, event.JobCancelled:
		o[e.Kind]++ // calls are made one after the other
	}
}

// An observer counts the outcomes of jobs, for metrics.
func ExampleConfig_observers() {
	counts := outcomes{}
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[Greet]) error {
		if job.Args.Name == "" {
			return hourbell.Fail(errors.New("the name is missing"))
		}
		return nil
	})
	client, err := hourbell.New(memory.New(), hourbell.Config{
		Workers: workers, Logger: slog.New(slog.DiscardHandler), Observers: []event.Observer{counts},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for _, name := range []string{"Ada", "", "Grace"} {
		if _, err := client.Enqueue(ctx, Greet{Name: name}); err != nil {
			log.Fatal(err)
		}
	}
	go func() {
		for events := client.Events; events.Counts()[event.JobCompleted]+events.Counts()[event.JobFailed] < 3; {
			time.Sleep(time.Millisecond)
		}
		_ = client.Stop(ctx) // it returns nil without a deadline
	}()
	if err := client.Run(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("completed:", counts[event.JobCompleted], "failed:", counts[event.JobFailed])
	// Output: completed: 2 failed: 1
}
