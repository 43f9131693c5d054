// Command pipeline enqueues jobs that follow each other: two exports, a report that reads their results, and a last job that
// cleans up, whatever happened.
//
//	go run ./pipeline
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/store"
)

// Export reads the rows of a shop, and leaves their number as its result.
type Export struct {
	Shop string `json:"shop"`
}

// Kind names the type of job.
func (Export) Kind() string { return "export" }

// Report adds the numbers of the exports that it follows.
type Report struct{}

// Kind names the type of job.
func (Report) Kind() string { return "report" }

// Tell reports that an export has failed.
type Tell struct{}

// Kind names the type of job.
func (Tell) Kind() string { return "tell" }

// Clean ends the batch.
type Clean struct{}

// Kind names the type of job.
func (Clean) Kind() string { return "clean" }

func main() {
	rows := map[string]int{"north": 12, "south": 30}
	if len(os.Args) > 1 { // go run ./pipeline north: the export of this shop fails
		delete(rows, os.Args[1])
	}
	if err := run(context.Background(), "pipeline.db", rows, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run enqueues the pipeline and works until it has ended. A shop without rows fails.
func run(ctx context.Context, file string, rows map[string]int, out io.Writer) error {
	backend, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer backend.Close()
	client, err := hourbell.New(backend, hourbell.Config{Workers: workers(rows, out)})
	if err != nil {
		return err
	}
	if err := client.Migrate(ctx); err != nil {
		return err
	}

	failed := hourbell.GraphEdge{On: hourbell.OnFailure}
	graph, err := client.EnqueueGraph(ctx, hourbell.Graph{
		Jobs: map[string]hourbell.GraphJob{
			"north":  {Args: Export{Shop: "north"}},
			"south":  {Args: Export{Shop: "south"}},
			"report": {Args: Report{}, After: map[string]hourbell.GraphEdge{"north": {}, "south": {}}}, // after the success of both
			"tell":   {Args: Tell{}, After: map[string]hourbell.GraphEdge{"north": failed, "south": failed}, Options: []hourbell.Option{hourbell.AfterAny()}},
		},
		Finally: &hourbell.Finally{Args: Clean{}, On: hourbell.FinallyAlways},
	})
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- client.Run(ctx) }()
	for {
		last, err := client.Jobs.Get(ctx, graph.Finally)
		if err != nil {
			return err
		}
		if last.State == store.StateCompleted {
			stop()
			return <-ended
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// workers returns the workers of the four kinds.
func workers(rows map[string]int, out io.Writer) *hourbell.Workers {
	w := hourbell.NewWorkers()
	hourbell.Register(w, func(_ context.Context, job *hourbell.Job[Export]) error {
		n, found := rows[job.Args.Shop]
		if !found {
			return hourbell.Fail(errors.New("the shop " + job.Args.Shop + " has no rows"))
		}
		return job.SetResult(n)
	})
	hourbell.Register(w, func(ctx context.Context, job *hourbell.Job[Report]) error {
		exports, err := job.Predecessors(ctx)
		if err != nil {
			return err
		}
		total := 0
		for _, export := range exports {
			var n int
			if err := export.Decode(&n); err != nil {
				return err
			}
			total += n
		}
		_, err = fmt.Fprintf(out, "report: %d rows of %d shops\n", total, len(exports))
		return err
	})
	hourbell.Register(w, func(ctx context.Context, job *hourbell.Job[Tell]) error {
		exports, err := job.Predecessors(ctx)
		for _, export := range exports {
			if export.State == store.StateFailed {
				fmt.Fprintln(out, "failed:", export.Reason)
			}
		}
		return err
	})
	hourbell.Register(w, func(context.Context, *hourbell.Job[Clean]) error {
		_, err := fmt.Fprintln(out, "cleaned up")
		return err
	})
	return w
}
