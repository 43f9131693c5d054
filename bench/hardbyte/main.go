// Command hardbyte measures Hourbell with the public harness
// github.com/hardbyte/postgresql-job-queue-benchmarking. It is an adapter to the contract of that harness
// (CONTRIBUTING_ADAPTERS.md): one process that inserts jobs, works them, and prints samples as lines of JSON,
// until SIGTERM. It uses the public API of Hourbell, with all default settings.
//
//   - main.go: the process, from its settings to its end
//   - settings.go: the environment variables of the contract
//   - producer.go: inserts jobs: at a rate, by the harness's tokens, or up to a depth
//   - samples.go: counts, latencies and the lines on standard output
//   - adapter.json: the manifest that the harness reads
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
)

// queue is Hourbell's default queue.
const queue = "default"

// depthEvery is the time between two counts of the queue.
const depthEvery = 200 * time.Millisecond

//go:embed adapter.json
var manifest []byte

// Job has the arguments of the jobs.
type Job struct {
	Seq     int64  `json:"seq"`
	Sent    int64  `json:"sent"` // when the producer began to insert the job, in Unix microseconds
	Padding string `json:"padding"`
}

// Kind implements hourbell.Args.
func (Job) Kind() string { return "bench" }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Stdin, os.Stdout); err != nil {
		log.Fatal("hardbyte: ", err) //nolint:gocritic // stop only unregisters the signals
	}
}

// run is the adapter until ctx ends.
func run(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	set, err := readSettings(os.Getenv)
	if err != nil {
		return err
	}
	backend, err := postgres.Open(ctx, set.databaseURL)
	if err != nil {
		return err
	}
	defer backend.Close()

	seen := newSamples(stdout, set.instance)
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Job]) error {
		seen.started(job.Args.Sent)
		if !sleep(ctx, set.work) {
			return ctx.Err()
		}
		seen.completed(job.Args.Sent)
		return nil
	})
	client, err := hourbell.New(backend, hourbell.Config{
		Workers: workers, Queues: map[string]int{queue: set.workers},
		Drain: 3 * time.Second, Grace: time.Second, // the contract allows five seconds from SIGTERM to the end
	})
	if err != nil {
		return err
	}
	if err := client.Migrate(ctx); err != nil {
		return err
	}
	if err := describe(ctx, backend, seen); err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // if the node ends although there was no signal
	var others sync.WaitGroup
	others.Go(func() { (&producer{client: client, set: set, samples: seen, tokens: stdin}).run(ctx) })
	others.Go(func() { seen.printEvery(ctx, set.sampleEvery, set.observes()) })
	if set.observes() || set.mode == depthTarget {
		others.Go(func() { watchDepth(ctx, client, seen) })
	}
	err = client.Run(ctx)
	cancel()
	others.Wait()
	return err
}

// describe prints the descriptor: the manifest, and what is known only when the process runs.
func describe(ctx context.Context, backend *postgres.Backend, seen *samples) error {
	steps, err := backend.MigrateStatus(ctx)
	if err != nil {
		return err
	}
	var descriptor map[string]any
	if err := json.Unmarshal(manifest, &descriptor); err != nil {
		return err
	}
	descriptor["kind"] = "descriptor"
	descriptor["version"] = "v" + hourbell.Version
	descriptor["schema_version"] = fmt.Sprint(steps[len(steps)-1].Version)
	descriptor["started_at"] = timestamp(time.Now())
	descriptor["instance_id"] = seen.instance
	return seen.print(descriptor)
}

// watchDepth counts the jobs that are ready, until ctx ends.
func watchDepth(ctx context.Context, client *hourbell.Client, seen *samples) {
	for sleep(ctx, depthEvery) {
		info, err := client.Queues.Get(ctx, queue)
		if err == nil {
			seen.counted(info.Ready)
		} else if ctx.Err() == nil && !errors.Is(err, hourbell.ErrNotFound) {
			log.Print("hardbyte: count the jobs of the queue: ", err)
		}
	}
}

// sleep waits for d, and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
