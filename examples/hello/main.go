// Command hello runs one job at once, and one job a second by a schedule, on a SQLite file.
//
//	go run ./hello
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/recur"
)

// Greet is the arguments of a job of kind "greet".
type Greet struct {
	Name string `json:"name"`
}

// Kind names the type of job.
func (Greet) Kind() string { return "greet" }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, "hello.db", os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run is a node on the file until ctx ends.
func run(ctx context.Context, file string, out io.Writer) error {
	backend, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer backend.Close()
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[Greet]) error {
		_, err := fmt.Fprintln(out, "hello", job.Args.Name)
		return err
	})
	client, err := hourbell.New(backend, hourbell.Config{Workers: workers})
	if err != nil {
		return err
	}
	if err := client.Migrate(ctx); err != nil {
		return err
	}
	if _, err := client.Enqueue(ctx, Greet{Name: "Ada"}); err != nil {
		return err
	}
	// A second start finds the same schedule, and changes nothing.
	if _, err := client.Schedules.Put(ctx, hourbell.Schedule{
		Name: "often", Rule: recur.Cron("* * * * * *"), Job: Greet{Name: "again"},
	}); err != nil {
		return err
	}
	return client.Run(ctx)
}
