package bench

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/store"
	"github.com/jackc/pgx/v5"
)

// Noop is a job that does nothing, with arguments of an ordinary size.
type Noop struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

func (Noop) Kind() string { return "noop" }

const drainJobs = 100_000

// BenchmarkDrain enqueues 100,000 jobs that do nothing, then one node with 100
// workers works them: with history kept, and with nothing kept. A round lasts from the start of the
// node until the last outcome is in the store. jobs/s is the median of the
// rounds; use -benchtime=5x for five rounds.
func BenchmarkDrain(b *testing.B) {
	b.Run("postgres", func(b *testing.B) {
		url := os.Getenv("HOURBELL_TEST_POSTGRES_URL")
		if url == "" {
			b.Skip("HOURBELL_TEST_POSTGRES_URL is not set; make bench starts a server")
		}
		open := func(round int) (store.Backend, func()) {
			schema := fmt.Sprintf("bench_%d_%d", os.Getpid(), round)
			backend, err := postgres.Open(b.Context(), url, postgres.Schema(schema))
			must(b, err)
			return backend, func() {
				backend.Close()
				dropSchema(b, url, schema)
			}
		}
		b.Run("kept", func(b *testing.B) { drain(b, open, 0) })
		b.Run("none", func(b *testing.B) { drain(b, open, hourbell.KeepNone) })
	})
	for _, synchronous := range []string{"FULL", "NORMAL"} {
		b.Run("sqlite/"+synchronous, func(b *testing.B) {
			open := func(int) (store.Backend, func()) {
				backend, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), sqlite.Synchronous(synchronous))
				must(b, err)
				return backend, func() { backend.Close() }
			}
			b.Run("kept", func(b *testing.B) { drain(b, open, 0) })
			b.Run("none", func(b *testing.B) { drain(b, open, hourbell.KeepNone) })
		})
	}
}

func dropSchema(b *testing.B, url, schema string) {
	b.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	must(b, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), "DROP SCHEMA "+pgx.Identifier{schema}.Sanitize()+" CASCADE")
	must(b, err)
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// drain runs the rounds in sequence, each on a store of its own.
func drain(b *testing.B, open func(round int) (store.Backend, func()), keep time.Duration) {
	var rates []float64
	for b.Loop() {
		backend, closeStore := open(len(rates))
		_, err := backend.(store.Migrator).MigrateUp(b.Context())
		must(b, err)
		rates = append(rates, drainOnce(b, backend, keep))
		closeStore()
	}
	slices.Sort(rates)
	b.ReportMetric(rates[len(rates)/2], "jobs/s")
	b.ReportMetric(rates[0], "jobs/s-min")
	b.ReportMetric(rates[len(rates)-1], "jobs/s-max")
	b.ReportMetric(0, "ns/op") // the duration of a round is not a useful figure
}

func drainOnce(b *testing.B, backend store.Backend, keep time.Duration) (perSecond float64) {
	var done atomic.Int64
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(context.Context, *hourbell.Job[Noop]) error {
		done.Add(1)
		return nil
	})
	client, err := hourbell.New(backend, hourbell.Config{
		Workers: workers, Queues: map[string]int{"default": 100}, Logger: slog.New(slog.DiscardHandler),
		Keep: hourbell.Keep{Completed: keep},
	})
	must(b, err)
	jobs := make([]hourbell.Request, drainJobs)
	for i := range jobs {
		jobs[i].Args = Noop{Number: i, Text: "the quick brown fox jumps"}
	}
	_, err = client.EnqueueMany(b.Context(), jobs)
	must(b, err)

	started := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	for done.Load() < drainJobs || alive(b, client) > 0 {
		time.Sleep(5 * time.Millisecond)
	}
	took := time.Since(started)
	must(b, client.Stop(context.Background()))
	must(b, <-ended)
	return drainJobs / took.Seconds()
}

// alive returns the number of jobs whose outcome is not in the store yet.
func alive(b *testing.B, client *hourbell.Client) int64 {
	queues, err := client.Queues.List(b.Context())
	must(b, err)
	var n int64
	for _, q := range queues {
		n += q.Ready + q.Running + q.Scheduled + q.Waiting
	}
	return n
}
